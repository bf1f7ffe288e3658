package e2e

import (
	"encoding/json"
	"strings"
)

// Aside plays steps in the conversations that begin with words holding mark, such as
// those of a sub-agent, beside the script. It ends with the next Script.
func (m *Model) Aside(mark string, steps ...Step) *Model {
	side := &Model{}
	side.Script(steps...)
	m.ear.Lock()
	defer m.ear.Unlock()
	m.mark, m.side = mark, side
	return side
}

// scriptOf is what a conversation is played from.
func (m *Model) scriptOf(req request) *script {
	m.ear.Lock()
	defer m.ear.Unlock()
	if m.side == nil {
		return &m.script
	}
	for _, message := range req.Messages {
		if message.Role == "user" {
			var words string
			if raw := message.Content; json.Unmarshal(raw, &words) != nil {
				words = text(raw)
			}
			if strings.Contains(words, m.mark) {
				return &m.side.script
			}
			break
		}
	}
	return &m.script
}
