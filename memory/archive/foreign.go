package archive

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"cordelia/memory"
	"cordelia/schemas"
)

// Limits of one item made from Markdown.
const (
	maxSection = 4000 // bytes; a longer section becomes several items, split between paragraphs
	maxNames   = 100  // observations and relations of one entity
)

// takeForeign adds an item of a file that is no export. It has no place yet: the import gives
// it one.
func (b *Bundle) takeForeign(where string, t memory.ItemType, data map[string]any) {
	raw, err := json.Marshal(data, json.Deterministic(true))
	if err != nil {
		b.refused.add(where, "holds text that is not UTF-8")
		return
	}
	item, wrong := memory.Foreign(t, schemas.JSONWithoutNUL(raw), where)
	if len(wrong) > 0 {
		b.refused.add(where, strings.TrimSpace(strings.TrimPrefix(wrong[0].Path, "/")+" "+wrong[0].Msg))
		return
	}
	b.items = append(b.items, recordAt[memory.Incoming]{where: where, value: item})
}

// readMarkdown makes one insight of each section that has text. The words above a section's
// heading become its context, so that it can be read alone.
func (b *Bundle) readMarkdown(s *source, lines *lineReader) error {
	var headings []string // of the levels above the present section
	var body []string
	began := 1
	code, matter := false, false
	had := len(b.items) + len(b.refused)
	flush := func() {
		b.takeSection(s.at(began), headings, strings.TrimSpace(strings.Join(body, "\n")))
		body, began = nil, lines.number
	}
	for lines.next() {
		line := strings.TrimRight(string(lines.text), "\r")
		switch {
		case lines.number == 1 && line == "---": // settings of the page, not its text
			matter = true
			continue
		case matter:
			matter = line != "---"
			continue
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			code = !code
		}
		level := len(line) - len(strings.TrimLeft(line, "#"))
		if code || level == 0 || level > 6 || !strings.HasPrefix(line[level:], " ") {
			body = append(body, line)
			continue
		}
		flush()
		headings = append(headings[:min(level-1, len(headings))], strings.TrimSpace(line[level:]))
	}
	if lines.err != nil {
		return lines.err
	}
	before := len(b.items) + len(b.refused)
	if flush(); len(b.items)+len(b.refused) == before && before == had {
		b.refused.add(s.at(1), "there is no text in it to import")
	}
	return nil
}

// takeSection adds the text below a heading.
func (b *Bundle) takeSection(where string, headings []string, text string) {
	if text == "" {
		return
	}
	title := strings.Join(headings, " › ")
	for _, part := range splitText(text, maxSection) {
		data := map[string]any{"type": "insight", "content": part}
		if len(headings) > 0 {
			data["content"] = headings[len(headings)-1] + "\n" + part
		}
		if len(headings) > 1 {
			data["context"] = title
		}
		b.takeForeign(where, memory.LearningItem, data)
	}
}

// splitText cuts a text into parts of at most limit bytes, between paragraphs if it can.
func splitText(text string, limit int) (parts []string) {
	for len(text) > limit {
		at := limit
		for _, between := range []string{"\n\n", "\n", " "} {
			if i := strings.LastIndex(text[:limit], between); i > 0 {
				at = i
				break
			}
		}
		for at < len(text) && at > 0 && text[at]&0xC0 == 0x80 { // not inside a character
			at--
		}
		parts, text = append(parts, strings.TrimSpace(text[:at])), strings.TrimSpace(text[at:])
	}
	return append(parts, text)
}

// serverMemory is what the JSONL of the reference memory server holds: one graph in one file.
type serverMemory struct {
	lines     map[string]int
	entities  []serverLine
	relations []serverLine
}

// serverLine is one line of it.
type serverLine struct {
	Type         string   `json:"type"` // entity or relation
	Name         string   `json:"name"`
	EntityType   string   `json:"entityType"`
	Observations []string `json:"observations"`
	From         string   `json:"from"`
	To           string   `json:"to"`
	RelationType string   `json:"relationType"`
}

// takeServerLine reads a line of the memory server's JSONL. done is false for any other line;
// ok reports whether the rest of the file is worth reading.
func (b *Bundle) takeServerLine(s *source, line int, text []byte) (ok, done bool) {
	var l serverLine
	err := json.Unmarshal(text, &l)
	known := err == nil && (l.Type == "entity" && l.Name != "" || l.Type == "relation" && l.From != "" && l.To != "")
	if !known && s.memory == nil {
		return false, false
	}
	if s.memory == nil {
		s.memory = &serverMemory{lines: map[string]int{}}
	}
	switch {
	case !known:
		b.refused.add(s.at(line), "is neither an entity nor a relation of the memory server")
	case l.Type == "relation":
		s.memory.relations = append(s.memory.relations, l)
		if s.memory.lines[l.From] == 0 {
			s.memory.lines[l.From] = line
		}
	default:
		s.memory.entities = append(s.memory.entities, l)
		s.memory.lines[l.Name] = line
	}
	return true, true
}

// takeServerMemory makes an entity of each of the server's, with its observations and the
// relations that begin at it. A relation from a name that is no entity makes one.
func (b *Bundle) takeServerMemory(s *source) {
	m := s.memory
	known := map[string]bool{}
	for _, e := range m.entities {
		known[e.Name] = true
	}
	of := map[string][]serverLine{} // relations by the name they begin at
	for _, r := range m.relations {
		of[r.From] = append(of[r.From], r)
		if !known[r.From] {
			known[r.From] = true
			m.entities = append(m.entities, serverLine{Name: r.From})
		}
	}
	for _, e := range m.entities {
		kind := strings.ToLower(e.EntityType)
		switch kind {
		case "person", "project", "concept":
		case "org", "organization", "organisation", "company":
			kind = "org"
		default:
			kind = "concept"
		}
		details := map[string]any{}
		if e.EntityType != "" && !strings.EqualFold(e.EntityType, kind) {
			details["entity_type"] = e.EntityType
		}
		relations := of[e.Name]
		if len(e.Observations) > maxNames || len(relations) > maxNames {
			b.refused.add(s.at(m.lines[e.Name]), fmt.Sprintf("has more than %d observations or relations", maxNames))
			continue
		}
		data := map[string]any{"type": kind, "name": e.Name}
		var summary []string
		for _, o := range e.Observations {
			summary = append(summary, strings.TrimSpace(o))
		}
		var ways []any
		for _, r := range relations {
			summary = append(summary, fmt.Sprintf("%s %s %s", r.From, r.RelationType, r.To))
			ways = append(ways, map[string]any{"type": r.RelationType, "to": r.To})
		}
		if len(ways) > 0 {
			details["relations"] = ways
		}
		if text := strings.Join(summary, "\n"); text != "" {
			data["summary"] = text
		}
		if len(details) > 0 {
			data["details"] = details
		}
		b.takeForeign(s.at(m.lines[e.Name]), memory.EntityItem, data)
	}
}
