package pipeline

import (
	"encoding/json"
	"slices"
	"strings"

	"cordelia/schemas"
)

// perceiver: R1 derives no criteria and plans nothing.
func (l *taskLog) perceiver(Watch) {
	for _, e := range l.of(recordTaskSpec) {
		var spec map[string]json.RawMessage
		if json.Unmarshal(e.Message, &spec) != nil {
			continue
		}
		for _, field := range []string{"success_criteria", "task_criteria", "subtasks"} {
			if _, there := spec[field]; there {
				l.breach(e, "R1 sent %s with its TaskSpec: that is R2's to derive", field)
			}
		}
	}
}

// intent: R1's intent keeps the words of the request and of the user's answers.
func (l *taskLog) intent(Watch) {
	type answers struct{ Answers string }
	for _, spec := range each[schemas.TaskSpec](l, recordTaskSpec) {
		userWords := []string{spec.body.RawInput}
		for _, a := range before(l, each[answers](l, recordAnswers), spec.AuditEvent) {
			userWords = append(userWords, a.body.Answers)
		}
		if d, ok := Depart(spec.body.Intent, userWords...); !ok {
			l.breach(spec.AuditEvent, "the intent %s shares less than half of its words with what the user said; it "+
				"lacks %s", quote(spec.body.Intent), quote(strings.Join(d.Missing, ", ")))
		}
	}
}

// bounds is what a plan sent at a moment is checked against: what directives blocked and
// memory forbade until then, in this task.
func (l *taskLog) bounds(at schemas.AuditEvent) (b Brief) {
	for _, d := range before(l, each[schemas.PlanDirective](l, recordDirective), at) {
		b.BlockedTools = union(b.BlockedTools, d.body.BlockedTools)
		b.BlockedTargets = union(b.BlockedTargets, d.body.BlockedTargets)
	}
	type constraints struct {
		MustNot []string `json:"must_not"`
	}
	for _, c := range before(l, each[constraints](l, recordConstraints), at) {
		b.BlockedTargets = union(b.BlockedTargets, slices.DeleteFunc(slices.Clone(c.body.MustNot),
			func(s string) bool { return !isApproach(s) }))
	}
	return b
}

// planner: R2 keeps to MUST NOT, and under a directive it changes its plan.
func (l *taskLog) planner(Watch) {
	for _, s := range each[schemas.SubTask](l, recordSubTask) {
		b := l.bounds(s.AuditEvent)
		for _, tool := range s.body.Tools {
			if hasTool(b.BlockedTools, tool) {
				l.breach(s.AuditEvent, "R2 dispatched a subtask with tool %q, which was forbidden by then", tool)
			}
		}
		text := allWords(s.body.PlannedSubTask)
		for _, ban := range b.bans() {
			if hasTool(s.body.Tools, ban.tool) && mentions(text, ban.input) {
				l.breach(s.AuditEvent, "R2 dispatched a subtask with tool %q on %s, which was forbidden by then",
					ban.tool, quote(ban.input))
			}
		}
	}
	manifests := each[schemas.DispatchManifest](l, recordManifest)
	directives := each[schemas.PlanDirective](l, recordDirective)
	for i, m := range manifests {
		plan := l.plan(m)
		for _, earlier := range manifests[:i] {
			was := l.plan(earlier)
			last := before(l, directives, m.AuditEvent)
			switch {
			case identity(plan) == identity(was):
				l.breach(m.AuditEvent, "the plan of round %d is that of round %d, which failed", m.Round, earlier.Round)
			case len(last) > 0 && last[len(last)-1].body.Directive == schemas.BreakSymmetry &&
				atLeast(Likeness(plan, was), nearlyTheSame):
				l.breach(m.AuditEvent, "R7 asked to break symmetry, and the plan of round %d is %.0f %% like that "+
					"of round %d", m.Round, 100*Likeness(plan, was), earlier.Round)
			}
		}
	}
}

// plan puts a round's plan together from what was dispatched.
func (l *taskLog) plan(m sent[schemas.DispatchManifest]) schemas.Plan {
	p := schemas.Plan{TaskCriteria: m.body.TaskCriteria}
	for _, s := range each[schemas.SubTask](l, recordSubTask) {
		if s.Round == m.Round {
			p.SubTasks = append(p.SubTasks, s.body.PlannedSubTask)
		}
	}
	return p
}

// dispatched finds the subtask that a message is about.
func (l *taskLog) dispatched(e schemas.AuditEvent, id string) (schemas.SubTask, bool) {
	list := before(l, each[schemas.SubTask](l, recordSubTask), e)
	at := slices.IndexFunc(list, func(s sent[schemas.SubTask]) bool { return s.body.SubTaskID == id })
	if at < 0 {
		return schemas.SubTask{}, false
	}
	return list[at].body, true
}

// executor: R3 reports on its own subtask, with the tools that were planned, and on
// nothing that is forbidden.
func (l *taskLog) executor(Watch) {
	for _, r := range each[schemas.ExecutionResult](l, recordResult) {
		switch _, known := l.dispatched(r.AuditEvent, r.body.SubTaskID); {
		case r.body.SubTaskID != r.SubTaskID || r.body.TaskID != r.TaskID:
			l.breach(r.AuditEvent, "R3 sat in subtask %q and reported on subtask %q of task %q", r.SubTaskID,
				r.body.SubTaskID, r.body.TaskID)
		case !known:
			l.breach(r.AuditEvent, "R3 reported on subtask %q, which no role had dispatched", r.body.SubTaskID)
		}
		b := l.bounds(r.AuditEvent)
		targets := Brief{BlockedTargets: b.BlockedTargets}
		for _, call := range slices.Concat(r.body.ToolCalls, r.body.Unplanned) {
			if hasTool(b.BlockedTools, call.Tool) {
				l.breach(r.AuditEvent, "R3 used tool %q, which was forbidden by then", ToolName(call.Tool))
			} else if len(targets.Breaches([]schemas.Evidence{call})) > 0 {
				l.breach(r.AuditEvent, "R3 used tool %q on %s, which was forbidden by then", ToolName(call.Tool),
					quote(call.Input))
			}
		}
		for _, call := range r.body.Unplanned {
			l.breach(r.AuditEvent, "R3 used tool %s, which its subtask had not planned: that is no evidence",
				quote(ToolName(call.Tool)))
		}
	}
}

// validator: R4a judges the criteria of its subtask, all of them and no others, and
// lets none pass by its word alone.
func (l *taskLog) validator(Watch) {
	for _, o := range each[schemas.SubTaskOutcome](l, recordOutcome) {
		sub, known := l.dispatched(o.AuditEvent, o.body.SubTaskID)
		if !known || o.body.SubTaskID != o.SubTaskID {
			l.breach(o.AuditEvent, "R4a sat at subtask %q and gave an outcome of subtask %q", o.SubTaskID,
				o.body.SubTaskID)
			continue
		}
		for _, v := range o.body.CriteriaVerdicts {
			if !slices.ContainsFunc(sub.SuccessCriteria,
				func(c schemas.Criterion) bool { return c.Criterion == v.Criterion }) {
				l.breach(o.AuditEvent, "R4a gave a verdict on %s, which is no criterion of the subtask",
					quote(v.Criterion))
			}
			if v.Verdict == schemas.Pass && strings.TrimSpace(v.Evidence) == "" {
				l.breach(o.AuditEvent, "R4a let %s pass without evidence", quote(v.Criterion))
			}
		}
		for _, c := range sub.SuccessCriteria {
			if !slices.ContainsFunc(o.body.CriteriaVerdicts,
				func(v schemas.CriterionVerdict) bool { return v.Criterion == c.Criterion }) {
				l.breach(o.AuditEvent, "R4a gave no verdict on %s", quote(c.Criterion))
			}
		}
		if o.body.Status == schemas.Matched && !AllPass(o.body.CriteriaVerdicts) {
			l.breach(o.AuditEvent, "R4a reported a match, and not every criterion passed")
		}
	}
}

// merged is what of a merge the auditor reads.
type merged struct {
	Verdicts []schemas.CriterionVerdict `json:"verdicts"`
	Checks   []schemas.Evidence         `json:"checks"`
}

// metaValidator: R4b accepts no failed result, and is not asked while a subtask has failed.
func (l *taskLog) metaValidator(Watch) {
	merges := each[merged](l, recordMerge)
	for _, m := range merges {
		if g, ok := l.gathered(m.AuditEvent); ok && len(g.Failed) > 0 {
			l.breach(m.AuditEvent, "R4b merged round %d, in which subtask %s failed", m.Round, g.Failed[0])
		}
		if m.To == "" && !NoneFailed(m.body.Verdicts) {
			l.breach(m.AuditEvent, "R4b took the merge of round %d, and a criterion of the task failed", m.Round)
		}
	}
	for _, f := range each[schemas.FinalResult](l, recordFinal) {
		if f.body.Result != schemas.ResultAccepted {
			continue
		}
		if g, ok := l.gathered(f.AuditEvent); ok && len(g.Failed) > 0 {
			l.breach(f.AuditEvent, "R4b accepted the task, and subtask %s of round %d failed", g.Failed[0], f.Round)
		}
		last := before(l, merges, f.AuditEvent)
		if held := l.held(f, last); held != "" && (f.Actor == "" || schemas.IsAgentID(string(f.Actor)) ||
			f.Actor == nodeActor) {
			l.breach(f.AuditEvent, "R4b accepted the task without a person, and no call proves %s", quote(held))
		}
		if len(last) == 0 || last[len(last)-1].Round != f.Round || last[len(last)-1].To != "" {
			l.breach(f.AuditEvent, "R4b accepted the task without a merge of round %d that passed", f.Round)
		}
	}
}

// nodeActor is the actor of what code did.
const nodeActor schemas.EntityID = "node"

// held is a criterion of the round of a result that waits for a person, "" if there is
// none; merges are those before it.
func (l *taskLog) held(f sent[schemas.FinalResult], merges []sent[merged]) string {
	var verdicts []schemas.CriterionVerdict
	if g, ok := l.gathered(f.AuditEvent); ok {
		for _, o := range g.Counted {
			verdicts = append(verdicts, o.CriteriaVerdicts...)
		}
	}
	if len(merges) > 0 {
		verdicts = append(verdicts, merges[len(merges)-1].body.Verdicts...)
	}
	for _, v := range Unproven(verdicts) {
		return v.Criterion
	}
	return ""
}

// gathered is what fan-in made of the round of a message, from what came before it.
func (l *taskLog) gathered(e schemas.AuditEvent) (Gathered, bool) {
	manifests := before(l, each[schemas.DispatchManifest](l, recordManifest), e)
	at := slices.IndexFunc(manifests, func(m sent[schemas.DispatchManifest]) bool { return m.Round == e.Round })
	if at < 0 {
		return Gathered{}, false
	}
	var outcomes []schemas.SubTaskOutcome
	for _, o := range before(l, each[schemas.SubTaskOutcome](l, recordOutcome), e) {
		outcomes = append(outcomes, o.body)
	}
	return FanIn(manifests[at].body, outcomes), true
}

// solver: R7 acts on a ReplanRequest, once for each, and nothing is abandoned but by
// it.
func (l *taskLog) solver(Watch) {
	requests := each[schemas.ReplanRequest](l, recordRequest)
	directives := each[schemas.PlanDirective](l, recordDirective)
	for i, d := range directives {
		asked := func(s sent[schemas.ReplanRequest]) bool { return s.body.Round == d.body.Round }
		again := func(s sent[schemas.PlanDirective]) bool {
			return s.body.Round == d.body.Round && s.body.Directive != schemas.Abandon
		}
		switch {
		case d.body.Directive == schemas.Abandon: // also where no round can begin
		case !slices.ContainsFunc(before(l, requests, d.AuditEvent), asked):
			l.breach(d.AuditEvent, "R7 gave directive %s for round %d, which no role had asked for", d.body.Directive,
				d.body.Round)
		case slices.ContainsFunc(directives[:i], again):
			l.breach(d.AuditEvent, "R7 gave a second directive for round %d", d.body.Round)
		}
	}
	for _, f := range each[schemas.FinalResult](l, recordFinal) {
		given := before(l, directives, f.AuditEvent)
		abandons := len(given) > 0 && given[len(given)-1].body.Directive == schemas.Abandon
		if f.body.Result == schemas.ResultAbandoned && !abandons {
			l.breach(f.AuditEvent, "the task was abandoned, and R7 had not said so")
		}
	}
}
