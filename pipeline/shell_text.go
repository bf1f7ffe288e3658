package pipeline

import "strings"

// shellWord is a word of a shell's text, without its quotes.
type shellWord struct {
	text string
	open bool // a variable or a pattern in it may make it any words
}

// shellSteps gives the words of each command of a shell's text, in the grammar of POSIX. ok is
// false if the text does anything else than run one command after the other: it writes a file,
// substitutes or groups commands, defines a function, holds a comment or a here-document, or is
// cut. Whatever this reader does not know is refused: a text that a shell reads otherwise could
// change what it seems to read.
func shellSteps(text string) (steps [][]shellWord, ok bool) {
	r := shellReader{text: text}
	for r.at < len(text) {
		if !r.next() {
			return nil, false
		}
	}
	ok = r.endStep()
	return r.steps, ok
}

type shellReader struct {
	text     string
	at       int
	steps    [][]shellWord
	words    []shellWord
	word     strings.Builder
	start    int // of the word
	inWord   bool
	open     bool
	redirect string // the operator whose target the next word is
}

// next reads one character, or one quoted part.
func (r *shellReader) next() bool {
	c := r.text[r.at]
	r.at++
	switch c {
	case ' ', '\t':
		return r.endWord()
	case '\n', ';', '|', '&':
		return r.endStep()
	case '\\':
		if strings.HasPrefix(r.text[r.at:], "\n") { // the line goes on
			r.at++
			return true
		}
	case '>', '<':
		return r.redirection(c)
	case '(', ')', '`':
		return false
	case '#':
		if !r.inWord {
			return false
		}
	}
	if c < ' ' {
		return false
	}
	if !r.inWord {
		r.inWord, r.start = true, r.at-1
	}
	switch c {
	case '\'':
		quoted, _, closed := strings.Cut(r.text[r.at:], "'")
		r.word.WriteString(quoted)
		r.at += len(quoted) + 1
		return closed
	case '"':
		return r.doubleQuoted()
	case '\\':
		return r.escaped()
	case '$':
		if !r.variable("(['\"") {
			return false
		}
	case '{':
		r.open = true
	case '*', '?', '[':
		r.open = r.open || r.word.Len() == 0 || r.word.String()[0] == '-'
	}
	r.word.WriteByte(c)
	return true
}

// doubleQuoted reads up to the closing quote.
func (r *shellReader) doubleQuoted() bool {
	for r.at < len(r.text) {
		c := r.text[r.at]
		r.at++
		switch {
		case c == '"':
			return true
		case c == '`', c == '$' && !r.variable("(["):
			return false
		case c == '\\' && r.at < len(r.text) && strings.IndexByte("$`\"\\\n", r.text[r.at]) >= 0:
			if !r.escaped() {
				return false
			}
			continue
		}
		r.word.WriteByte(c)
	}
	return false
}

// escaped reads the character after a backslash.
func (r *shellReader) escaped() bool {
	if r.at == len(r.text) {
		return false
	}
	c := r.text[r.at]
	r.at++
	if c != '\n' {
		r.word.WriteByte(c)
	}
	return true
}

// variable reports whether a dollar sign begins no more than the name of a variable: none of the
// characters in unless follows it.
func (r *shellReader) variable(unless string) bool {
	r.open = true
	rest := r.text[r.at:]
	if name, ok := strings.CutPrefix(rest, "{"); ok {
		name, _, closed := strings.Cut(name, "}")
		return closed && strings.Trim(name, anyLetter+"_0123456789") == ""
	}
	return rest == "" || !strings.Contains(unless, rest[:1])
}

// redirection reads an operator that begins with c.
func (r *shellReader) redirection(c byte) bool {
	if r.inWord && strings.Trim(r.text[r.start:r.at-1], "0123456789") == "" {
		r.word.Reset() // the number of what is redirected
		r.inWord = false
	}
	if !r.endWord() || r.redirect != "" {
		return false
	}
	r.redirect = string(c)
	if r.at < len(r.text) {
		switch next := r.text[r.at]; {
		case c == '<' && strings.IndexByte("<>&", next) >= 0:
			return false
		case c == '>' && strings.IndexByte(">|&", next) >= 0:
			r.at++
			r.redirect += string(next)
		}
	}
	return true
}

// endWord ends a word; one that output goes to must be no file.
func (r *shellReader) endWord() bool {
	if !r.inWord {
		return true
	}
	w := shellWord{r.word.String(), r.open}
	redirect := r.redirect
	r.word.Reset()
	r.inWord, r.open, r.redirect = false, false, ""
	switch {
	case redirect == "":
		r.words = append(r.words, w)
	case redirect == "<", w.text == "/dev/null":
	case redirect == ">&":
		return w.text == "-" || w.text != "" && strings.Trim(w.text, "0123456789") == ""
	default:
		return false
	}
	return true
}

// endStep ends a command.
func (r *shellReader) endStep() bool {
	if !r.endWord() || r.redirect != "" {
		return false
	}
	if len(r.words) > 0 {
		r.steps, r.words = append(r.steps, r.words), nil
	}
	return true
}
