package memory

import (
	"bufio"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
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
	Kind    string           `json:"kind"`
	V       int              `json:"v,omitempty"`
	Entity  schemas.EntityID `json:"entity,omitempty"`
	Node    schemas.EntityID `json:"node,omitempty"`
	Signer  schemas.EntityID `json:"signer,omitempty"`
	KeySeq  uint32           `json:"key_seq,omitempty"`
	At      string           `json:"at,omitempty"`
	Context json.RawMessage  `json:"context,omitempty"`
	Group   *groupRecord     `json:"group,omitempty"`
	Item    *itemRecord      `json:"item,omitempty"`
	Sig     string           `json:"sig,omitempty"` // base64
}

type groupRecord struct {
	ID          schemas.GroupID `json:"id"`
	Kind        GroupKind       `json:"kind"`
	Description string          `json:"description,omitempty"`
	Culture     Culture         `json:"culture"`
}

type itemRecord struct {
	ID           schemas.ItemID     `json:"id"`
	Type         ItemType           `json:"type"`
	Data         json.RawMessage    `json:"data"`
	ContentHash  string             `json:"content_hash"`
	Visibility   schemas.Visibility `json:"visibility"`
	Group        schemas.GroupID    `json:"group,omitempty"`
	Origin       schemas.ItemID     `json:"origin,omitempty"`
	Parent       schemas.ItemID     `json:"parent,omitempty"`
	Stale        string             `json:"stale,omitempty"`
	Subject      string             `json:"subject,omitempty"`
	Key          string             `json:"key,omitempty"`
	Supersedes   schemas.ItemID     `json:"supersedes,omitempty"`
	SupersededBy schemas.ItemID     `json:"superseded_by,omitempty"`
	ValidFrom    string             `json:"valid_from,omitempty"`
	ValidTo      string             `json:"valid_to,omitempty"`
	Confidence   float64            `json:"confidence"`
	Validated    bool               `json:"validated,omitempty"`
	Quarantined  bool               `json:"quarantined,omitempty"`
	Released     bool               `json:"released,omitempty"` // it instructs, and is in effect
	ExpiresAt    string             `json:"expires_at,omitempty"`
	Version      int                `json:"version"`
	CreatedAt    string             `json:"created_at"`
	UpdatedAt    string             `json:"updated_at"`
	Provenance   Provenance         `json:"provenance"`
	Links        []Link             `json:"links,omitempty"`
	Versions     []Version          `json:"versions,omitempty"`
}

// ExportRequest says what to export.
type ExportRequest struct {
	Of     schemas.EntityID // whose memory: the actor or, for a person, one below them
	Group  schemas.GroupID  // all that the actor may read in this group instead, whoever owns it
	Format Format
	Hot    func(access.Grant) (json.RawMessage, error) // the L1 context; nil leaves it out
	Signer Signer                                      // nobody signs if its Sign is nil
}

// Exported counts what an export wrote and what it left out.
type Exported struct {
	Items  int       `json:"items"`
	Groups int       `json:"groups"`
	Left   []LeftOut `json:"left_out"`
}

// LeftOut counts items that an export does not hold for one reason.
type LeftOut struct {
	Why   string          `json:"why"` // deleted, staged or others
	Group schemas.GroupID `json:"group,omitempty"`
	Count int             `json:"count"`
}

// Export writes everything that r.Of owns: its L1 context, the groups it owns and its items
// with versions and provenance; or with r.Group the group and what the actor may read in
// it. Each record is signed. What was deleted is left out. CodeConflict for an agent that
// works from its brief alone now.
func Export(g access.Grant, w io.Writer, r ExportRequest) (Exported, error) {
	none := Exported{Left: []LeftOut{}}
	if g.Tx() == nil {
		return none, access.ErrNoGrant
	}
	if r.Of != g.Actor() {
		if !g.IsHuman() || r.Group != "" {
			return none, schemas.Deniedf("an agent exports what it owns itself").
				Try("leave that to the user: cordelia export --agents")
		}
		if err := g.Need(need(access.KindRead, schemas.Private, r.Of, "")); err != nil {
			return none, err
		}
	}
	if alone, err := g.BlindRole(); err != nil {
		return none, err
	} else if alone { // an export is whole
		return none, schemas.Conflictf(
			"an export would hold lessons of tasks, and this agent works from a brief alone").
			Try("end its lease of R1, R3 or R4a with %s, then export; or leave it to the user: "+
				"cordelia export --agents", schemas.Tool("task_report"))
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
	body := out.owned
	if r.Group != "" {
		body = out.group
	}
	if err := body(g, r); err != nil {
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

// owned writes what one entity owns.
func (e *exporter) owned(g access.Grant, r ExportRequest) error {
	if r.Hot != nil {
		context, err := r.Hot(g)
		if err != nil {
			return fmt.Errorf("export L1: %w", err)
		}
		if context != nil {
			e.put("## Hot context", "", record{Kind: recordHot, Context: context})
		}
	}
	groups, err := groupRecords(g, selectOwnedGroups, string(r.Of))
	if err != nil {
		return err
	}
	e.putGroups(groups)
	var last int64
	for {
		page, err := rowsOf(g.Tx(), selectOwned, r.Of, last)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		last = page[len(page)-1].n
		if err := e.putItems(g, page); err != nil {
			return err
		}
	}
	rows, err := g.Tx().Query(countLeft, r.Of)
	left, err := store.Collect(rows, err, func(r *sql.Rows) (l LeftOut, err error) {
		return l, r.Scan(&l.Why, &l.Group, &l.Count)
	})
	if err != nil {
		return fmt.Errorf("count what is left out: %w", err)
	}
	for _, l := range left {
		if l.Count > 0 {
			e.done.Left = append(e.done.Left, l)
		}
	}
	return nil
}

// group writes a group and what the actor may read in it, whoever owns that.
func (e *exporter) group(g access.Grant, r ExportRequest) error {
	see, err := reachOf(g)
	if err != nil {
		return err
	}
	role, err := roleIn(g, r.Group)
	if err != nil {
		return err
	}
	if role == "" {
		return absentGroup(r.Group)
	}
	groups, err := groupRecords(g, selectGroupHead, string(r.Group))
	if err != nil {
		return err
	}
	e.putGroups(groups)
	scope := see.places[[2]string{string(schemas.Group), string(r.Group)}]
	var last int64
	for scope != 0 {
		page, err := rowsOf(g.Tx(), selectInGroup, scope, last)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		last = page[len(page)-1].n
		ids := make([]schemas.ItemID, len(page))
		for i := range page {
			ids[i] = page[i].id
		}
		visible, err := fetch(g.Tx(), see, ids)
		if err != nil {
			return err
		}
		page = slices.DeleteFunc(page, func(o row) bool { _, ok := visible[o.id]; return !ok })
		if err := e.putItems(g, page); err != nil {
			return err
		}
	}
	buried := LeftOut{Why: "deleted", Group: r.Group}
	if err := g.Tx().QueryRow(countBuried, scope, store.List(see.below)).Scan(&buried.Count); err != nil {
		return fmt.Errorf("count what is left out: %w", err)
	}
	if buried.Count > 0 {
		e.done.Left = append(e.done.Left, buried)
	}
	return nil
}

func groupRecords(g access.Grant, query, of string) ([]groupRecord, error) {
	rows, err := g.Tx().Query(query, of)
	groups, err := store.Collect(rows, err, func(r *sql.Rows) (o groupRecord, err error) {
		var culture string
		if err := r.Scan(&o.ID, &o.Kind, &o.Description, &culture); err != nil {
			return o, err
		}
		o.Culture = DefaultCulture()
		return o, json.Unmarshal([]byte(culture), &o.Culture)
	})
	if err != nil {
		return nil, fmt.Errorf("export groups: %w", err)
	}
	return groups, nil
}

func (e *exporter) putGroups(groups []groupRecord) {
	for i := range groups {
		e.put("## Group "+string(groups[i].ID), groups[i].Description, record{Kind: recordGroup, Group: &groups[i]})
		e.done.Groups++
	}
}

// putItems writes a page of items.
func (e *exporter) putItems(g access.Grant, page []row) error {
	for i := range page {
		r := &page[i]
		item, err := r.record(g.Tx())
		if err != nil {
			return err
		}
		var c content
		if err := json.Unmarshal(item.Data, &c.value); err != nil {
			return fmt.Errorf("data of %s: %w", r.id, err)
		}
		e.put("## "+r.name, c.body(), record{Kind: recordItem, Item: &item})
		e.done.Items++
	}
	return nil
}

func (r *row) record(tx *store.Tx) (itemRecord, error) {
	it, err := r.item(tx.Micros())
	if err != nil {
		return itemRecord{}, err
	}
	rec := itemRecord{
		ID: r.id, Type: r.typ, Data: it.Data, ContentHash: hex.EncodeToString(r.hash),
		Visibility: r.visibility, Group: r.group, Origin: r.origin, Parent: r.parent, Stale: r.stale,
		Subject: r.subject, Key: r.key, Supersedes: r.supersedes, SupersededBy: r.supersededBy,
		ValidFrom: it.ValidFrom, ValidTo: it.ValidTo, ExpiresAt: stamp(r.expires),
		Confidence: it.Confidence, Validated: r.validated, Quarantined: r.quarantined,
		Version: r.version, CreatedAt: it.CreatedAt, UpdatedAt: it.UpdatedAt, Provenance: it.Provenance,
	}
	if _, instructs := r.instruction(); instructs {
		rec.Released = !r.quarantined
	}
	if rec.Versions, err = versions(tx, r.n); err != nil {
		return rec, err
	}
	rows, err := tx.Query(selectAllLinks, r.n)
	rec.Links, err = store.Collect(rows, err, func(rows *sql.Rows) (l Link, err error) {
		return l, rows.Scan(&l.Kind, &l.Other)
	})
	if err != nil {
		return rec, fmt.Errorf("export links: %w", err)
	}
	return rec, nil
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
	b.WriteString(oneLine(title, maxTitle) + "\n\n")
	if text = strings.TrimSpace(text); text != "" {
		lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
		b.WriteString("> " + strings.Join(lines, "\n> ") + "\n\n")
	}
	b.WriteString(fence + "\n" + string(line) + "\n```\n\n")
	_, e.err = e.w.WriteString(b.String())
}
