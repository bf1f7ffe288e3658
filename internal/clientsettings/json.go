package clientsettings

import (
	"bytes"
	"encoding/json"
	"strings"
)

// jsonFormat is a settings file with an object "mcpServers".
type jsonFormat struct {
	stdio    bool // entries carry their transport and environment, as the client writes them itself
	comments bool // the client allows // and /* */
}

const serversKey = "mcpServers"

// jsonPlace is where our entry is, or would go.
type jsonPlace struct {
	root    jsonNode
	servers int // index in root, -1 if missing
	entry   int // index in servers, -1 if missing
}

func (p jsonPlace) serversNode() jsonNode { return p.root.members[p.servers].value }
func (p jsonPlace) entryNode() jsonNode   { return p.serversNode().members[p.entry].value }

func blank(src []byte) bool {
	return len(bytes.TrimSpace(bytes.TrimPrefix(src, []byte("\ufeff")))) == 0
}

func (f jsonFormat) locate(src []byte) (p jsonPlace, err error) {
	p.servers, p.entry = -1, -1
	if p.root, err = parseJSON(src, f.comments); err != nil {
		return p, err
	}
	if p.root.kind != '{' {
		return p, malformed(src, p.root.start, "an object was expected")
	}
	if p.servers = p.root.member(serversKey); p.servers < 0 {
		return p, nil
	}
	if servers := p.serversNode(); servers.kind != '{' {
		return p, malformed(src, servers.start, serversKey+" should be an object")
	}
	p.entry = p.serversNode().member(Name)
	return p, nil
}

func (f jsonFormat) hasServers(src []byte) bool {
	p, err := f.locate(src)
	return err == nil && p.servers >= 0
}

// readEntry reads the command and its arguments, as far as they are strings.
func readEntry(n jsonNode) Entry {
	var e Entry
	if i := n.member("command"); i >= 0 {
		e.Command = n.members[i].value.text
	}
	if i := n.member("args"); i >= 0 {
		for _, v := range n.members[i].value.elements {
			e.Args = append(e.Args, v.text)
		}
	}
	return e
}

func (f jsonFormat) find(src []byte) (Found, error) {
	if blank(src) {
		return Found{}, nil
	}
	p, err := f.locate(src)
	if err != nil || p.entry < 0 {
		return Found{}, err
	}
	e := readEntry(p.entryNode())
	return Found{Entry: e, Present: true, Ours: e.serves()}, nil
}

// value is the entry as the client itself would write it.
func (f jsonFormat) value(e Entry) any {
	if !f.stdio {
		return e
	}
	return struct {
		Type string `json:"type"`
		Entry
		Env struct{} `json:"env"`
	}{Type: "stdio", Entry: e}
}

func (f jsonFormat) connect(src []byte, e Entry, force bool) ([]byte, error) {
	if blank(src) {
		return []byte(render(map[string]any{serversKey: map[string]any{Name: f.value(e)}}, "", "  ", "\n") + "\n"), nil
	}
	p, err := f.locate(src)
	if err != nil {
		return nil, err
	}
	s := styleOf(src, p.root)
	switch {
	case p.servers < 0:
		return s.insert(src, p.root, 0, serversKey, map[string]any{Name: f.value(e)}), nil
	case p.entry < 0:
		return s.insert(src, p.serversNode(), 1, Name, f.value(e)), nil
	}
	node := p.entryNode()
	have := readEntry(node)
	command, args := node.member("command"), node.member("args")
	switch {
	case have.fulfils(e):
		return src, nil
	case have.serves():
		// What else the user put into the entry stays.
		e = have.moved(e)
		c, a := node.members[command].value, node.members[args].value
		return edit(src, cut{c.start, c.end, render(e.Command, "", "", "")},
			cut{a.start, a.end, render(e.Args, "", "", "")}), nil
	case force:
		return edit(src, cut{node.start, node.end, s.render(f.value(e), 2)}), nil
	}
	return nil, foreign(have.Command)
}

func (f jsonFormat) disconnect(src []byte, keepEmpty bool) ([]byte, error) {
	if blank(src) {
		return src, nil
	}
	p, err := f.locate(src)
	if err != nil || p.entry < 0 || !readEntry(p.entryNode()).serves() {
		return src, err
	}
	if !keepEmpty && len(p.serversNode().members) == 1 {
		return remove(src, p.root, p.servers), nil
	}
	return remove(src, p.serversNode(), p.entry), nil
}

// jsonStyle is how a file is laid out.
type jsonStyle struct {
	lines    bool // one member a line
	unit, nl string
}

func styleOf(src []byte, root jsonNode) jsonStyle {
	s := jsonStyle{lines: true, unit: "  ", nl: lineEnd(src)}
	if len(root.members) == 0 {
		return s
	}
	lead := leadOf(src, root.members[0].start)
	i := strings.LastIndexByte(lead, '\n')
	if s.lines = i >= 0; s.lines && lead[i+1:] != "" {
		s.unit = lead[i+1:]
	}
	return s
}

// leadOf is the white space before offset.
func leadOf(src []byte, offset int) string {
	from := offset
	for from > 0 && strings.IndexByte(" \t\r\n", src[from-1]) >= 0 {
		from--
	}
	return string(src[from:offset])
}

// render writes v for the given depth.
func (s jsonStyle) render(v any, depth int) string {
	if !s.lines {
		return render(v, "", "", "")
	}
	return render(v, strings.Repeat(s.unit, depth), s.unit, s.nl)
}

func render(v any, prefix, unit, nl string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(prefix, unit)
	if err := e.Encode(v); err != nil {
		panic(err) // strings only: a defect
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", nl)
}

// insert adds a member at the end of object n, whose members are depth+1 deep,
// the way the member before it is laid out.
func (s jsonStyle) insert(src []byte, n jsonNode, depth int, name string, v any) []byte {
	if len(n.members) == 0 {
		text := "{" + render(name, "", "", "") + ":" + s.render(v, 0) + "}"
		if s.lines {
			in := s.nl + strings.Repeat(s.unit, depth+1)
			text = in + render(name, "", "", "") + ": " + s.render(v, depth+1) + s.nl + strings.Repeat(s.unit, depth)
			if rest := string(src[n.start+1 : n.end-1]); strings.TrimSpace(rest) != "" { // comments
				return edit(src, cut{n.start + 1, n.start + 1,
					strings.TrimSuffix(text, s.nl+strings.Repeat(s.unit, depth))})
			}
			text = "{" + text + "}"
		}
		return edit(src, cut{n.start, n.end, text})
	}
	last := n.members[len(n.members)-1]
	lead, colon := leadOf(src, last.start), ":"
	if i := strings.LastIndexByte(lead, '\n'); i >= 0 {
		lead, colon = s.nl+lead[i+1:], ": "
	} else {
		s.lines = false
	}
	text := "," + lead + render(name, "", "", "") + colon + s.render(v, depth+1)
	return edit(src, cut{last.value.end, last.value.end, text})
}

// remove takes member i out of object n, with the comma that joined it.
func remove(src []byte, n jsonNode, i int) []byte {
	m := n.members[i]
	body := cut{from: m.start - len(leadOf(src, m.start)), to: m.value.end}
	switch {
	case i > 0:
		return edit(src, cut{m.comma, m.comma + 1, ""}, body)
	case len(n.members) > 1:
		next := n.members[1].comma
		return edit(src, body, cut{next, next + 1, ""})
	}
	if rest := src[m.value.end : n.end-1]; len(bytes.TrimSpace(rest)) == 0 {
		body.to = n.end - 1
	}
	return edit(src, body)
}
