package events

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// Recorded is an audit entry as it is shown.
type Recorded struct {
	Seq      int64            `json:"seq"`
	At       int64            `json:"-"` // µs UTC
	Time     string           `json:"time"`
	Actor    schemas.EntityID `json:"actor"`
	Via      json.RawMessage  `json:"via"`
	Action   string           `json:"action"`
	Target   string           `json:"target"`
	Decision string           `json:"decision"`
	Detail   json.RawMessage  `json:"detail,omitempty"`
}

// AuditFilter chooses entries; what is empty does not narrow it.
type AuditFilter struct {
	Actor  schemas.EntityID
	About  schemas.EntityID // who acted, itself or through another, or to whom it was done
	Action string
	Target string
	Since  int64 // µs UTC
}

// Newest gives the newest entries that match, oldest first, at most limit.
func (f AuditFilter) Newest(tx *store.Tx, limit int) ([]Recorded, error) {
	list, err := f.read(tx, newestAudit, 0, limit)
	slices.Reverse(list)
	return list, err
}

// After gives the entries after number seq that match, oldest first, at most
// limit.
func (f AuditFilter) After(tx *store.Tx, seq int64, limit int) ([]Recorded, error) {
	return f.read(tx, nextAudit, seq, limit)
}

func (f AuditFilter) read(tx *store.Tx, query string, after int64, limit int) ([]Recorded, error) {
	end := "" // of a target, if a short form of an id was given, also behind its kind
	if short := f.Target[strings.LastIndex(f.Target, "/")+1:]; schemas.IsShortID(short) {
		end = short
	}
	rows, err := tx.Query(query, after, f.Actor, f.Action, f.Target, f.Since, limit, end, f.About)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (e Recorded, err error) {
		var via string
		var detail sql.NullString
		err = r.Scan(&e.Seq, &e.At, &e.Actor, &via, &e.Action, &e.Target, &e.Decision, &detail)
		e.Time, e.Via = Checkpoint{At: e.At}.Time().Format(stampLayout), asJSON(via)
		if detail.Valid {
			e.Detail = asJSON(detail.String)
		}
		return e, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the audit record: %w", err)
	}
	return list, nil
}

// LastAudit is the number of the newest entry, 0 if there is none.
func LastAudit(tx *store.Tx) (seq int64, err error) {
	var leaf []byte
	if err = tx.QueryRow(lastLeaf).Scan(&seq, &leaf); errors.Is(err, store.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the audit record: %w", err)
	}
	return seq, nil
}

// asJSON gives text as JSON: as it is if it is valid JSON, else as a string.
func asJSON(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, _ := json.Marshal(text) //nolint:errcheck // a string always encodes
	return quoted
}
