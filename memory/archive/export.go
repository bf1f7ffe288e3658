package archive

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"cordelia/access"
	"cordelia/events"
	"cordelia/memory"
	"cordelia/schemas"
)

// Format is how an export is written.
type Format string

const (
	JSONL    Format = "jsonl"    // one record a line
	Markdown Format = "markdown" // for people, each record in a fenced block below its text
)

// Lines of an export.
const (
	recordHeader = "export"
	recordHot    = "l1"
	recordGroup  = "group"
	recordItem   = "item"

	exportVersion = 2 // 1 had no signatures
)

// record is one line of an export. Sig signs it together with what the header says of who
// signs; the header itself is not signed, and a change of it breaks every signature.
type record struct {
	Kind    string              `json:"kind"`
	V       int                 `json:"v,omitempty"`
	Entity  schemas.EntityID    `json:"entity,omitempty"`
	Node    schemas.EntityID    `json:"node,omitempty"`
	Signer  schemas.EntityID    `json:"signer,omitempty"`
	KeySeq  uint32              `json:"key_seq,omitempty"`
	At      string              `json:"at,omitempty"`
	Context json.RawMessage     `json:"context,omitempty"`
	Group   *memory.GroupRecord `json:"group,omitempty"`
	Item    *memory.Record      `json:"item,omitempty"`
	Sig     string              `json:"sig,omitempty"` // base64
}

// ExportRequest says what to export.
type ExportRequest struct {
	Of     schemas.EntityID // whose memory: the actor or, for a person, one below them
	Group  schemas.GroupID  // all that the actor may read in this group instead, of any owner
	Format Format
	Hot    func(access.Grant) (json.RawMessage, error) // the L1 context; nil leaves it out
	Signer Signer                                      // its Sign is nil: records are not signed
}

// Exported counts what an export wrote and what it left out.
type Exported struct {
	Items  int              `json:"items"`
	Groups int              `json:"groups"`
	Left   []memory.LeftOut `json:"left_out"`
}

// Export writes everything that r.Of owns: its L1 context, the groups it owns and its items
// with versions and provenance; or with r.Group the group and what the actor may read in
// it. Each record is signed. What was deleted is left out. CodeConflict for an agent that
// works from its brief alone now.
func Export(g access.Grant, w io.Writer, r ExportRequest) (Exported, error) {
	none := Exported{Left: []memory.LeftOut{}}
	kept, err := memory.OpenKept(g, r.Of, r.Group)
	if err != nil {
		return none, err
	}
	if r.Format != JSONL && r.Format != Markdown {
		return none, schemas.Invalidf("there is no format %q", r.Format).Expecting("jsonl or markdown").
			Try("run: cordelia export --help")
	}
	buffered := bufio.NewWriter(w)
	out := exporter{w: buffered, of: r.Of, markdown: r.Format == Markdown, done: none}
	head := record{Kind: recordHeader, V: exportVersion, Entity: r.Of, At: events.Timestamp(g.Tx().Micros())}
	if r.Signer.Sign != nil {
		head.Node, head.Signer, head.KeySeq = r.Signer.Node, r.Signer.ID, r.Signer.KeySeq
	}
	title := "# Memory of " + string(r.Of)
	if r.Group != "" {
		title = "# Memory of group " + string(r.Group)
	}
	out.put(title, "", head)
	out.signer = r.Signer
	if err := out.hot(g, r); err != nil {
		return none, err
	}
	if err := out.kept(kept); err != nil {
		return none, err
	}
	if out.err != nil {
		return none, fmt.Errorf("write export: %w", out.err)
	}
	if err := buffered.Flush(); err != nil {
		return none, fmt.Errorf("write export: %w", err)
	}
	return out.done, nil
}

// hot writes the L1 context of an entity. The export of a group has none.
func (e *exporter) hot(g access.Grant, r ExportRequest) error {
	if r.Hot == nil || r.Group != "" {
		return nil
	}
	context, err := r.Hot(g)
	if err != nil {
		return fmt.Errorf("export L1: %w", err)
	}
	if context != nil {
		e.put("## Hot context", "", record{Kind: recordHot, Context: context})
	}
	return nil
}

// kept writes groups and items, and counts what is left out.
func (e *exporter) kept(k *memory.Kept) error {
	groups, err := k.Groups()
	if err != nil {
		return err
	}
	for i := range groups {
		e.put("## Group "+string(groups[i].ID), groups[i].Description, record{Kind: recordGroup, Group: &groups[i]})
		e.done.Groups++
	}
	for {
		page, err := k.Next()
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		for i := range page {
			e.put("## "+page[i].Name, page[i].Text, record{Kind: recordItem, Item: &page[i].Record})
			e.done.Items++
		}
	}
	left, err := k.Left()
	e.done.Left = append(e.done.Left, left...)
	return err
}

// exporter writes records, keeping the first error.
type exporter struct {
	w        *bufio.Writer
	of       schemas.EntityID
	signer   Signer
	markdown bool
	done     Exported
	err      error
}

// fence begins a record in Markdown. Text around the records is quoted, so
// nothing an agent wrote can begin one.
const fence = "```cordelia"

func (e *exporter) put(title, text string, r record) {
	if e.err != nil {
		return
	}
	line, err := json.Marshal(r)
	if err == nil && e.signer.Sign != nil {
		if r.Sig, err = e.signer.sign(e.of, line); err == nil {
			line, err = json.Marshal(r)
		}
	}
	if err != nil {
		e.err = err
		return
	}
	if !e.markdown {
		_, e.err = e.w.Write(append(line, '\n'))
		return
	}
	var b strings.Builder
	b.WriteString(memory.Title(title) + "\n\n")
	if text = strings.TrimSpace(text); text != "" {
		lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
		b.WriteString("> " + strings.Join(lines, "\n> ") + "\n\n")
	}
	b.WriteString(fence + "\n" + string(line) + "\n```\n\n")
	_, e.err = e.w.WriteString(b.String())
}
