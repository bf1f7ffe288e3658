package text

import (
	"slices"
	"strings"
	"time"
	"unicode"
)

const (
	maxNameWords = 3
	maxNameBytes = 48
	MaxHeadBytes = 96 // name and date
)

// SplitSpeaker splits "name: text" and "name (date): text".
func SplitSpeaker(text string) (name string, told int64, rest string) {
	head := text[:min(len(text), MaxHeadBytes)]
	end := strings.Index(head, ": ")
	if end < 0 {
		return "", 0, text
	}
	name, told = nameAndDate(head[:end])
	if !personal(name) {
		return "", 0, text
	}
	return name, told, text[end+1:]
}

// SpeakerIn looks for who and when in the first lines of a context, and parts
// these from what else it says.
func SpeakerIn(context string) (name string, told int64, signed, rest string) {
	const first = 4
	var heads, others []string
	for i, line := range strings.FieldsFunc(context, func(r rune) bool { return r == '\n' || r == ';' || r == '|' }) {
		if i < first && len(line) <= MaxHeadBytes {
			key, value, keyed := strings.Cut(line, ":")
			switch field := strings.ToLower(strings.TrimSpace(key)); {
			case keyed && name == "" && namesSpeaker(field):
				who, at := nameAndDate(value)
				if len(who) <= maxNameBytes && len(strings.Fields(who)) <= maxNameWords {
					name = who
				}
				if told == 0 {
					told = at
				}
				heads = append(heads, value)
				continue
			case keyed && told == 0 && (field == "date" || field == "when" || field == "said_at"):
				told = dateIn(value)
				heads = append(heads, value)
				continue
			case !keyed && name == "":
				if who, at := nameAndDate(line); at != 0 && personal(who) {
					name, told = who, at
					heads = append(heads, line)
					continue
				}
			}
		}
		others = append(others, line)
	}
	return name, told, strings.Join(heads, " "), strings.Join(others, "\n")
}

func namesSpeaker(field string) bool {
	switch field {
	case "said_by", "said by", "speaker", "by", "from", "author", "who":
		return true
	}
	return false
}

// nameAndDate reads a name and perhaps a date from what stands in front of a text.
func nameAndDate(head string) (name string, told int64) {
	head = strings.TrimSpace(head)
	if i := strings.IndexAny(head, "(["); i >= 0 {
		inside := strings.IndexAny(head[i:], ")]")
		if inside < 0 {
			return "", 0
		}
		told = dateIn(head[i : i+inside])
		if i == 0 {
			head = head[inside+1:]
		} else {
			head = head[:i]
		}
	} else if before, after, ok := strings.Cut(head, ","); ok {
		if told = dateIn(after); told == 0 {
			return "", 0
		}
		head = before
	}
	return strings.Trim(head, " -–—@*_"), told
}

// personal reports whether s could be a person's name, or a role in a talk. In scripts without
// capitals and blanks a name looks like any other word.
func personal(s string) bool {
	words := strings.Fields(s)
	if len(words) == 0 || len(words) > maxNameWords || len(s) > maxNameBytes || heading(strings.ToLower(s)) {
		return false
	}
	for _, w := range words {
		first := []rune(w)[0]
		if !unicode.IsLetter(first) || unspaced(first) || unicode.IsLower(first) && !role(w) {
			return false
		}
		if strings.ContainsFunc(w, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(".-'’_", r)
		}) {
			return false
		}
	}
	return true
}

func role(w string) bool {
	return slices.Contains([]string{"user", "assistant", "agent", "human", "system", "customer", "bot"}, w)
}

// heading reports whether s announces a kind of text instead of a speaker.
func heading(s string) bool {
	switch s {
	case "note", "notes", "todo", "fixme", "decision", "decisions", "warning", "caution", "error", "fix", "bug",
		"summary", "question", "answer",
		"result", "results", "update", "fact", "example", "step", "important", "tip", "hint", "conclusion", "context",
		"background", "problem",
		"cause", "root cause", "solution", "impact", "action", "actions", "next", "next steps", "status", "goal",
		"title", "subject", "re", "fwd",
		"rule", "lesson", "lesson learned", "insight", "pattern", "principle", "finding", "reason", "why", "how",
		"what", "when", "where", "who",
		"usage", "input", "output", "returns", "deprecated", "security", "changed", "added", "removed", "fixed":
		return true
	}
	return false
}

// dateIn is the day a text names in full, UTC microseconds; 0 = none.
func dateIn(s string) int64 {
	if len(s) > MaxHeadBytes {
		return 0
	}
	d := DatesIn(s)
	if len(d.years) == 0 || len(d.months) == 0 || len(d.days) == 0 {
		return 0
	}
	return time.Date(d.years[0], d.months[0], d.days[0], 0, 0, 0, 0, time.UTC).UnixMicro()
}
