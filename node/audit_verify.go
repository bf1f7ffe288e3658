package node

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// maxMessageDamage bounds how many messages a verification names.
const maxMessageDamage = 20

// auditReference is an audit entry about a message, and the message as it is now.
type auditReference struct {
	message
	seq, when int64 // of the entry
	id        string
	detail    sql.NullString
	body      string
}

func scanReference(r *sql.Rows) (v auditReference, err error) {
	return v, r.Scan(&v.seq, &v.when, &v.id, &v.detail, &v.TaskID, &v.n, &v.Round, &v.SubTaskID, &v.From, &v.To,
		&v.Actor, &v.Record, &v.body, &v.at)
}

// verifyMessages checks every message between roles against the audit entry that was
// written with it (INV-MESSAGE), and adds what does not fit to v. The record itself
// is verified already, so that an entry is what it was.
func verifyMessages(tx *store.Tx, v *events.Verified) error {
	there, err := tx.HasTable("task_messages")
	if err != nil {
		return fmt.Errorf("read tables: %w", err)
	}
	if !there { // a database older than messages, unless the record has entries about some
		var recorded int
		if err := tx.QueryRow(countReferences).Scan(&recorded); err != nil || recorded == 0 {
			return err
		}
		v.Damage = append(v.Damage, events.Damage{Kind: events.Deleted,
			What: "the messages between roles are gone, and the record has entries about some"})
		return nil
	}
	m := &messages{v: v}
	for after := int64(0); ; {
		rows, err := tx.Query(selectReferences, after, messagesAPage)
		page, err := store.Collect(rows, err, scanReference)
		if err != nil {
			return fmt.Errorf("read messages: %w", err)
		}
		for _, one := range page {
			m.compareMessage(one)
			after = one.seq
		}
		if len(page) < messagesAPage {
			break
		}
	}
	return m.findInserted(tx)
}

// messages is a verification of them under way.
type messages struct {
	v     *events.Verified
	last  auditReference // the one before
	found int
}

func (m *messages) damage(kind events.Tampering, seq int64, format string, args ...any) {
	if m.found++; m.found <= maxMessageDamage {
		m.v.Damage = append(m.v.Damage, events.Damage{Kind: kind, From: seq, Until: seq,
			What: fmt.Sprintf(format, args...)})
	} else if m.found == maxMessageDamage+1 {
		m.v.Notes = append(m.v.Notes, fmt.Sprintf("more than %d messages between roles do not fit; the first are named",
			maxMessageDamage))
	}
}

// messageDetail is the detail of the audit entry of a message.
type messageDetail struct {
	Task    string               `json:"task"`
	Round   int                  `json:"round"`
	SubTask string               `json:"subtask"`
	Record  string               `json:"record"`
	From    schemas.PipelineRole `json:"from"`
	To      schemas.PipelineRole `json:"to"`
	Actor   schemas.EntityID     `json:"actor"`
	SHA256  string               `json:"sha256"`
}

// changed lists what of a message is not as its entry says.
func (d messageDetail) changed(one auditReference) (changed []string) {
	sum := sha256.Sum256([]byte(one.body))
	for _, part := range []struct {
		what   string
		intact bool
	}{
		{"text", hex.EncodeToString(sum[:]) == d.SHA256}, {"task", one.TaskID == d.Task},
		{"round", one.Round == d.Round},
		{"subtask", one.SubTaskID == d.SubTask}, {"sender", one.From == d.From},
		{"receiver", one.To == d.To},
		{"actor", one.Actor == d.Actor}, {"record", one.Record == d.Record}, {"time", one.at == one.when},
	} {
		if !part.intact {
			changed = append(changed, part.what)
		}
	}
	return changed
}

// compareMessage compares a message with its audit entry.
func (m *messages) compareMessage(one auditReference) {
	if !one.detail.Valid {
		m.damage(events.Changed, one.seq,
			"what entry %d says of message %s was erased, so nothing shows whether the message is what it was", one.seq,
			one.id)
		return
	}
	var detail messageDetail
	json.Unmarshal([]byte(one.detail.String), &detail) //nolint:errcheck // what is not there does not fit
	name := fmt.Sprintf("message %s (%s, %s to %s, task %s, entry %d)", one.id, detail.Record, roleName(detail.From),
		roleName(detail.To), detail.Task, one.seq)
	if one.n == 0 {
		m.damage(events.Deleted, one.seq, "%s was deleted", name)
		return
	}
	changed := detail.changed(one)
	switch {
	case len(changed) > 0:
		m.damage(events.Changed, one.seq, "%s was changed: its %s", name, strings.Join(changed, ", "))
	case one.n <= m.last.n:
		m.damage(events.Reordered, one.seq, "%s stands before message %s of entry %d, and came after it", name,
			m.last.id, m.last.seq)
	default:
		m.v.Messages++
	}
	if one.n > m.last.n {
		m.last = one
	}
}

func roleName(r schemas.PipelineRole) string {
	if r == "" {
		return "user"
	}
	return string(r)
}

// findInserted finds messages that no entry of the record is about.
func (m *messages) findInserted(tx *store.Tx) error {
	type unrecorded struct {
		n                int64
		id, record, task string
	}
	rows, err := tx.Query(selectUnrecorded, maxMessageDamage+1)
	found, err := store.Collect(rows, err, func(r *sql.Rows) (s unrecorded, err error) {
		return s, r.Scan(&s.n, &s.id, &s.record, &s.task)
	})
	if err != nil {
		return fmt.Errorf("read messages: %w", err)
	}
	for _, s := range found {
		m.damage(events.Inserted, 0, "message %s (%s, task %s, row %d) was never sent: it was inserted", s.id, s.record,
			s.task, s.n)
	}
	return nil
}
