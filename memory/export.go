package memory

import (
	"bufio"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
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

	exportVersion = 1
)

// record is one line of an export.
type record struct {
	Kind    string           `json:"kind"`
	V       int              `json:"v,omitempty"`
	Entity  schemas.EntityID `json:"entity,omitempty"`
	At      string           `json:"at,omitempty"`
	Context json.RawMessage  `json:"context,omitempty"`
	Group   *groupRecord     `json:"group,omitempty"`
	Item    *itemRecord      `json:"item,omitempty"`
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
	ExpiresAt    string             `json:"expires_at,omitempty"`
	Version      int                `json:"version"`
	CreatedAt    string             `json:"created_at"`
	UpdatedAt    string             `json:"updated_at"`
	Provenance   Provenance         `json:"provenance"`
	Links        []Link             `json:"links,omitempty"`
	Versions     []Version          `json:"versions,omitempty"`
}

// Export writes everything that of owns, the actor or, for a person, one below
// them: its L1 context as hot gives it (nil leaves it out), the groups it owns and its
// items with versions and provenance. What it deleted is left out. CodeConflict for who
// works from a brief alone now.
func Export(g access.Grant, of schemas.EntityID, w io.Writer, f Format, hot func(access.Grant) (json.RawMessage, error)) error {
	if g.Tx() == nil {
		return access.ErrNoGrant
	}
	if of != g.Actor() {
		if !g.IsHuman() {
			return schemas.Deniedf("an agent exports what it owns itself").Try("leave that to the user: cordelia export --agents")
		}
		if err := g.Need(need(access.KindRead, schemas.Private, of, "")); err != nil {
			return err
		}
	}
	if alone, err := g.Unaided(); err != nil {
		return err
	} else if alone { // an export is whole
		return schemas.Conflictf("an export would hold lessons of tasks, and this agent works from a brief alone").
			Try("end its lease of R1, R3 or R4a with task_report, then export; or leave it to the user: cordelia export --agents")
	}
	if f != JSONL && f != Markdown {
		return schemas.Invalidf("there is no format %q", f).Expecting("jsonl or markdown").Try("run: cordelia export --help")
	}
	buffered := bufio.NewWriter(w)
	out := exporter{w: buffered, markdown: f == Markdown}
	out.put("# Memory of "+string(of), "", record{Kind: recordHeader, V: exportVersion, Entity: of, At: events.Timestamp(g.Tx().Micros())})
	if hot != nil {
		context, err := hot(g)
		if err != nil {
			return fmt.Errorf("export L1: %w", err)
		}
		if context != nil {
			out.put("## Hot context", "", record{Kind: recordHot, Context: context})
		}
	}
	groups, err := ownedGroups(g, of)
	if err != nil {
		return err
	}
	for i := range groups {
		out.put("## Group "+string(groups[i].ID), groups[i].Description, record{Kind: recordGroup, Group: &groups[i]})
	}
	if err := exportItems(g, of, &out); err != nil {
		return err
	}
	if out.err != nil {
		return fmt.Errorf("write export: %w", out.err)
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("write export: %w", err)
	}
	return nil
}

func ownedGroups(g access.Grant, of schemas.EntityID) ([]groupRecord, error) {
	rows, err := g.Tx().Query(selectOwnedGroups, of)
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

// exportItems writes the items page by page, oldest first.
func exportItems(g access.Grant, of schemas.EntityID, out *exporter) error {
	var last int64
	for {
		page, err := rowsOf(g.Tx(), selectOwned, of, last)
		if err != nil || len(page) == 0 {
			return err
		}
		for i := range page {
			r := &page[i]
			last = r.n
			item, err := r.record(g.Tx())
			if err != nil {
				return err
			}
			var c content
			if err := json.Unmarshal(item.Data, &c.value); err != nil {
				return fmt.Errorf("data of %s: %w", r.id, err)
			}
			out.put("## "+r.name, c.body(), record{Kind: recordItem, Item: &item})
		}
	}
}

func (r *row) record(tx *store.Tx) (itemRecord, error) {
	it, err := r.item(tx.Micros())
	if err != nil {
		return itemRecord{}, err
	}
	rec := itemRecord{ID: r.id, Type: r.typ, Data: it.Data, ContentHash: hex.EncodeToString(r.hash), Visibility: r.visibility, Group: r.group,
		Origin: r.origin, Parent: r.parent, Stale: r.stale, Subject: r.subject, Key: r.key, Supersedes: r.supersedes, SupersededBy: r.supersededBy,
		ValidFrom: it.ValidFrom, ValidTo: it.ValidTo, Confidence: it.Confidence, Validated: r.validated, Quarantined: r.quarantined,
		ExpiresAt: stamp(r.expires), Version: r.version, CreatedAt: it.CreatedAt, UpdatedAt: it.UpdatedAt, Provenance: it.Provenance}
	if rec.Versions, err = versions(tx, r.n); err != nil {
		return rec, err
	}
	rows, err := tx.Query(selectAllLinks, r.n)
	rec.Links, err = store.Collect(rows, err, func(rows *sql.Rows) (l Link, err error) { return l, rows.Scan(&l.Kind, &l.Other) })
	if err != nil {
		return rec, fmt.Errorf("export links: %w", err)
	}
	return rec, nil
}

// exporter writes records, keeping the first error.
type exporter struct {
	w        *bufio.Writer
	markdown bool
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
		b.WriteString("> " + strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "\n> ") + "\n\n")
	}
	b.WriteString(fence + "\n" + string(line) + "\n```\n\n")
	_, e.err = e.w.WriteString(b.String())
}
