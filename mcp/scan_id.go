package mcp

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// maxSkimmed is how many bytes of a name or an id are looked at.
const maxSkimmed = 256

// idScan finds the request id in a message that is too long to be kept. Clients put the id
// first or last. Its memory is bounded for any message. A message with two ids counts as one
// without; text that is no JSON may have one, and is then answered too.
type idScan struct {
	depth   int
	quoted  bool // in a string
	escaped bool // after a backslash in it
	over    bool // the message is closed
	spoiled bool // and so has no id

	name, value []byte // of the member at depth 1 that is being read
	colon       bool   // its value is
	gap         bool   // there was space since its last byte

	found           []byte // id
	method, answers bool   // it asks; it holds an answer to us
}

// read goes on with the next part of the message.
func (s *idScan) read(part []byte) {
	for _, c := range part {
		switch {
		case s.quoted:
			s.keep(c)
			s.quoted = s.escaped || c != '"'
			s.escaped = !s.escaped && c == '\\'
		case c == ' ', c == '\t', c == '\r', c == '\n':
			s.gap = s.depth == 1
		case c == '{' && s.depth == 0 && !s.over:
			s.depth++
		case c == '{', c == '[':
			s.keep(c)
			s.depth++
		case c == '}', c == ']':
			if s.depth--; s.depth == 0 {
				s.member()
				s.over = true
			}
		case c == ':' && s.depth == 1:
			s.colon = true
		case c == ',' && s.depth == 1:
			s.member()
		default:
			s.keep(c)
			s.quoted = c == '"'
		}
		if s.depth < 0 {
			s.spoiled, s.depth = true, 0
		}
	}
}

// keep keeps a byte of a member's name or value.
func (s *idScan) keep(c byte) {
	part := &s.name
	if s.colon {
		part = &s.value
	}
	switch {
	case s.depth == 0:
		s.spoiled = true // not one object
	case s.depth != 1:
	case s.gap && len(*part) > 0 && !s.quoted:
		s.spoiled = true // two values
	case len(*part) <= maxSkimmed: // one more than fits shows that it does not
		*part = append(*part, c)
	}
	s.gap = false
}

// member ends a member of the message.
func (s *idScan) member() {
	var name string
	switch {
	case len(s.name) > maxSkimmed, len(s.name)+len(s.value) == 0: // none of ours
	case json.Unmarshal(s.name, &name) != nil, variant(name, envelopeKeys) != nil, name == "id" && s.found != nil:
		s.spoiled = true
	}
	switch name {
	case "id":
		s.found = bytes.Clone(s.value)
	case "method":
		s.method = true
	case "result", "error":
		s.answers = true
	}
	s.name, s.value, s.colon = s.name[:0], s.value[:0], false
}

// id is that of the request, nil if it is none or has none that fits.
func (s *idScan) id() json.RawMessage {
	if s.spoiled || !s.over || !s.method || s.answers || len(s.found) > maxSkimmed ||
		!requestID.Match(s.found) || !json.Valid(s.found) || !utf8.Valid(s.found) {
		return nil
	}
	return s.found
}
