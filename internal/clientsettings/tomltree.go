package clientsettings

import (
	"encoding/json"
	"fmt"
	"strings"
)

// tomlDoc is what the text of a TOML file says where, as far as an edit needs.
type tomlDoc struct {
	tables   []tomlTable
	values   []tomlValue
	comments []cut // from and to of each comment
}

// tomlTable is a [header] and the lines that belong to it.
type tomlTable struct {
	path       []string
	list       bool // [[header]]
	start, end int  // from the header's line to the end of its last value's line
}

// tomlValue is a key and its value, which may be inside an inline table.
type tomlValue struct {
	path  []string // with the table's
	table int      // index of its table, -1 above the first header
	node  tomlNode
}

type tomlNode struct {
	kind       byte // '"' string, '[' list, '{' table, 0 anything else
	start, end int
	text       string // of a string
	elements   []tomlNode
}

type tomlParser struct {
	src   []byte
	at    int
	doc   tomlDoc
	depth int
}

const maxTOMLDepth = 100

// parseTOML reads the structure of a TOML 1.0 file. It accepts every such file,
// and some that are not, for it does not look into numbers and dates, nor for
// keys defined twice.
func parseTOML(src []byte) (tomlDoc, error) {
	p := &tomlParser{src: src}
	if strings.HasPrefix(string(src[:min(3, len(src))]), "\ufeff") {
		p.at = 3
	}
	for {
		p.blanks(true)
		if p.at >= len(src) {
			return p.doc, nil
		}
		if err := p.line(); err != nil {
			return p.doc, err
		}
	}
}

func (p *tomlParser) fail(format string, args ...any) error {
	return malformed(p.src, p.at, fmt.Sprintf(format, args...))
}

func (p *tomlParser) starts(s string) bool {
	return p.at < len(p.src) && strings.HasPrefix(string(p.src[p.at:min(p.at+len(s), len(p.src))]), s)
}

// blanks skips white space and, over lines, comments.
func (p *tomlParser) blanks(lines bool) {
	for p.at < len(p.src) {
		switch c := p.src[p.at]; {
		case c == ' ' || c == '\t', lines && (c == '\n' || c == '\r'):
			p.at++
		case lines && c == '#':
			p.comment()
		default:
			return
		}
	}
}

func (p *tomlParser) comment() {
	start := p.at
	for p.at < len(p.src) && p.src[p.at] != '\n' {
		p.at++
	}
	p.doc.comments = append(p.doc.comments, cut{from: start, to: p.at})
}

// line reads a header or a key with its value, to the end of its line.
func (p *tomlParser) line() error {
	lead := leadOf(p.src, p.at)
	start := p.at - len(lead) + strings.LastIndexByte(lead, '\n') + 1
	var err error
	if p.starts("[") {
		err = p.header(start)
	} else {
		var base []string
		if n := len(p.doc.tables); n > 0 {
			base = p.doc.tables[n-1].path
		}
		err = p.pair(base)
	}
	if err != nil {
		return err
	}
	p.blanks(false)
	if p.starts("#") {
		p.comment()
	}
	if p.starts("\r\n") {
		p.at++
	}
	if p.at < len(p.src) && p.src[p.at] != '\n' {
		return p.fail("the end of the line was expected")
	}
	if p.at < len(p.src) {
		p.at++
	}
	if n := len(p.doc.tables); n > 0 {
		p.doc.tables[n-1].end = p.at
	}
	return nil
}

func (p *tomlParser) header(start int) error {
	t := tomlTable{start: start, list: p.starts("[[")}
	closing := "]"
	if t.list {
		closing = "]]"
	}
	p.at += len(closing)
	var err error
	if t.path, err = p.key(); err != nil {
		return err
	}
	if !p.starts(closing) {
		return p.fail("%q was expected", closing)
	}
	p.at += len(closing)
	p.doc.tables = append(p.doc.tables, t)
	return nil
}

// key reads a dotted key.
func (p *tomlParser) key() (path []string, err error) {
	for {
		p.blanks(false)
		start := p.at
		var name string
		switch {
		case p.starts(`"`), p.starts("'"):
			n, err := p.text()
			if err != nil {
				return nil, err
			}
			name = n.text
		default:
			for p.at < len(p.src) && isBare(p.src[p.at]) {
				p.at++
			}
			name = string(p.src[start:p.at])
		}
		if p.at == start {
			return nil, p.fail("a key was expected")
		}
		path = append(path, name)
		p.blanks(false)
		if !p.starts(".") {
			return path, nil
		}
		p.at++
	}
}

func isBare(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// pair reads key = value below the path base.
func (p *tomlParser) pair(base []string) error {
	path, err := p.key()
	if err != nil {
		return err
	}
	if !p.starts("=") {
		return p.fail("= was expected")
	}
	p.at++
	p.blanks(false)
	at := len(p.doc.values)
	path = append(append([]string(nil), base...), path...)
	p.doc.values = append(p.doc.values, tomlValue{path: path, table: len(p.doc.tables) - 1})
	n, err := p.value(path)
	p.doc.values[at].node = n
	return err
}

func (p *tomlParser) value(path []string) (tomlNode, error) {
	if p.depth++; p.depth > maxTOMLDepth {
		return tomlNode{}, p.fail("values are nested more than %d deep", maxTOMLDepth)
	}
	defer func() { p.depth-- }()
	n := tomlNode{start: p.at}
	var err error
	switch {
	case p.starts(`"`), p.starts("'"):
		return p.text()
	case p.starts("["):
		n.kind = '['
		err = p.list("]", func() error {
			e, err := p.value(nil) // a table in a list has no path
			n.elements = append(n.elements, e)
			return err
		})
	case p.starts("{"):
		n.kind = '{'
		before := len(p.doc.values)
		err = p.list("}", func() error { return p.pair(path) })
		if path == nil {
			p.doc.values = p.doc.values[:before]
		}
	default:
		for p.at < len(p.src) && strings.IndexByte(",]}#\r\n", p.src[p.at]) < 0 {
			p.at++
		}
		word := strings.TrimRight(string(p.src[n.start:p.at]), " \t")
		p.at = n.start + len(word)
		if word == "" || strings.ContainsAny(word, "\"'[{=") {
			p.at = n.start
			err = p.fail("a value was expected")
		}
	}
	n.end = p.at
	return n, err
}

// list reads items with commas between, over lines.
func (p *tomlParser) list(closing string, item func() error) error {
	p.at++
	for {
		p.blanks(true)
		if p.starts(closing) {
			p.at++
			return nil
		}
		if err := item(); err != nil {
			return err
		}
		p.blanks(true)
		if p.starts(",") {
			p.at++
		} else if !p.starts(closing) {
			return p.fail("a comma or %q was expected", closing)
		}
	}
}

// text reads a string of any of the four kinds.
func (p *tomlParser) text() (tomlNode, error) {
	n := tomlNode{kind: '"', start: p.at}
	quote := string(p.src[p.at])
	if long := strings.Repeat(quote, 3); p.starts(long) {
		quote = long
	}
	for p.at += len(quote); !p.starts(quote); p.at++ {
		if p.at >= len(p.src) || len(quote) == 1 && p.src[p.at] == '\n' {
			p.at = n.start
			return n, p.fail("a string does not end")
		}
		if p.src[p.at] == '\\' && quote[0] == '"' {
			p.at++
		}
	}
	p.at += len(quote)
	for extra := 0; len(quote) == 3 && extra < 2 && p.starts(quote[:1]); extra++ {
		p.at++ // up to two quotes may stand before the closing three
	}
	n.end = p.at
	n.text = string(p.src[n.start+len(quote) : n.end-len(quote)])
	if quote == `"` {
		// JSON knows all escapes but \e, \x and \U: with those it is nothing of ours.
		var s string
		if json.Unmarshal(p.src[n.start:n.end], &s) == nil {
			n.text = s
		}
	}
	return n, nil
}
