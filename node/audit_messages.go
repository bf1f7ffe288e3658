package node

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/pipeline"
	"cordelia/pipeline/controller"
	"cordelia/schemas"
	"cordelia/work"
)

// messageTarget begins the target of the audit entry of a message between roles.
const messageTarget = "message/"

// lateRecord is the type of the message that a report came after its lease had ended.
const lateRecord = "Late"

// message is a message between roles as it is kept.
type message struct {
	schemas.AuditEvent
	n, at int64
}

func scanMessage(r *sql.Rows) (m message, err error) {
	var body string
	err = r.Scan(&m.n, &m.EventID, &m.TaskID, &m.Round, &m.SubTaskID, &m.From, &m.To, &m.Actor, &m.Record, &body, &m.at)
	m.Timestamp, m.Message = fullStamp(m.at), asJSON(body)
	return m, err
}

// asJSON gives text as JSON: as it is if it is valid JSON, else as a string.
func asJSON(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return encoded(text)
}

// Tailed is an audit entry and, if it is about one, the message between roles.
type Tailed struct {
	events.Recorded
	Message *schemas.AuditEvent `json:"message,omitempty"`
}

// withMessages adds to audit entries the messages they are about.
func withMessages(tx *store.Tx, list []events.Recorded) ([]Tailed, error) {
	out := make([]Tailed, len(list))
	var ids []string
	for i, e := range list {
		out[i].Recorded = e
		if id, ok := strings.CutPrefix(e.Target, messageTarget); ok {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return out, nil
	}
	rows, err := tx.Query(selectMessages, store.List(ids))
	found, err := store.Collect(rows, err, scanMessage)
	if err != nil {
		return nil, err
	}
	for i := range out {
		at := slices.IndexFunc(found, func(m message) bool { return messageTarget+m.EventID == out[i].Target })
		if at >= 0 {
			out[i].Message = &found[at].AuditEvent
		}
	}
	return out, nil
}

// MaxReplay is how many messages of a task one look lists.
const MaxReplay = 500

// Replay is the messages between the roles of a task, oldest first: all without their text,
// and one whole.
type Replay struct {
	Steps []schemas.AuditEvent `json:"steps"` // at most MaxReplay
	At    int                  `json:"at"`    // which of Steps is whole, from 1; 0 = there is none
	More  bool                 `json:"more,omitempty"`
}

// TaskMessages gives the messages of one type that the roles of a task wrote, whole, oldest
// first, at most limit.
func (n *Node) TaskMessages(ctx context.Context, person access.Principal, task, record string,
	limit int) (out []schemas.AuditEvent, err error) {
	err = n.Auth.Do(ctx, person, auditOp, func(g access.Grant) error {
		rows, err := g.Tx().Query(selectMessagesOfType, task, record, limit)
		list, err := store.Collect(rows, err, scanMessage)
		for _, m := range list {
			out = append(out, m.AuditEvent)
		}
		return err
	})
	return out, err
}

// ReplayTask lists the messages between the roles of a task, and gives step at whole; 0 is the
// newest.
// Errors: CodeInvalid for a step that there is not.
func (n *Node) ReplayTask(ctx context.Context, person access.Principal, task string, at int) (r Replay, err error) {
	err = n.Auth.Do(ctx, person, auditOp, func(g access.Grant) error {
		id, err := taskID(g, task)
		if err != nil {
			return err
		}
		rows, err := g.Tx().Query(selectFirstMessages, id, MaxReplay+1)
		list, err := store.Collect(rows, err, scanMessage)
		if err != nil {
			return err
		}
		if r.More = len(list) > MaxReplay; r.More {
			list = list[:MaxReplay]
		}
		r.Steps = make([]schemas.AuditEvent, len(list))
		for i, m := range list {
			r.Steps[i] = m.AuditEvent
			r.Steps[i].Message = nil
		}
		if r.At = at; at == 0 {
			r.At = len(list)
		}
		if r.At < 0 || r.At > len(list) {
			return schemas.Invalidf("there is no step %d", at).Expecting("1 to %d", len(list))
		}
		if r.At > 0 {
			r.Steps[r.At-1].Message = list[r.At-1].Message
		}
		return nil
	})
	return r, err
}

// taskID is the id of the task that ref names, by its id or the end of it.
func taskID(g access.Grant, ref string) (string, error) {
	if !schemas.IsShortID(ref) {
		return ref, nil
	}
	return access.OneID(g, "task", ref, controller.Named, work.TasksNamed)
}

const (
	tasksAtOnce   = 20                  // whose messages are in memory at a time
	messagesAPage = 500                 // that one query reads
	baseline      = 30 * 24 * time.Hour // what roles are compared with: the time before a report
)

// readMessages looks through the messages between roles of a span, in whole tasks, and
// keeps what was found of that span.
func (r *reporting) readMessages(g access.Grant, task string) error {
	type talking struct {
		n        int64
		id       string
		epsilon  float64
		together bool
	}
	rows, err := g.Tx().Query(selectTasksWithMessages, r.since, r.until, task)
	tasks, err := store.Collect(rows, err, func(r *sql.Rows) (t talking, err error) {
		return t, r.Scan(&t.n, &t.id, &t.epsilon, &t.together)
	})
	if err != nil {
		return err
	}
	w := pipeline.Watch{Epsilon: map[string]float64{}, Together: map[string]bool{}}
	w.Related = func(a, b schemas.EntityID) bool {
		related, e := g.OneLine(a, b)
		if e != nil {
			err = e
		}
		return related
	}
	for batch := range slices.Chunk(tasks, tasksAtOnce) {
		ns := make([]int64, len(batch))
		for i, t := range batch {
			if ns[i], w.Together[t.id] = t.n, t.together; t.epsilon > 0 {
				w.Epsilon[t.id] = t.epsilon
			}
		}
		rows, e := g.Tx().Query(selectMessagesOfTasks, store.List(ns), r.until)
		list, e := store.Collect(rows, e, scanMessage)
		if e != nil {
			return e
		}
		r.detect(list, w)
		if err != nil {
			return err
		}
	}
	return nil
}

// detect keeps what the messages of whole tasks show, unless all of it lies before the span.
func (r *reporting) detect(list []message, w pipeline.Watch) {
	all := make([]schemas.AuditEvent, len(list))
	now := map[string]bool{}
	for i, m := range list {
		all[i] = m.AuditEvent
		if m.at >= r.since {
			r.Messages++
			now[m.EventID] = true
		}
		if m.Record == lateRecord {
			r.noteLate(m.AuditEvent)
		}
	}
	for _, f := range pipeline.Detect(all, w) {
		if slices.ContainsFunc(f.EventIDs, func(id string) bool { return now[id] }) {
			r.addFinding(f)
		}
	}
}

// compareBehaviour compares what roles did in the span with what they did in the time before.
func (r *reporting) compareBehaviour(tx *store.Tx) error {
	past, err := behaviour(tx, r.since-baseline.Microseconds(), r.since)
	if err != nil {
		return err
	}
	now, err := behaviour(tx, r.since, r.until)
	for _, f := range pipeline.Drifted(past, now) {
		r.addFinding(f)
	}
	return err
}

// behaviour counts what roles did from since until before until, UTC µs.
func behaviour(tx *store.Tx, since, until int64) (pipeline.Behaviour, error) {
	b := pipeline.Behaviour{}
	at, n := since-1, int64(1<<62)
	for {
		rows, err := tx.Query(selectMessagesOfSpan, at, n, until, messagesAPage)
		page, err := store.Collect(rows, err, scanMessage)
		if err != nil {
			return nil, err
		}
		for _, m := range page {
			b.Count(m.AuditEvent)
			at, n = m.at, m.n
		}
		if len(page) < messagesAPage {
			return b, nil
		}
	}
}
