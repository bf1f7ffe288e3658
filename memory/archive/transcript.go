package archive

import (
	"bytes"
	"regexp"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cordelia/memory"
)

// turn is what one side of a conversation says until the other side speaks.
type turn struct {
	where, who, session string
	at                  time.Time // zero: the file does not say
	text                []string
}

// takeTurn makes an item of a turn. Who speaks and when stands in front of what they say, as
// in any note of a conversation.
func (b *Bundle) takeTurn(t *turn) {
	if t == nil {
		return
	}
	text := strings.TrimSpace(strings.Join(t.text, "\n"))
	if text == "" {
		return
	}
	head := t.who
	if !t.at.IsZero() {
		head += " (" + t.at.UTC().Format("2 January 2006") + ")"
	}
	for _, part := range splitText(text, maxSection) {
		data := map[string]any{"type": "insight", "content": head + ": " + part}
		if t.session != "" {
			data["source_session"] = t.session
		}
		b.takeForeign(t.where, memory.LearningItem, data)
	}
}

// transcriptLine is what is read of a line of a client's transcript: of Claude Code, or of Codex,
// whose lines wrap what they hold as payload.
type transcriptLine struct {
	Type      string         `json:"type"` // user, assistant, and kinds that hold no turn
	Session   string         `json:"sessionId"`
	Leaf      string         `json:"leafUuid"`  // of a summary
	Of        string         `json:"messageId"` // of a snapshot
	At        string         `json:"timestamp"`
	Meta      bool           `json:"isMeta"`      // the client's own words
	Sidechain bool           `json:"isSidechain"` // between agents
	Message   jsontext.Value `json:"message"`
	Payload   jsontext.Value `json:"payload"`
}

// codexPayload is what is read of one of Codex's payloads.
type codexPayload struct {
	ID      string         `json:"id"`   // of the session, in the first line
	Type    string         `json:"type"` // of what was said: message
	Role    string         `json:"role"`
	Content jsontext.Value `json:"content"`
}

// takeTranscriptLine reads a line of a client's transcript. done is false for any other line.
// It leaves out calls of tools and their output, and the client's own lines.
func (b *Bundle) takeTranscriptLine(s *source, line int, text []byte) (done bool) {
	var l transcriptLine
	err := json.Unmarshal(text, &l)
	codex := err == nil && l.Type != "" && len(l.Payload) > 0
	if !s.transcript && !codex && (err != nil || l.Type == "" || l.Session+l.Leaf+l.Of == "") {
		return false
	}
	s.transcript = true
	if codex {
		b.takeCodexLine(s, line, &l)
		return true
	}
	if err != nil {
		b.refused.add(s.at(line), "is no line of a transcript: cut off or changed")
		return true
	}
	if l.Type != "user" && l.Type != "assistant" || l.Meta || l.Sidechain {
		return true
	}
	var message struct {
		Content jsontext.Value `json:"content"`
	}
	if json.Unmarshal(l.Message, &message) != nil {
		b.refused.add(s.at(line), "is a turn without a message")
		return true
	}
	b.takeSaid(s, line, &l, saidIn(message.Content))
	return true
}

// takeSaid adds what a side says to its turn, or to a new one.
func (b *Bundle) takeSaid(s *source, line int, l *transcriptLine, spoken string) {
	if spoken == "" {
		return
	}
	if s.turn == nil || s.turn.who != l.Type || s.turn.session != l.Session {
		b.takeTurn(s.turn)
		at, _ := time.Parse(time.RFC3339, l.At) // a turn without a time is one
		s.turn = &turn{where: s.at(line), who: l.Type, session: l.Session, at: at}
	}
	s.turn.text = append(s.turn.text, spoken)
}

// takeCodexLine reads a line of Codex's: the first names the session, messages of both sides are
// turns. Its events say the same again, and the rest is no turn.
func (b *Bundle) takeCodexLine(s *source, line int, l *transcriptLine) {
	var p codexPayload
	if json.Unmarshal(l.Payload, &p) != nil {
		return
	}
	switch {
	case l.Type == "session_meta":
		s.session = p.ID
	case l.Type == "response_item" && p.Type == "message" && (p.Role == "user" || p.Role == "assistant"):
		l.Type, l.Session = p.Role, s.session
		b.takeSaid(s, line, l, saidIn(p.Content))
	}
}

// saidIn is the text of a message: a string, or a list of parts of which some are text.
func saidIn(content jsontext.Value) string {
	var whole string
	if json.Unmarshal(content, &whole) == nil {
		return withoutClient(whole)
	}
	var parts []struct{ Type, Text string }
	if json.Unmarshal(content, &parts, json.MatchCaseInsensitiveNames(true)) != nil {
		return ""
	}
	var texts []string
	for _, p := range parts {
		if p.Type == "text" || p.Type == "input_text" || p.Type == "output_text" {
			texts = append(texts, withoutClient(p.Text))
		}
	}
	return strings.TrimSpace(strings.Join(texts, "\n"))
}

// put is what the client puts into a person's turn: what it reminds the model of, the rules of
// the project, and what its own commands were and printed.
var put = regexp.MustCompile(`(?s)(?:# AGENTS\.md instructions for [^\n]*\n+)?` +
	`<(?:` + putTags + `)>.*?</(?:` + putTags + `)>`)

const putTags = `system-reminder|(?:local-)?command-[a-z]+|bash-[a-z]+|environment_context|user_instructions|` +
	`INSTRUCTIONS`

func withoutClient(text string) string { return strings.TrimSpace(put.ReplaceAllString(text, "")) }

// spoken is the beginning of a turn in a plain transcript.
var spoken = regexp.MustCompile(`^(?:#+ |\*\*)?(User|Human|Assistant|AI)(?:\*\*)?:(?:\*\*)?(?: |$)`)

// plainTranscript reports whether a text begins with a turn, and another side speaks in it.
func plainTranscript(first []byte) bool {
	speakers := map[string]bool{}
	for line := range bytes.Lines(bytes.TrimSpace(first)) {
		m := spoken.FindSubmatch(bytes.TrimRight(line, "\r\n"))
		if m == nil && len(speakers) == 0 {
			return false
		}
		if m != nil {
			speakers[string(m[1])] = true
		}
	}
	return len(speakers) > 1
}

// readTranscript makes an item of each turn of a plain transcript: "User: …", "Assistant: …".
func (b *Bundle) readTranscript(s *source, lines *lineReader) error {
	for lines.next() {
		line := strings.TrimRight(string(lines.text), "\r")
		if m := spoken.FindStringSubmatch(line); m != nil {
			b.takeTurn(s.turn)
			s.turn = &turn{where: s.at(lines.number), who: strings.ToLower(m[1]), session: s.name}
			line = line[len(m[0]):]
		}
		if s.turn != nil {
			s.turn.text = append(s.turn.text, line)
		}
	}
	if lines.err != nil {
		return lines.err
	}
	b.takeTurn(s.turn)
	return nil
}
