package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"cordelia/schemas"
)

// play runs a trial through the node and beside it.
func (h *house) play(ctx context.Context, t *trial) (v verdict, err error) {
	v = verdict{machine: t.machine(), holistic: map[string]bool{}}
	for _, threshold := range thresholds() {
		for _, checked := range []bool{false, true} {
			v.holistic[rival(threshold, checked)] = t.holistic(threshold, checked)
		}
	}
	v.ours, v.held, err = h.gate(ctx, t)
	if err != nil {
		err = fmt.Errorf("%s, %d checked, seed %d: %w", t.fault.name, t.checked, t.seed, err)
	}
	return v, err
}

// gate reports whether the node accepts the task, or leaves it to a person.
func (h *house) gate(ctx context.Context, t *trial) (ours, held bool, err error) {
	name := fmt.Sprintf("t%d", t.seed)
	folder := filepath.Join(h.files, name)
	if err := t.prepare(folder); err != nil {
		return false, false, err
	}
	if err := h.hire(ctx, name); err != nil {
		return false, false, err
	}
	id, err := h.begin(ctx, t, name)
	if err != nil {
		return false, false, err
	}
	for attempt := range attempts {
		if more, err := h.attempt(ctx, t, folder, attempt); err != nil || !more {
			if err != nil {
				return false, false, err
			}
			break
		}
	}
	merged, err := h.merge(ctx, t)
	if err != nil {
		return false, false, err
	}
	var out struct {
		Task struct{ State schemas.TaskState }
	}
	if err := h.call(ctx, h.person, "task_status", args{"task_id": id}, &out); err != nil {
		return false, false, err
	}
	switch state := out.Task.State; {
	case state == schemas.TaskAccepted:
		return true, false, nil
	case state == schemas.TaskReview:
		held = true
	case merged && !t.fault.whole || state != schemas.TaskPlanning:
		return false, false, fmt.Errorf("the task is %s", state)
	}
	return false, held, h.call(ctx, h.person, "task_cancel", args{"task_id": id}, nil)
}

// merge has the seat that merges filled, if there is one: by the executor where it asks
// for that and gets it, else by an agent that sees what is unmet of the whole.
func (h *house) merge(ctx context.Context, t *trial) (merged bool, err error) {
	who, honest := h.planner, t.fault.whole
	var s *seat
	if t.fault.trick == merging {
		if s, err = h.claim(ctx, h.doers[0], schemas.MetaValidator); err != nil {
			return false, err
		}
		if s != nil {
			who, honest = h.doers[0], false
		}
	}
	if s == nil {
		if s, err = h.claim(ctx, who, schemas.MetaValidator); err != nil || s == nil {
			return false, err
		}
	}
	verdicts := passes(s.Brief.Criteria)
	if honest {
		verdicts = []args{fail(wholeCriterion)}
	}
	return true, h.report(ctx, who, s, "done", args{"result": args{"output": "12 m", "verdicts": verdicts}})
}

// wholeCriterion is the criterion of a whole task.
const wholeCriterion = "one length is stated"

// begin submits a task and plans it.
func (h *house) begin(ctx context.Context, t *trial, name string) (id string, err error) {
	var out struct {
		TaskID string `json:"task_id"`
	}
	if err := h.call(ctx, h.lead, "task_submit", args{"request": "How long is bridge " + name + "?",
		"intent": "find out how long bridge " + name + " is", "tools": []string{t.tool()}}, &out); err != nil {
		return "", err
	}
	var list []args
	for c := range criteria {
		one := args{"criterion": criterion(c), "mode": "verifiable"}
		switch {
		case c < t.checked:
			one["check"] = checkOf(name, c)
		case t.fault.recorded:
			one["command"] = commandOf(c)
		}
		list = append(list, one)
	}
	s, err := h.claim(ctx, h.planner, schemas.Planner)
	if err != nil || s == nil {
		return "", fmt.Errorf("there is nothing to plan: %w", err)
	}
	return out.TaskID, h.report(ctx, h.planner, s, "done", args{"result": args{
		"subtasks": []args{{"intent": "measure the spans of " + name, "sequence": 1, "tools": []string{t.tool()},
			"success_criteria": list}},
		"task_criteria": []string{wholeCriterion}}})
}

// attempt has one executor and the judge do an attempt; more is false if there is
// none to do.
func (h *house) attempt(ctx context.Context, t *trial, folder string, attempt int) (more bool, err error) {
	if attempt > 0 && t.fault.left == earlier {
		time.Sleep(pause)
	}
	doer := h.doers[0]
	s, err := h.claim(ctx, doer, schemas.Executor)
	if err != nil || s == nil {
		return false, err
	}
	lost := s
	if t.fault.trick == late {
		if err := h.report(ctx, doer, s, "released", nil); err != nil {
			return false, err
		}
		doer = h.doers[1]
		if s, err = h.claim(ctx, doer, schemas.Executor); err != nil || s == nil {
			return false, fmt.Errorf("what was given back is not there: %w", err)
		}
	}
	if err := t.execute(folder, attempt); err != nil {
		return false, err
	}
	if t.fault.recorded {
		if err := h.record(ctx, s, t.recorded(attempt)); err != nil {
			return false, err
		}
	}
	if err := h.report(ctx, doer, s, "done", t.result(attempt)); err != nil {
		return false, err
	}
	switch t.fault.trick {
	case twice:
		err = h.again(ctx, doer, s, better())
	case late:
		err = h.again(ctx, h.doers[0], lost, better())
	}
	if err != nil {
		return false, err
	}
	if t.fault.trick == family {
		if done, err := h.collude(ctx); err != nil || done {
			return true, err
		}
	}
	j, err := h.claim(ctx, h.judge, schemas.AgentValidator)
	if err != nil || j == nil {
		return true, err // machine checks decided
	}
	if err := h.report(ctx, h.judge, j, "done",
		args{"result": args{"verdicts": t.verdicts(attempt), "what_to_do": "measure again"}}); err != nil {
		return false, err
	}
	if t.fault.trick == twice {
		return true, h.again(ctx, h.judge, j, args{"result": args{"verdicts": passes(j.Brief.Criteria)}})
	}
	return true, nil
}

// collude has an agent of the executor's own judge, if it gets the seat.
func (h *house) collude(ctx context.Context) (done bool, err error) {
	s, err := h.claim(ctx, h.child, schemas.AgentValidator)
	if err != nil || s == nil {
		return false, err
	}
	return true, h.report(ctx, h.child, s, "done", args{"result": args{"verdicts": passes(s.Brief.Criteria)}})
}

// result is what the executor says of an attempt.
func (t *trial) result(attempt int) args {
	calls := []args{}
	for c := range criteria {
		if t.fault.shows == nothing {
			break
		}
		call := args{"tool": t.tool(), "input": criterion(c), "exit": 0, "head": "12 m"}
		if t.fault.recorded {
			call["input"] = commandOf(c)
		}
		if t.looks(c, attempt) == shown || t.fault.shows == failed && t.faulty(c, attempt) {
			call["exit"], call["head"] = 1, "the tape does not reach"
		}
		if t.fault.shows == quiet {
			call["exit"] = 0
		}
		calls = append(calls, call)
	}
	return args{"result": args{"metres": 12, "attempt": attempt}, "evidence": calls}
}

func better() args {
	return args{"result": args{"metres": 12, "sure": true},
		"evidence": []args{{"tool": "tape", "input": "all", "exit": 0, "head": "12 m, 12 m, 12 m"}}}
}

// verdicts are the judge's, on the criteria without a check.
func (t *trial) verdicts(attempt int) (list []args) {
	list = []args{}
	for c := t.checked; c < criteria; c++ {
		faulty, v := t.faulty(c, attempt), pass(criterion(c))
		fail := fail(criterion(c))
		switch {
		case t.fault.trick == silent && faulty:
			continue
		case t.fault.trick == contradict && faulty:
			list = append(list, v, fail)
			continue
		case t.fault.trick != lying && t.scores[attempt][c] < passAt:
			v = fail
		}
		list = append(list, v)
	}
	return list
}

func pass(criterion string) args {
	return args{"criterion": criterion, "verdict": "pass", "evidence": "tape:" + criterion + " → 12 m"}
}

func fail(criterion string) args {
	return args{"criterion": criterion, "verdict": "fail", "failure_class": "logical",
		"evidence": "the tape does not reach"}
}

func passes(list []string) (out []args) {
	for _, c := range list {
		out = append(out, pass(c))
	}
	return out
}
