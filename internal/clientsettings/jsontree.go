package clientsettings

import (
	"encoding/json"
	"fmt"
	"strings"
)

// jsonNode is a JSON value and where it stands in the text.
type jsonNode struct {
	kind       byte // '{', '[', '"', or 0 for numbers, true, false and null
	start, end int
	text       string // of a string
	members    []jsonMember
	elements   []jsonNode
}

// jsonMember is a name and a value of an object.
type jsonMember struct {
	name  string
	start int // of the name
	comma int // before it; -1 for the first
	value jsonNode
}

// member returns the member of that name, or -1. The text was checked to have
// no two of one name.
func (n jsonNode) member(name string) int {
	for i, m := range n.members {
		if m.name == name {
			return i
		}
	}
	return -1
}

// maxJSONDepth keeps a hostile file from exhausting the stack.
const maxJSONDepth = 1000

type jsonParser struct {
	src      []byte
	at       int
	comments bool
}

// parseJSON reads the one value of src (RFC 8259), with // and /* */ comments
// if the client allows them. Two members of one name are refused at the levels
// that are edited: clients differ in which they take.
func parseJSON(src []byte, comments bool) (root jsonNode, err error) {
	p := &jsonParser{src: src, comments: comments}
	if strings.HasPrefix(string(src[:min(3, len(src))]), "\ufeff") {
		p.at = 3
	}
	if err := p.space(); err != nil {
		return root, err
	}
	if root, err = p.value(0); err != nil {
		return root, err
	}
	if err := p.space(); err != nil {
		return root, err
	}
	if p.at < len(src) {
		return root, p.fail("the file goes on after its value")
	}
	return root, nil
}

func (p *jsonParser) fail(format string, args ...any) error {
	return malformed(p.src, p.at, fmt.Sprintf(format, args...))
}

func (p *jsonParser) peek() byte {
	if p.at < len(p.src) {
		return p.src[p.at]
	}
	return 0
}

// space skips white space and comments.
func (p *jsonParser) space() error {
	for p.at < len(p.src) {
		rest := string(p.src[p.at:min(p.at+2, len(p.src))])
		switch {
		case strings.IndexByte(" \t\r\n", p.src[p.at]) >= 0:
			p.at++
		case p.comments && rest == "//":
			if i := strings.IndexByte(string(p.src[p.at:]), '\n'); i >= 0 {
				p.at += i
			} else {
				p.at = len(p.src)
			}
		case p.comments && rest == "/*":
			i := strings.Index(string(p.src[p.at+2:]), "*/")
			if i < 0 {
				return p.fail("a comment does not end")
			}
			p.at += i + 4
		default:
			return nil
		}
	}
	return nil
}

func (p *jsonParser) value(depth int) (jsonNode, error) {
	n := jsonNode{start: p.at}
	if depth > maxJSONDepth {
		return n, p.fail("values are nested more than %d deep", maxJSONDepth)
	}
	var err error
	switch c := p.peek(); {
	case c == '{':
		n.kind = c
		n.members, err = p.object(depth)
	case c == '[':
		n.kind = c
		n.elements, err = p.array(depth)
	case c == '"':
		n.kind = c
		n.text, err = p.text()
	default:
		for p.at < len(p.src) && strings.IndexByte(" \t\r\n,]}/:\"", p.src[p.at]) < 0 {
			p.at++
		}
		if word := p.src[n.start:p.at]; !json.Valid(word) {
			p.at = n.start
			return n, p.fail("a value was expected")
		}
	}
	n.end = p.at
	return n, err
}

func (p *jsonParser) text() (string, error) {
	start := p.at
	for p.at++; p.peek() != '"'; p.at++ {
		if p.at >= len(p.src) || p.src[p.at] < ' ' {
			p.at = start
			return "", p.fail("a string does not end on its line")
		}
		if p.src[p.at] == '\\' {
			p.at++
		}
	}
	p.at++
	var s string
	if err := json.Unmarshal(p.src[start:p.at], &s); err != nil {
		p.at = start
		return "", p.fail("a string has a wrong escape")
	}
	return s, nil
}

// list reads items up to the closing byte; item gets the place of the comma
// before it.
func (p *jsonParser) list(closing byte, item func(comma int) error) error {
	p.at++
	for comma := -1; ; {
		if err := p.space(); err != nil {
			return err
		}
		if comma < 0 && p.peek() == closing {
			p.at++
			return nil
		}
		if err := item(comma); err != nil {
			return err
		}
		if err := p.space(); err != nil {
			return err
		}
		switch p.peek() {
		case ',':
			comma = p.at
			p.at++
		case closing:
			p.at++
			return nil
		default:
			return p.fail("a comma or %q was expected", closing)
		}
	}
}

func (p *jsonParser) object(depth int) (members []jsonMember, err error) {
	return members, p.list('}', func(comma int) error {
		m := jsonMember{start: p.at, comma: comma}
		if p.peek() != '"' {
			return p.fail("a name in double quotes was expected")
		}
		if m.name, err = p.text(); err != nil {
			return err
		}
		// The levels above, and those of, our entry.
		if depth < 3 && (jsonNode{members: members}).member(m.name) >= 0 {
			p.at = m.start
			return p.fail("the name %q is there twice", m.name)
		}
		if err := p.space(); err != nil {
			return err
		}
		if p.peek() != ':' {
			return p.fail("a colon was expected")
		}
		p.at++
		if err := p.space(); err != nil {
			return err
		}
		if m.value, err = p.value(depth + 1); err != nil {
			return err
		}
		members = append(members, m)
		return nil
	})
}

func (p *jsonParser) array(depth int) (elements []jsonNode, err error) {
	return elements, p.list(']', func(int) error {
		n, err := p.value(depth + 1)
		elements = append(elements, n)
		return err
	})
}
