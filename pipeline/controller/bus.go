package controller

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"cordelia/access"
	"cordelia/schemas"
)

// The user, as one end of a message.
const user schemas.PipelineRole = ""

// Records that are no types of package schemas.
const (
	recordClarification = "Clarification" // R1's questions
	recordAnswers       = "Answers"       // of the user
	recordConstraints   = "Constraints"   // of memory, for a plan
	recordRefused       = "Refused"       // an answer that does not hold, given back
	recordNotes         = "Notes"         // what of an answer was mended, dropped or read otherwise
	recordLate          = "Late"          // a report that does not count
	recordRejected      = "Rejected"      // by a person, of a result that was accepted
)

// message is one record from role to role.
type message struct {
	from, to schemas.PipelineRole
	of       *seat            // an answer to it: of its round and subtask; nil = of the present round
	actor    schemas.EntityID // who sits in from; "" = code
	subtask  string           // id
	record   string
	body     any
}

// say puts a message on the bus and its hash into the audit record (INV-BUS).
func (u *taskTx) say(m message) error {
	raw, err := json.Marshal(m.body)
	if err != nil {
		return fmt.Errorf("encode %s: %w", m.record, err)
	}
	if m.actor == "" {
		m.actor = access.NodeEntity
	}
	round := u.t.round
	if m.of != nil {
		round, m.subtask = m.of.round, m.of.subtaskID
	}
	id, sum := schemas.NewID(), sha256.Sum256(raw)
	if _, err := u.g.Tx().Exec(insertMessage, id, u.t.n, round, m.subtask, m.from, m.to, m.actor, m.record, string(raw),
		u.g.Tx().Micros()); err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	return u.g.Audit("message/"+id, map[string]any{"task": u.t.id, "round": round, "subtask": m.subtask,
		"record": m.record,
		"from":   m.from, "to": m.to, "actor": m.actor, "sha256": hex.EncodeToString(sum[:])})
}
