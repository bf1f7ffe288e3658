package clientsettings

import (
	"slices"
	"strings"
)

// tomlFormat is a settings file with a table mcp_servers.
type tomlFormat struct{}

const (
	serversTable = "mcp_servers"
	// mark tells people where the table comes from. It decides nothing: Codex drops
	// comments when it writes the file.
	mark = "# Written by cordelia setup; cordelia uninstall removes it."
)

// block is the text Connect adds.
func block(e Entry, nl string) string {
	return strings.Join([]string{
		mark,
		"[" + serversTable + "." + Name + "]",
		"command = " + render(e.Command, "", "", ""), // a JSON string is a TOML string
		"args = " + render(e.Args, "", "", ""),
		"",
	}, nl)
}

// tomlPlace is where our entry is.
type tomlPlace struct {
	doc           tomlDoc
	present       bool
	entry         Entry
	command, args *tomlNode
	own           []tomlTable // tables of ours, in order; none if it is in another form
}

// below reports whether path is prefix or goes on below it.
func below(path []string, prefix ...string) bool {
	return len(path) >= len(prefix) && slices.Equal(path[:len(prefix)], prefix)
}

func locateTOML(src []byte) (tomlPlace, error) {
	doc, err := parseTOML(src)
	p := tomlPlace{doc: doc}
	if err != nil {
		return p, err
	}
	inTables := true // every value of ours stands in a table of ours
	for _, t := range doc.tables {
		if below(t.path, serversTable, Name) {
			p.present = true
			inTables = inTables && !t.list
			p.own = append(p.own, t)
		} else if t.list && slices.Equal(t.path, []string{serversTable}) {
			return p, malformed(src, t.start, serversTable+" should be a table, not a list")
		}
	}
	for i, v := range doc.values {
		if !below(v.path, serversTable, Name) {
			continue
		}
		p.present = true
		inTables = inTables && v.table >= 0 && below(doc.tables[v.table].path, serversTable, Name)
		switch strings.Join(v.path[2:], ".") {
		case "command":
			p.command, p.entry.Command = &doc.values[i].node, v.node.text
		case "args":
			p.args = &doc.values[i].node
			for _, e := range v.node.elements {
				p.entry.Args = append(p.entry.Args, e.text)
			}
		}
	}
	if !inTables {
		p.own = nil
	}
	return p, nil
}

func (tomlFormat) find(src []byte) (Found, error) {
	p, err := locateTOML(src)
	if err != nil || !p.present {
		return Found{}, err
	}
	return Found{Entry: p.entry, Present: true, Ours: p.entry.serves()}, nil
}

func (tomlFormat) connect(src []byte, e Entry, force bool) ([]byte, error) {
	p, err := locateTOML(src)
	if err != nil {
		return nil, err
	}
	switch {
	case p.present && p.entry.fulfils(e):
		return src, nil
	case p.entry.serves():
		// What else the user put into the table stays.
		e = p.entry.moved(e)
		return edit(src, cut{p.command.start, p.command.end, render(e.Command, "", "", "")},
			cut{p.args.start, p.args.end, render(e.Args, "", "", "")}), nil
	case p.present && !force:
		return nil, foreign(p.entry.Command)
	case p.present && len(p.own) == 0:
		return nil, foreign("not in a table of its own, so it can only be changed by hand")
	case p.present:
		src = p.without(src)
	}
	for _, v := range p.doc.values {
		if slices.Equal(v.path, []string{serversTable}) {
			return nil, malformed(src, v.node.start, serversTable+
				" is an inline value; write its servers as tables, [mcp_servers.NAME]")
		}
	}
	nl := lineEnd(src)
	out := string(src)
	if !blank(src) {
		if !strings.HasSuffix(out, "\n") {
			out += nl
		}
		out += nl
	}
	return []byte(out + block(e, nl)), nil
}

func (tomlFormat) disconnect(src []byte, _ bool) ([]byte, error) {
	p, err := locateTOML(src)
	if err != nil || !p.entry.serves() {
		return src, err
	}
	if len(p.own) == 0 {
		return nil, foreign("not in a table of its own, so it can only be removed by hand")
	}
	return p.without(src), nil
}

// without takes our tables out of src, with the mark and the empty line that
// Connect put above the first.
func (p tomlPlace) without(src []byte) []byte {
	var cuts []cut
	for _, t := range p.own {
		cuts = append(cuts, cut{from: t.start, to: t.end})
	}
	for _, c := range p.doc.comments {
		if strings.TrimRight(string(src[c.from:c.to]), "\r") == mark && c.to+1 == cuts[0].from {
			cuts[0].from = c.from
		}
	}
	above := strings.TrimSuffix(strings.TrimSuffix(string(src[:cuts[0].from]), "\n"), "\r")
	if strings.HasSuffix(above, "\n") {
		cuts[0].from = len(above)
	}
	return edit(src, cuts...)
}
