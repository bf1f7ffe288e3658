package ops

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
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
	Actors  []Tally   `json:"actors"`  // most first
	Actions []Tally   `json:"actions"` // most first
	Refused int       `json:"refused"` // entries of what was not allowed
	Notable []Notable `json:"notable"` // oldest first
	Unshown int       `json:"unshown"` // more of those than are shown
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

// maxNotable bounds what a report lists.
const maxNotable = 200

// slack is how far a clock may step back before it is told, in µs.
const slack = int64(time.Second / time.Microsecond)

// AuditReport sums the audit record up since a time (µs UTC): who did how much of
// what, what was refused, what took rights or replaced the database, where the
// clock went back, which reports came too late, and who both did and judged work
// of one task.
func (n *Node) AuditReport(ctx context.Context, person Caller, since int64) (AuditSummary, error) {
	var r *reporting
	err := n.Auth.Do(ctx, person.Principal, auditOp, func(g access.Grant) error {
		r = &reporting{actors: map[string]int{}, actions: map[string]int{}, AuditSummary: AuditSummary{Notable: []Notable{}, AuditReport: schemas.AuditReport{
			ReportID: schemas.NewID(), From: fullStamp(since), Until: fullStamp(g.Tx().Micros()), GeneratedAt: fullStamp(g.Tx().Micros()),
			Findings: []schemas.AuditFinding{},
		}}}
		f := events.AuditFilter{Since: since}
		for after, more := int64(0), true; more; {
			page, err := f.After(g.Tx(), after, AuditPage)
			if err != nil {
				return err
			}
			for _, e := range page {
				r.entry(e)
				after = e.Seq
			}
			more = len(page) == AuditPage
		}
		if err := r.duties(g.Tx(), since); err != nil {
			return err
		}
		names, err := namesOf(g.Tx())
		r.Actors, r.Actions = tallies(r.actors, names), tallies(r.actions, nil)
		return err
	})
	if err != nil {
		return AuditSummary{}, err
	}
	return r.AuditSummary, nil
}

func fullStamp(micros int64) string { return time.UnixMicro(micros).UTC().Format(time.RFC3339Nano) }

type reporting struct {
	AuditSummary
	actors, actions map[string]int
	last            int64
}

func (r *reporting) tell(e events.Recorded, format string, args ...any) {
	if len(r.Notable) == maxNotable {
		r.Unshown++
		return
	}
	r.Notable = append(r.Notable, Notable{e.Seq, e.Time, e.Actor, fmt.Sprintf(format, args...)})
}

// entry counts an entry and tells what is notable about it.
func (r *reporting) entry(e events.Recorded) {
	r.Events++
	r.actors[string(e.Actor)]++
	r.actions[e.Action]++
	if e.At < r.last-slack {
		r.tell(e, "the clock went back by %s", time.Duration(r.last-e.At)*time.Microsecond)
	}
	r.last = max(r.last, e.At)
	var d struct {
		To     string `json:"to"`
		Reason string `json:"reason"`
		Late   int64  `json:"late"`
		Seq    int64  `json:"seq"`
		events.ForkDetail
	}
	json.Unmarshal(e.Detail, &d) //nolint:errcheck // details differ by action; what is not there stays empty
	taken := []string{string(schemas.Suspended), string(schemas.Deactivated), string(schemas.Removed)}
	switch {
	case e.Decision != "allowed":
		r.Refused++
		r.tell(e, "%s of %s: %s", e.Action, e.Target, e.Decision)
	case slices.Contains(taken, d.To):
		r.tell(e, "%s is %s%s", e.Target, d.To, because(d.Reason))
	case e.Action == "agent_capabilities":
		r.tell(e, "the rights of %s were changed", e.Target)
	case e.Action == "key_rotate" || e.Action == "key_unwrap":
		r.tell(e, "%s of %s%s", e.Action, e.Target, because(d.Reason))
	case e.Action == events.RestoreAction && e.Target == events.RestoreTarget:
		r.tell(e, "the database was replaced by a backup that shares entries up to %d; entries up to %d were left", d.ForkAt, d.AbandonedEntries)
	case d.Late > 0:
		r.Findings = append(r.Findings, schemas.AuditFinding{Detection: schemas.DetectStaleSubmit, Accountable: schemas.Executor,
			SubTaskID: strings.TrimPrefix(e.Target, "work/"), EventIDs: []string{fmt.Sprint(e.Seq)},
			Finding: fmt.Sprintf("%s reported on a lease that was over, with fence %d", e.Actor, d.Late)})
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// duties finds who both did and judged work of one task. On different subtasks
// that is allowed: a person decides.
func (r *reporting) duties(tx *store.Tx, since int64) error {
	rows, err := tx.Query(selectDuties, since, schemas.Executor, schemas.AgentValidator, schemas.MetaValidator)
	found, err := store.Collect(rows, err, func(r *sql.Rows) (f schemas.AuditFinding, err error) {
		var holder, did, judged string
		f.Detection, f.Accountable = schemas.DetectSeparationDuty, schemas.Planner
		err = r.Scan(&f.TaskID, &holder, &did, &judged)
		f.EventIDs = []string{did, judged}
		f.Finding = holder + " did work of the task and judged work of it"
		return f, err
	})
	r.Findings = append(r.Findings, found...)
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
