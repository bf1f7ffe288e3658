package node

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// AuditSummary is the auditor's report to the person, with what it rests on.
type AuditSummary struct {
	schemas.AuditReport
	Messages int       `json:"messages"` // between roles, of those looked at
	Actors   []Tally   `json:"actors"`   // most first
	Actions  []Tally   `json:"actions"`  // most first
	Refused  int       `json:"refused"`  // entries of what was not allowed
	Notable  []Notable `json:"notable"`  // oldest first
	Unshown  int       `json:"unshown"`  // more of those, and of findings, than are shown
}

// Tally counts entries.
type Tally struct {
	Name string `json:"name"`
	As   string `json:"as,omitempty"` // an agent's name
	N    int    `json:"n"`
}

// Notable is an entry that a person should know of.
type Notable struct {
	Seq   int64            `json:"seq"`
	Time  string           `json:"time"`
	Actor schemas.EntityID `json:"actor"`
	What  string           `json:"what"`
}

// Bounds of what a report lists.
const (
	maxNotable  = 200
	maxFindings = 500
)

// slack is how far a clock may step back before the report shows it, in µs.
const slack = int64(time.Second / time.Microsecond)

// AuditReport sums up what was done in a span, for the person: who did how much of
// what, what was refused, what took rights or replaced the database, where the clock
// went back, and what the auditor found in the messages between roles. A query that
// names a task, a role or a detection gives the findings alone. Errors: CodeInvalid
// for a query that names none there is.
func (n *Node) AuditReport(ctx context.Context, person access.Principal,
	q schemas.AuditQuery) (s AuditSummary, err error) {
	since, until, err := spanOf(q)
	if err != nil {
		return s, err
	}
	err = n.Auth.Do(ctx, person, auditOp, func(g access.Grant) error {
		if until == 0 {
			until = math.MaxInt64 // also what a clock ahead of now wrote
		}
		if q.TaskID, err = taskID(g, q.TaskID); err != nil {
			return err
		}
		s, err = report(g, q, since, until)
		return err
	})
	return s, err
}

// spanOf reads the times of a query, UTC µs; 0 = not said.
func spanOf(q schemas.AuditQuery) (since, until int64, err error) {
	wrong := schemas.Invalidf("the query cannot be answered")
	read := func(text, at string) int64 {
		if text == "" {
			return 0
		}
		t := schemas.DateOf(text)
		if t.IsZero() {
			wrong = wrong.With(schemas.Violation{Path: at, Msg: "must be " + schemas.DateForms})
		}
		return t.UnixMicro()
	}
	since, until = read(q.Since, "/since"), read(q.Until, "/until")
	if until != 0 && until <= since {
		wrong = wrong.With(schemas.Violation{Path: "/until", Msg: "must be after since"})
	}
	if q.Role != "" && !slices.Contains(schemas.PipelineRoles(), q.Role) {
		wrong = wrong.With(schemas.Violation{Path: "/role",
			Msg: fmt.Sprintf("must be one of %s", schemas.Joined(schemas.PipelineRoles()))})
	}
	if q.Detection != "" && !slices.Contains(schemas.Detections(), q.Detection) {
		wrong = wrong.With(schemas.Violation{Path: "/detection",
			Msg: fmt.Sprintf("must be one of %s", schemas.Joined(schemas.Detections()))})
	}
	if len(wrong.Violations) > 0 {
		return 0, 0, wrong.Try("correct what is listed")
	}
	return since, until, nil
}

// report makes a report of a span, UTC µs.
func report(g access.Grant, q schemas.AuditQuery, since, until int64) (AuditSummary, error) {
	r := &reporting{since: since, until: until, query: q, actors: map[string]int{}, actions: map[string]int{},
		seats: map[string]bool{}}
	r.AuditSummary = AuditSummary{Actors: []Tally{}, Actions: []Tally{}, Notable: []Notable{},
		AuditReport: schemas.AuditReport{
			ReportID: schemas.NewID(), From: fullStamp(since), Until: fullStamp(min(until, g.Tx().Micros())),
			GeneratedAt: fullStamp(g.Tx().Micros()),
			Findings:    []schemas.AuditFinding{},
		}}
	if err := r.readMessages(g, q.TaskID); err != nil {
		return AuditSummary{}, err
	}
	if q.TaskID == "" {
		if err := r.compareBehaviour(g.Tx()); err != nil {
			return AuditSummary{}, err
		}
	}
	if err := r.countEntries(g.Tx()); err != nil {
		return AuditSummary{}, err
	}
	if err := r.findDuties(g.Tx()); err != nil {
		return AuditSummary{}, err
	}
	if r.narrowed() {
		r.Events, r.Refused, r.Notable = 0, 0, []Notable{}
		return r.AuditSummary, nil
	}
	names, err := namesOf(g.Tx())
	r.Actors, r.Actions = tallies(r.actors, names), tallies(r.actions, nil)
	return r.AuditSummary, err
}

func fullStamp(micros int64) string { return time.UnixMicro(micros).UTC().Format(time.RFC3339Nano) }

// reporting is a report in the making.
type reporting struct {
	AuditSummary
	since, until    int64 // UTC µs
	query           schemas.AuditQuery
	actors, actions map[string]int
	seats           map[string]bool // work items with late reports on the bus
	last            int64
}

// narrowed reports whether only findings are asked for.
func (r *reporting) narrowed() bool {
	return r.query.TaskID+string(r.query.Role)+string(r.query.Detection) != ""
}

// addFinding keeps a finding that is asked for.
func (r *reporting) addFinding(f schemas.AuditFinding) {
	q := r.query
	switch {
	case q.TaskID != "" && f.TaskID != q.TaskID, q.Role != "" && f.Accountable != q.Role, q.Detection != "" &&
		f.Detection != q.Detection:
	case len(r.Findings) == maxFindings:
		r.Unshown++
	default:
		r.Findings = append(r.Findings, f)
	}
}

// countEntries looks through the audit record.
func (r *reporting) countEntries(tx *store.Tx) error {
	f := events.AuditFilter{Since: r.since}
	for after, more := int64(0), true; more; {
		page, err := f.After(tx, after, AuditPage)
		if err != nil {
			return err
		}
		for _, e := range page {
			if after = e.Seq; e.At < r.until {
				r.countEntry(e)
			}
		}
		more = len(page) == AuditPage
	}
	return nil
}

func (r *reporting) addNotable(e events.Recorded, format string, args ...any) {
	if len(r.Notable) == maxNotable {
		r.Unshown++
		return
	}
	r.Notable = append(r.Notable, Notable{e.Seq, e.Time, e.Actor, fmt.Sprintf(format, args...)})
}

// countEntry counts an entry and adds what is notable about it.
func (r *reporting) countEntry(e events.Recorded) {
	r.Events++
	r.actors[string(e.Actor)]++
	r.actions[e.Action]++
	if e.At < r.last-slack {
		r.addNotable(e, "the clock went back by %s", time.Duration(r.last-e.At)*time.Microsecond)
	}
	r.last = max(r.last, e.At)
	var d struct {
		To     string `json:"to"`
		Reason string `json:"reason"`
		Late   int64  `json:"late"`
		Before string `json:"before"` // how a late report's lease had been reported
		Seq    int64  `json:"seq"`
		events.ForkDetail
	}
	json.Unmarshal(e.Detail, &d) //nolint:errcheck // details differ by action; what is not there stays empty
	taken := []string{string(schemas.Suspended), string(schemas.Deactivated), string(schemas.Removed)}
	switch {
	case e.Decision != "allowed":
		r.Refused++
		r.addNotable(e, "%s of %s: %s", e.Action, e.Target, e.Decision)
	case slices.Contains(taken, d.To):
		r.addNotable(e, "%s is %s%s", e.Target, d.To, because(d.Reason))
	case e.Action == "agent_capabilities":
		r.addNotable(e, "the rights of %s were changed", e.Target)
	case e.Action == "key_rotate" || e.Action == "key_unwrap":
		r.addNotable(e, "%s of %s%s", e.Action, e.Target, because(d.Reason))
	case e.Action == events.RestoreAction && e.Target == events.RestoreTarget:
		r.addNotable(e, "a backup was restored, with entries up to %d; %s", d.ForkAt, d.Left())
	case d.Late > 0 && !r.seats[e.Target]:
		what := "reported on a lease that was over"
		if d.Before != "" {
			what = fmt.Sprintf("reported otherwise on a lease that was reported %s before", d.Before)
		}
		r.addFinding(schemas.AuditFinding{Detection: schemas.DetectStaleSubmit, Accountable: schemas.Executor,
			SubTaskID: strings.TrimPrefix(e.Target, "work/"), EventIDs: []string{fmt.Sprint(e.Seq)},
			Finding: fmt.Sprintf("%s %s, with fence %d", e.Actor, what, d.Late)})
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// noteLate notes the seat of a message that a report came too late: its audit entry says the
// same, and is one finding with it.
func (r *reporting) noteLate(e schemas.AuditEvent) {
	var d struct {
		Item string `json:"work_id"`
	}
	if json.Unmarshal(e.Message, &d) == nil {
		r.seats["work/"+d.Item] = true
	}
}

// findDuties finds who both did and judged plain work of one task. On different
// subtasks that is allowed: a person decides.
func (r *reporting) findDuties(tx *store.Tx) error {
	rows, err := tx.Query(selectDuties, r.since, r.until, schemas.Executor, schemas.AgentValidator,
		schemas.MetaValidator)
	found, err := store.Collect(rows, err, func(r *sql.Rows) (f schemas.AuditFinding, err error) {
		var holder, did, judged string
		f.Detection, f.Accountable = schemas.DetectSeparationDuty, schemas.Planner
		err = r.Scan(&f.TaskID, &holder, &did, &judged)
		f.EventIDs = []string{did, judged}
		f.Finding = holder + " did work of the task and judged work of it"
		return f, err
	})
	for _, f := range found {
		r.addFinding(f)
	}
	return err
}

func namesOf(tx *store.Tx) (map[string]string, error) {
	all, err := standings(tx)
	names := map[string]string{}
	for _, s := range all {
		names[string(s.ID)] = s.Name
	}
	return names, err
}

// tallies lists counts, most first.
func tallies(counts map[string]int, names map[string]string) []Tally {
	out := []Tally{}
	for name, n := range counts {
		out = append(out, Tally{Name: name, As: names[name], N: n})
	}
	slices.SortFunc(out, func(a, b Tally) int {
		if a.N != b.N {
			return b.N - a.N
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}
