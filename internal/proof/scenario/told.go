package scenario

import (
	"fmt"
	"slices"
	"strings"
)

// addLine adds a line to the transcript.
func (p *player) addLine(line string) *string {
	p.told = append(p.told, &line)
	return &line
}

// record writes the answer to a statement into the transcript. It leaves out what luck decides: which
// of two refusals comes, and what a call is answered that until repeats.
func (p *player) record(st Statement) {
	switch st.Verb {
	case "until":
		p.told = slices.DeleteFunc(p.told, func(line *string) bool { return line == p.answerLine })
	case "call", "end", "run":
		answer := fmt.Sprintf("%s %s\n%s", p.last.Code, compact(p.last.Value), p.last.Text)
		if strings.Contains(st.Code, "|") {
			answer = st.Code
		}
		line := p.addLine(fmt.Sprintf("line %d, %s: %s", st.Line, p.who, answer))
		if st.Verb == "call" {
			p.answerLine = line
		}
	}
}
