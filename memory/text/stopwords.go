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

// irregular is the base of each irregular English form.
var irregular = map[string]string{
	"went": "go", "gone": "go", "goes": "go", "bought": "buy", "brought": "bring", "thought": "think",
	"taught": "teach", "caught": "catch", "made": "make", "took": "take", "taken": "take", "gave": "give",
	"given": "give", "saw": "see", "seen": "see", "knew": "know", "known": "know", "found": "find", "told": "tell",
	"kept": "keep", "left": "leave", "felt": "feel", "met": "meet", "ran": "run", "wrote": "write",
	"written": "write", "spoke": "speak", "spoken": "speak", "chose": "choose", "chosen": "choose",
	"broke": "break", "broken": "break", "built": "build", "sent": "send", "spent": "spend", "lost": "lose",
	"won": "win", "began": "begin", "begun": "begin", "came": "come", "became": "become", "grew": "grow",
	"grown": "grow", "flew": "fly", "flown": "fly", "drove": "drive", "driven": "drive", "held": "hold",
	"paid": "pay", "sold": "sell", "read": "read", "reads": "read", "children": "child", "people": "person",
	"men": "man", "women": "woman", "mice": "mouse", "feet": "foot", "teeth": "tooth", "better": "good",
	"best": "good", "worse": "bad", "worst": "bad", "indices": "index", "matrices": "matrix",
}

// regular is the base of an irregular word; any other stays as it is.
func regular(w string) string {
	if base, ok := irregular[w]; ok {
		return base
	}
	return w
}
