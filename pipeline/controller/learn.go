package controller

import (
	"fmt"
	"slices"

	"cordelia/memory"
	"cordelia/pipeline"
	"cordelia/schemas"
)

// How much of a lesson's words is the summary of the gap or the plan, in bytes.
const maxTaught = 500

// learn keeps what a failed round taught (R2's entry, for R5): the approaches that failed
// logically, or what stood in the way from outside. A task that is abandoned leaves an
// entry in any case.
func (u *taskTx) learn(d schemas.PlanDirective, r schemas.ReplanRequest) error {
	avoid := slices.DeleteFunc(pipeline.FailedApproaches(r.Outcomes, r.TaskVerdicts, u.t.tools), func(s string) bool {
		return slices.Contains(u.t.trail.Taught, s)
	})
	verdicts := verdictsOf(r.Outcomes, r.TaskVerdicts)
	outside := slices.ContainsFunc(verdicts, func(v schemas.CriterionVerdict) bool {
		return v.Failed() && v.FailureClass == schemas.Environmental
	})
	tags := []string{string(d.Directive)}
	if d.Directive == schemas.Abandon {
		tags[0] = string(schemas.ResultAbandoned)
	}
	if outside {
		tags = append(tags, string(schemas.Environmental))
	}
	if len(avoid) == 0 && !outside && d.Directive != schemas.Abandon {
		return nil
	}
	u.t.trail.Taught = append(u.t.trail.Taught, avoid...)
	return u.write(schemas.Planner, schemas.MemoryEntry{Type: schemas.Procedural, Tags: tags,
		Content: schemas.Lesson{Intent: u.t.spec.Intent, Lesson: schemas.Shorten("failed: "+r.GapSummary, maxTaught),
			Avoid: avoid, Verdicts: verdicts}})
}

// remember keeps what worked (R4b's entry, for R5).
func (u *taskTx) remember(f schemas.FinalResult) error {
	subs, err := subtasks(u.g, u.t)
	if err != nil {
		return err
	}
	all, err := rounds(u.g, u.t)
	if err != nil {
		return err
	}
	outcomes := make([]schemas.SubTaskOutcome, len(subs))
	for i, s := range subs {
		outcomes[i] = s.outcome
	}
	now := all[len(all)-1]
	var whole []schemas.CriterionVerdict
	if now.merge != nil {
		whole = now.merge.Verdicts
	}
	return u.write(schemas.MetaValidator, schemas.MemoryEntry{Type: schemas.Episodic, Tags: []string{string(f.Result)},
		Content: schemas.Lesson{Intent: u.t.spec.Intent,
			Lesson: schemas.Shorten("worked: "+inShort(now.plan), maxTaught),
			Prefer: pipeline.WorkedApproaches(outcomes, u.t.tools), Verdicts: verdictsOf(outcomes, whole)}})
}

// maxVerdicts is how many verdicts a lesson holds; those that failed come first.
const maxVerdicts = 20

// verdictsOf are the verdicts of a round, on the whole and on its subtasks.
func verdictsOf(outcomes []schemas.SubTaskOutcome, whole []schemas.CriterionVerdict) []schemas.CriterionVerdict {
	list := slices.Clone(whole)
	for _, o := range outcomes {
		list = append(list, o.CriteriaVerdicts...)
	}
	slices.SortStableFunc(list, func(a, b schemas.CriterionVerdict) int { return passed(a) - passed(b) })
	return list[:min(len(list), maxVerdicts)]
}

func passed(v schemas.CriterionVerdict) int {
	if v.Verdict == schemas.Pass {
		return 1
	}
	return 0
}

// write hands an entry to the shared memory. What that cannot keep is lost with no
// harm to the task.
func (u *taskTx) write(from schemas.PipelineRole, e schemas.MemoryEntry) error {
	e.EntryID, e.TaskID, e.Timestamp = schemas.NewID(), u.t.id, stamp(u.g.Tx().Micros())
	if e.Content.Intent == "" { // R1 gave none
		e.Content.Intent = u.t.request
	}
	if err := memory.Learn(u.g, u.t.scope(), e); err != nil {
		if _, refused := refusal(err); refused {
			return nil
		}
		return fmt.Errorf("learn: %w", err)
	}
	return u.say(message{from: from, to: schemas.SharedMemory, record: "MemoryEntry", body: e})
}
