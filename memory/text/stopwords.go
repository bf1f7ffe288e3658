package text

// stopWord reports whether w says nothing about what a text is about. Words
// that deny are not among them: they turn a statement round.
func stopWord(w string) bool {
	switch w {
	case "a", "an", "the", "this", "that", "these", "those", "there", "here",
		"i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "you", "your", "yours",
		"he", "him", "his", "she", "her", "hers", "it", "its", "they", "them", "their", "theirs",
		"am", "is", "are", "was", "were", "be", "been", "being", "do", "does", "did", "doing", "done",
		"have", "has", "had", "having", "will", "would", "shall", "should", "can", "could", "may", "might", "must",
		"and", "or", "but", "if", "then", "else", "so", "as", "of", "at", "by", "for", "with", "about",
		"to", "from", "in", "into", "on", "onto", "out", "off", "over", "under", "up", "down", "than", "too", "very",
		"what", "which", "who", "whom", "whose", "when", "where", "why", "how",
		"just", "also", "any", "some", "such", "own", "same", "again", "once", "both", "each", "more", "most", "other",
		"s", "t", "d", "ll", "m", "re", "ve", "let", "get", "got":
		return true
	}
	return false
}

// Weak reports whether the stem w is in many questions and few answers.
func Weak(w string) bool {
	switch w {
	case "kind", "type", "name", "like", "time", "thing", "wai", "way", "sort", "tell", "said", "say", "know",
		"make", "use", "go", "new", "good", "differ", "mention", "much", "mani", "happen", "someth", "anyth":
		return true
	}
	return false
}

// Negates reports whether the stem w turns a statement round.
func Negates(w string) bool {
	switch w {
	case "no", "not", "never", "none", "nor", "without", "cannot", "don", "doesn", "didn", "isn", "aren",
		"wasn", "weren", "won", "wouldn", "shouldn", "couldn", "hasn", "haven", "stop", "instead":
		return true
	}
	return false
}

// regular gives the base of an irregular English form, w itself otherwise.
func regular(w string) string {
	switch w {
	case "went", "gone", "goes":
		return "go"
	case "bought":
		return "buy"
	case "brought":
		return "bring"
	case "thought":
		return "think"
	case "taught":
		return "teach"
	case "caught":
		return "catch"
	case "made":
		return "make"
	case "took", "taken":
		return "take"
	case "gave", "given":
		return "give"
	case "saw", "seen":
		return "see"
	case "knew", "known":
		return "know"
	case "found":
		return "find"
	case "told":
		return "tell"
	case "kept":
		return "keep"
	case "left":
		return "leave"
	case "felt":
		return "feel"
	case "met":
		return "meet"
	case "ran":
		return "run"
	case "wrote", "written":
		return "write"
	case "spoke", "spoken":
		return "speak"
	case "chose", "chosen":
		return "choose"
	case "broke", "broken":
		return "break"
	case "built":
		return "build"
	case "sent":
		return "send"
	case "spent":
		return "spend"
	case "lost":
		return "lose"
	case "won":
		return "win"
	case "began", "begun":
		return "begin"
	case "came":
		return "come"
	case "became":
		return "become"
	case "grew", "grown":
		return "grow"
	case "flew", "flown":
		return "fly"
	case "drove", "driven":
		return "drive"
	case "held":
		return "hold"
	case "paid":
		return "pay"
	case "sold":
		return "sell"
	case "read", "reads":
		return "read"
	case "children":
		return "child"
	case "people":
		return "person"
	case "men":
		return "man"
	case "women":
		return "woman"
	case "mice":
		return "mouse"
	case "feet":
		return "foot"
	case "teeth":
		return "tooth"
	case "better", "best":
		return "good"
	case "worse", "worst":
		return "bad"
	case "indices":
		return "index"
	case "matrices":
		return "matrix"
	}
	return w
}
