package controller

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/internal/store"
	"cordelia/pipeline"
	"cordelia/schemas"
	"cordelia/work"
)

// A family: ann, with lead and solo below her; lead has a, b and c, and a has kid. The
// group team holds lead, a, b and c.
var (
	ann                      = schemas.EntityID("ann")
	lead, solo, a, b, c, kid = accesstest.Named("lead"), accesstest.Named("solo"), accesstest.Named(
		"a"), accesstest.Named("b"), accesstest.Named("c"), accesstest.Named("kid")
	everything = []string{"task_claim", "task_report", "task_submit", "task_status",
		"task_cancel", "review_decide"}
	noReview work.Review = func(access.Grant, schemas.EntityID, string) (bool, error) {
		return false, nil
	}
	allReviewed work.Review = func(access.Grant, schemas.EntityID, string) (bool, error) {
		return true, nil
	}
)

// noRules: nobody works by any here.
type noRules struct{}

func (noRules) Team(access.Grant, schemas.GroupID) (t pipeline.Team, err error) { return t, nil }

// node is a node with the family, and the controller of its tasks.
type node struct {
	*accesstest.Node
	tasks  *Controller
	review work.Review
}

func newNode(t testing.TB) *node {
	n := &node{review: noReview,
		Node: accesstest.New(t, access.Config{Seen: work.Seen, RefusedPerMinute: 1 << 30, FailedPerMinute: 1 << 30})}
	var err error
	n.tasks, err = New(DefaultSettings(), noRules{})
	require.NoError(t, err)
	n.Person(ann)
	for _, e := range []struct {
		id, parent schemas.EntityID
		name       string
	}{{lead, ann, "lead"}, {solo, ann, "solo"}, {a, lead, "a"}, {b, lead, "b"}, {c, lead, "c"}, {kid, a, "kid"}} {
		n.Agent(e.id, e.parent, ann, schemas.ClaudeCode, e.name)
		n.may(e.id, everything...)
	}
	n.Group("team", lead, a, b, c)
	return n
}

func (n *node) may(id schemas.EntityID, tools ...string) {
	n.Helper()
	n.May(id, 50, tools...)
}

// one reads one value.
func one[V any](n *node, query string, args ...any) V {
	n.Helper()
	return accesstest.One[V](n.Node, query, args...)
}

func (n *node) do(who schemas.EntityID, tool string, f func(access.Grant) error) error {
	return n.Do(who, tool, access.Write, f)
}

func (n *node) trySubmit(who schemas.EntityID, r Request) (s Submitted, err error) {
	err = n.do(who, "task_submit", func(g access.Grant) (err error) {
		s, err = n.tasks.Submit(g, r)
		return err
	})
	return s, err
}

func (n *node) submit(who schemas.EntityID, r Request) string {
	n.Helper()
	s, err := n.trySubmit(who, r)
	require.NoError(n, err)
	return s.TaskID
}

// tryClaim claims as task_claim does.
func (n *node) tryClaim(who schemas.EntityID, role schemas.PipelineRole) (claimed work.Claimed, ok bool, err error) {
	err = n.do(who, "task_claim", func(g access.Grant) error {
		if claimed, ok, err = work.Claim(g, work.Wanted{Role: string(role)}, time.Minute); err != nil || ok {
			return err
		}
		if _, err := n.tasks.CompleteEnded(g); err != nil {
			return err
		}
		claimed, ok, err = work.Claim(g, work.Wanted{Role: string(role)}, time.Minute)
		return err
	})
	if err == nil && ok {
		err = n.do(who, "task_claim", func(g access.Grant) error { return n.tasks.Taken(g, claimed.WorkID) })
	}
	return claimed, ok, err
}

func (n *node) claim(who schemas.EntityID, role schemas.PipelineRole) work.Claimed {
	n.Helper()
	claimed, ok, err := n.tryClaim(who, role)
	require.NoError(n, err)
	require.True(n, ok, "there is no %s to claim", role)
	return claimed
}

func (n *node) none(who schemas.EntityID, role schemas.PipelineRole) {
	n.Helper()
	_, ok, err := n.tryClaim(who, role)
	require.NoError(n, err)
	require.False(n, ok, "there is %s to claim", role)
}

// report files as task_report does; checks all hold unless named in broken.
func (n *node) tryReport(who schemas.EntityID, w work.Claimed, o work.Outcome, result string, evidence []work.Evidence,
	broken ...string) (f Filed, err error) {
	p, err := work.NewReport(w.WorkID, w.Fence, o, json.RawMessage(result), evidence, "a note")
	if err != nil {
		return f, err
	}
	err = n.do(who, "task_report", func(g access.Grant) (err error) {
		f, err = n.tasks.File(g, p, n.review)
		return err
	})
	if err == nil && f.Checks != 0 {
		f.Led, err = n.check(f.Checks, broken...)
	}
	return f, err
}

// check makes the machine checks of a report as the node does; all hold unless named.
func (n *node) check(item int64, broken ...string) (led string, err error) {
	err = n.do(access.NodeEntity, "task_checks", func(g access.Grant) error {
		need, err := n.tasks.TakeChecks(g, item, g.Tx().Micros()+1)
		if err != nil || need == nil {
			return err
		}
		found := []Finding{}
		for _, one := range need.Checks {
			found = append(found, Found(one.Criterion, !slices.Contains(broken, one.Criterion),
				schemas.Evidence{Tool: "check"}, nil))
		}
		led, _, err = n.tasks.Checked(g, item, found)
		return err
	})
	return led, err
}

func (n *node) report(who schemas.EntityID, w work.Claimed, result string) Filed {
	n.Helper()
	tools := []string{"bash"}
	if planned, ok := inputs(n, w)["tools"].([]any); ok && w.Brief.ReportSchema != nil && len(planned) > 0 {
		tools = []string{planned[0].(string)}
	}
	f, err := n.tryReport(who, w, work.Done, result, ran(tools...))
	require.NoError(n, err)
	require.NoError(n, f.Refusal())
	return f
}

// ran is evidence of calls of tools that worked.
func ran(tools ...string) []work.Evidence {
	list := []work.Evidence{}
	for _, tool := range tools {
		list = append(list, work.Evidence{Tool: tool, Input: "x", Head: "fine"})
	}
	return list
}

// show reads a task as one who may see it.
func (n *node) show(id string) (v View) {
	n.Helper()
	require.NoError(n, n.Do(ann, "task_status", access.Read, func(g access.Grant) (err error) {
		v, err = Show(g, id, true)
		return err
	}))
	return v
}

func (n *node) state(id string) schemas.TaskState { n.Helper(); return n.show(id).State }

// step is a subtask of a plan.
func step(intent string, sequence int, tools []string, criteria ...any) schemas.PlannedSubTask {
	s := schemas.PlannedSubTask{Intent: intent, Sequence: sequence, Tools: tools}
	for _, one := range criteria {
		switch one := one.(type) {
		case string:
			s.SuccessCriteria = append(s.SuccessCriteria, schemas.Criterion{Criterion: one, Mode: schemas.Verifiable})
		case schemas.Criterion:
			s.SuccessCriteria = append(s.SuccessCriteria, one)
		}
	}
	return s
}

func plan(steps ...schemas.PlannedSubTask) string {
	return text(schemas.Plan{SubTasks: steps,
		TaskCriteria: []schemas.Criterion{{Criterion: "it is whole", Mode: schemas.Plausible}}})
}

// judgement passes every criterion of a brief but those named as class: text.
func judgement(w work.Claimed, failing map[string]schemas.FailureClass) string {
	var in struct {
		Criteria []schemas.Criterion
		Calls    []listedCall `json:"tool_calls"`
	}
	if err := json.Unmarshal(w.Brief.Inputs, &in); err != nil {
		panic(err)
	}
	r := schemas.VerdictReport{Verdicts: []schemas.JudgedCriterion{}, WhatToDo: "do it right"}
	for _, one := range in.Criteria {
		j := schemas.JudgedCriterion{Criterion: one.Criterion, Verdict: schemas.Pass, Evidence: "seen",
			Call: firstOf(in.Calls)}
		if class, bad := failing[one.Criterion]; bad {
			j.Verdict, j.FailureClass = schemas.Fail, class
		}
		r.Verdicts = append(r.Verdicts, j)
	}
	return text(r)
}

// merging passes every criterion of the task but those named.
func merging(w work.Claimed, failing map[string]schemas.FailureClass) string {
	var v schemas.VerdictReport
	if err := json.Unmarshal([]byte(judgement(w, failing)), &v); err != nil {
		panic(err)
	}
	return text(schemas.MergeReport{Output: json.RawMessage(`{"answer":42}`), Verdicts: v.Verdicts})
}

// begin submits a task whose intent is clear, and plans it.
func (n *node) begin(who schemas.EntityID, r Request, plan string) (id string) {
	n.Helper()
	if r.Request == "" {
		r.Request = "Ship the release, please"
	}
	r.Intent = "ship the release"
	id = n.submit(who, r)
	n.report(lead, n.claim(lead, "R2"), plan)
	return id
}

// judge takes R4a's seat and passes all but the failing criteria.
func (n *node) judge(who schemas.EntityID, failing map[string]schemas.FailureClass) Filed {
	n.Helper()
	w := n.claim(who, "R4a")
	return n.report(who, w, judgement(w, failing))
}

// failAll has every attempt at a round's one subtask fail, and gives what that led to.
func (n *node) failAll(criterion string, class schemas.FailureClass) (f Filed) {
	n.Helper()
	for range DefaultSettings().Retries + 1 {
		n.report(a, n.claim(a, "R3"), `{"ok": 1}`)
		f = n.judge(b, map[string]schemas.FailureClass{criterion: class})
	}
	return f
}

// messages lists the records of a task in order, as from>to record.
func (n *node) messages(id string) (list []string) {
	n.Helper()
	require.NoError(n, n.Store.Read(context.Background(), func(tx *store.Tx) error {
		rows, err := tx.Query(
			`SELECT sender || '>' || receiver || ' ' || record FROM task_messages m JOIN tasks t ON t.n = m.task
				WHERE t.id = ? ORDER BY m.n`, id)
		list, err = store.Collect(rows, err, store.Column[string])
		return err
	}))
	return list
}

// last is the last message of that record.
func last[T any](n *node, id, record string) (v T) {
	n.Helper()
	raw := one[string](n, `SELECT message FROM task_messages m JOIN tasks t ON t.n = m.task WHERE t.id = ?
		AND record = ? ORDER BY m.n DESC LIMIT 1`, id, record)
	require.NoError(n, json.Unmarshal([]byte(raw), &v))
	return v
}

// inputs are what a seat is told.
func inputs(n *node, w work.Claimed) (in map[string]any) {
	n.Helper()
	require.NoError(n, json.Unmarshal(w.Brief.Inputs, &in))
	return in
}
