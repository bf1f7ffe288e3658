package roles

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Limits of events. Sizes are in bytes.
const (
	maxPayload  = 32 << 10
	maxMetadata = 20
	maxID       = 200
	maxHops     = 8 // that an event is forwarded, and that events cause each other in a row
)

// Decided is a decision with what followed from it.
type Decided struct {
	Decision
	WorkID string              `json:"work_id,omitempty"`
	TaskID string              `json:"task_id,omitempty"`
	AskID  string              `json:"ask_id,omitempty"` // waits in the review queue
	State  schemas.ReviewState `json:"ask_state,omitempty"`
	Ended  string              `json:"outcome,omitempty"` // of the work or task
}

// Taken is an event that was taken, with what each role on its way decided.
type Taken struct {
	EventID   string    `json:"event_id"`
	Workspace string    `json:"workspace"`
	Repeated  bool      `json:"repeated,omitempty"` // it came before: nothing was done now
	Decisions []Decided `json:"decisions"`
}

// CheckEvent says what is wrong with an event, and fills in what it leaves out.
func CheckEvent(e *Event, now time.Time) error {
	var bad []schemas.Violation
	say := func(field, format string, args ...any) {
		bad = append(bad, schemas.Violation{Path: schemas.Pointer(field), Msg: fmt.Sprintf(format, args...)})
	}
	if !eventName.MatchString(e.Type) {
		say("type", "must be parts of a-z 0-9 _ with dots between, as lead.created")
	}
	if e.Domain != "" && !domainName.MatchString(e.Domain) {
		say("domain", "must be 1–64 of a-z 0-9 _ . / -")
	}
	if e.ID = cmp.Or(e.ID, schemas.NewID()); len(e.ID) > maxID {
		say("id", "must have at most %d bytes", maxID)
	}
	for field, text := range map[string]string{"source": e.Source, "thread": e.Thread} {
		if len(text) > maxID || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' }) {
			say(field, "must be a line of at most %d bytes", maxID)
		}
	}
	payload := bytes.TrimSpace(e.Payload)
	if len(payload) == 0 {
		payload = []byte("{}")
	}
	if e.Payload = payload; len(payload) > maxPayload || payload[0] != '{' || !json.Valid(payload) {
		say("payload", "must be a JSON object of at most %d bytes", maxPayload)
	}
	if len(e.Metadata) > maxMetadata || len(encoded(e.Metadata)) > maxPayload {
		say("metadata", "must have at most %d texts", maxMetadata)
	}
	oneOf(func(path, format string, args ...any) { say(strings.TrimPrefix(path, "/"), format, args...) },
		"/classification", e.Secrecy, schemas.Classifications()...)
	e.Timestamp = cmp.Or(e.Timestamp, events.Timestamp(now.UnixMicro()))
	if bad != nil {
		return schemas.Invalidf("the event was not taken").With(bad...)
	}
	return nil
}

// hash tells one event from another of the same id.
func (e Event) hash() []byte {
	sum := sha256.Sum256([]byte(encoded([]any{e.Type, e.Domain, e.Payload, e.Metadata, e.Names, e.Secrecy, e.Effect})))
	return sum[:]
}

// Deliver takes an event, checked, into a workspace: each role on its way decides, and what
// follows is done, in this transaction (INV-ROLE-DECIDED). Errors: CodeNotFound for a
// workspace or role that is absent or hidden, CodeConflict for another event of the same id.
func (r *Roles) Deliver(g access.Grant, workspace string, e Event) (Taken, error) {
	w, err := r.worldFor(g, workspace, e)
	if err != nil {
		return Taken{}, err
	}
	if err := r.complete(g, w, &e); err != nil {
		return Taken{}, err
	}
	out := Taken{EventID: e.ID, Workspace: w.Workspace.Workspace, Decisions: []Decided{}}
	var n int64
	var hash []byte
	err = g.Tx().QueryRow(selectSame, out.Workspace, e.Source, e.ID).Scan(&n, &hash)
	switch {
	case err == nil && !bytes.Equal(hash, e.hash()):
		return out, schemas.Conflictf("%s sent another event with the id %s before", e.Source, e.ID).
			Try("send it with an id (delivery) of its own")
	case err == nil:
		out.Repeated = true
		out.Decisions, err = followed(g, n)
		return out, err
	case !errors.Is(err, store.ErrNoRows):
		return out, fmt.Errorf("read event: %w", err)
	}
	if err := g.Tx().QueryRow(insertEvent, out.Workspace, e.Source, e.ID, e.Type, e.Domain, e.By, e.Thread, e.Depth,
		encoded(e), e.hash(), g.Tx().Micros()).Scan(&n); err != nil {
		return out, fmt.Errorf("write event: %w", err)
	}
	err = g.AsNode(func(g access.Grant) error {
		out.Decisions, err = r.route(g, w, e, func(m *Member, hop int, d Decision) (Decided, error) {
			return r.keep(g, w, m, e, n, hop, d)
		})
		return err
	})
	if err != nil {
		return out, err
	}
	return out, g.Audit("workspace/"+out.Workspace, map[string]any{"event": e.ID, "type": e.Type, "by": e.By,
		"decisions": len(out.Decisions)})
}

// worldFor is the workspace of an event: the one that is named, the actor's only one, or of
// several the only one that has the role it is for, or a role that owns its domain: one that acts
// before one that does not.
func (r *Roles) worldFor(g access.Grant, workspace string, e Event) (*World, error) {
	if e.Names != "" {
		return r.worldOf(g, workspace, e.Names)
	}
	return r.worldWith(g, workspace, func(w *World) bool { return len(w.Owners(e.Domain)) > 0 },
		func(w *World) bool {
			return slices.ContainsFunc(w.Members, func(m *Member) bool { return m.owns(e.Domain) })
		})
}

// namesAnother reports whether a source reads as a person or an agent that is not the actor. Of an
// agent's id it does not tell whether there is such an agent.
func namesAnother(g access.Grant, source string) bool {
	if schemas.IsAgentID(source) {
		return source != string(g.Actor())
	}
	if who, err := g.Profile(schemas.EntityID(source)); err == nil {
		return who.AgentID != g.Actor()
	}
	id, err := g.Resolve(source)
	return err == nil && id != g.Actor()
}

// sender is who brought an event, and the source it gives.
func sender(g access.Grant, e Event) string {
	switch name := g.NameOf(e.By); {
	case e.By == access.NodeEntity:
		return e.Source
	case e.Source == string(e.By) || e.Source == "":
		return name
	default:
		return fmt.Sprintf("%s, which says %s", name, quoted(e.Source))
	}
}

// complete fills in who brought an event, what it belongs to and what caused it. What a
// sender says of these counts for nothing.
func (r *Roles) complete(g access.Grant, w *World, e *Event) error {
	if e.By = g.Actor(); !g.IsNode() {
		e.Depth = 0
		var err error
		if e.Outside, err = outsideOf(g, e.Outside); err != nil {
			return err
		}
	}
	if m := w.byAgent[e.By]; m != nil {
		e.Source = m.RoleID
		if err := causeOf(g, e); err != nil {
			return err
		}
	} else if !g.IsNode() && (w.names(e.Source) || namesAnother(g, e.Source)) {
		return schemas.Invalidf("%s is a source of the node's own, a role, a person or another agent", e.Source).
			Expecting("another source: this one would pass for what comes from there").
			Try("repeat the call with a source of your own, or none")
	}
	if e.Source == "" {
		e.Source = string(e.By)
	}
	if e.Thread != "" {
		err := g.Tx().QueryRow(selectThread, w.Workspace.Workspace, e.Thread).Scan(&e.Thread)
		if err != nil && !errors.Is(err, store.ErrNoRows) {
			return fmt.Errorf("read thread: %w", err)
		}
	}
	if e.Names != "" {
		m, err := w.role(e.Names)
		if err != nil {
			return err
		}
		if e.Names = m.RoleID; e.Domain == "" && len(m.Domains) > 0 {
			e.Domain = m.Domains[0]
		}
	}
	if e.Domain == "" {
		return schemas.Invalidf("the event names no domain").Expecting("domain, or the role it is for").
			Try("repeat the call with a domain; %s shows whose is whose", schemas.Tool("role_list"))
	}
	return nil
}

// scheduled is the source of events that schedules bring.
const scheduled = "schedule"

// names reports whether a source is one that the node, a webhook or a role sends under.
func (w *World) names(source string) bool {
	_, hook := w.Workspace.Webhooks[source]
	return hook || source == scheduled || source == string(access.NodeEntity) || w.byID[source] != nil
}

// causeOf says of an event of a role how deep it lies and what it belongs to: by the work that
// the role holds, or that it ended within the hour.
func causeOf(g access.Grant, e *Event) error {
	depth, thread, work, err := lastCause(g, e.By)
	if err == nil && work != "" {
		e.Depth, e.Thread = depth+1, cmp.Or(e.Thread, thread)
	}
	return err
}

// lastCause gives the work that an agent holds, or that it ended last within the hour, with the depth
// and the thread of the event that led to it; no work if there is none.
func lastCause(g access.Grant, agent schemas.EntityID) (depth int, thread, work string, err error) {
	err = g.Tx().QueryRow(selectCause, agent).Scan(&depth, &thread, &work)
	if errors.Is(err, store.ErrNoRows) {
		err = g.Tx().QueryRow(selectLastCause, agent, g.Tx().Micros()-time.Hour.Microseconds()).Scan(&depth, &thread, &work)
	}
	if err = ignoreNone(err); err != nil {
		err = fmt.Errorf("read cause: %w", err)
	}
	return depth, thread, work, err
}

// Explain says what the roles would decide over an event, and does nothing: only those on its
// way or, with all, every role of the workspace for itself.
func (r *Roles) Explain(g access.Grant, workspace string, e Event, all bool) (out []Decision, err error) {
	w, err := r.worldFor(g, workspace, e)
	if err != nil {
		return nil, err
	}
	if err := r.complete(g, w, &e); err != nil {
		return nil, err
	}
	if all {
		known, failed := r.known(g, w, e)
		for _, m := range w.Members {
			out = append(out, w.Handle(m, e, known))
		}
		return out, failed()
	}
	_, err = r.route(g, w, e, func(_ *Member, _ int, d Decision) (Decided, error) {
		out = append(out, d)
		return Decided{}, nil
	})
	return out, err
}

// keeper does what belongs to a decision of m, nil if the event reached no role.
type keeper func(m *Member, hop int, d Decision) (Decided, error)

// route lets one role after the other decide, until one does not forward (INV-ROLE-LOOP).
func (r *Roles) route(g access.Grant, w *World, e Event, keep keeper) ([]Decided, error) {
	m := w.First(e)
	if e.Names != "" {
		m = w.byID[e.Names]
	}
	none := ""
	switch {
	case e.Effect != "":
		none = e.Effect
	case e.Depth > maxHops:
		none = fmt.Sprintf("%d events in a row caused it", maxHops)
	case m == nil:
		none = w.unowned(e.Domain)
	}
	if none != "" {
		d, err := keep(nil, 0, Decision{Action: Ignore, Reason: none, Steps: []Step{{"route", none}}})
		return []Decided{d}, err
	}
	var out []Decided
	var seen []*Member
	known, failed := r.known(g, w, e)
	for {
		seen = append(seen, m)
		d := w.Handle(m, e, known)
		if err := failed(); err != nil {
			return out, err
		}
		next := w.byID[d.Target]
		if d.Action == Forward && (slices.Contains(seen, next) || len(seen) > maxHops) {
			d.Action, d.Reason = Ignore, fmt.Sprintf("%s, where the event was, or %d hops away", d.Reason, maxHops)
			d.Steps = append(d.Steps, Step{"hops", d.Reason})
		}
		decided, err := keep(m, len(seen)-1, d)
		if out = append(out, decided); err != nil || d.Action != Forward || d.Sandbox {
			return out, err
		}
		m = next
	}
}

// keep writes a decision down and does what follows from it.
func (r *Roles) keep(g access.Grant, w *World, m *Member, e Event, n int64, hop int, d Decision) (Decided, error) {
	out := Decided{Decision: d}
	var agent schemas.EntityID
	if m != nil {
		agent = m.Agent
	}
	var decision int64
	if err := g.Tx().QueryRow(insertDecision, n, agent, hop, d.Action, d.Sandbox, encoded(d),
		g.Tx().Micros()).Scan(&decision); err != nil {
		return out, fmt.Errorf("write decision: %w", err)
	}
	if d.Sandbox { // nothing follows (INV-ROLE-SANDBOX)
		return out, nil
	}
	var err error
	switch d.Action {
	case Delegate:
		err = r.delegate(g, w, m, e, n, decision, d, &out)
	case Escalate:
		out.AskID, err = r.escalate(g, w, m, e, decision, d)
		out.State = schemas.ReviewPending
	}
	return out, err
}

// followed gives what was decided over an event before, and what became of it.
func followed(g access.Grant, event int64) ([]Decided, error) {
	type kept struct {
		n    int64
		text string
	}
	rows, err := g.Tx().Query(selectDecisions, event)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (k kept, err error) { return k, r.Scan(&k.n, &k.text) })
	if err != nil {
		return nil, fmt.Errorf("read decisions: %w", err)
	}
	out := []Decided{}
	for _, k := range list {
		var d Decided
		if err := json.Unmarshal([]byte(k.text), &d.Decision); err != nil {
			return nil, fmt.Errorf("decision %d: %w", k.n, err)
		}
		var kind, ref string
		err := g.Tx().QueryRow(selectFollowed, k.n).Scan(&kind, &ref, &d.Ended)
		if err == nil && kind == kindTask {
			d.TaskID = ref
		} else if err == nil {
			d.WorkID = ref
		}
		if err = ignoreNone(err); err == nil {
			err = ignoreNone(g.Tx().QueryRow(selectAskOf, k.n).Scan(&d.AskID, &d.State))
		}
		if err != nil {
			return nil, fmt.Errorf("read what followed: %w", err)
		}
		out = append(out, d)
	}
	return out, nil
}

func ignoreNone(err error) error {
	if errors.Is(err, store.ErrNoRows) {
		return nil
	}
	return err
}
