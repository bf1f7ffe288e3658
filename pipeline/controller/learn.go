package controller

import (
	"fmt"
	"slices"
	"strings"

	"cordelia/memory"
	"cordelia/pipeline"
	"cordelia/schemas"
)

// learn keeps what a directive made of the round: tools that failed as an approach
// (R2's lesson, for R5).
func (u *turn) learn(d schemas.PlanDirective, before pipeline.Trail, r schemas.ReplanRequest) error {
	var avoid []string
	for _, o := range r.Outcomes {
		if !slices.ContainsFunc(o.CriteriaVerdicts, func(v schemas.CriterionVerdict) bool {
			return v.Verdict != schemas.Pass && v.FailureClass == schemas.Logical
		}) {
			continue
		}
		for _, call := range o.ToolCalls {
			newly := slices.Contains(d.BlockedTools, call.Tool) && !slices.Contains(before.BlockedTools, call.Tool)
			if newly && slices.Contains(u.t.tools, call.Tool) && !slices.Contains(avoid, call.Tool) {
				avoid = append(avoid, call.Tool)
			}
		}
	}
	if avoid == nil {
		return nil
	}
	return u.write(schemas.Planner, schemas.MemoryEntry{Type: schemas.Procedural, Tags: []string{string(d.Directive)},
		Content: schemas.Lesson{Intent: u.t.spec.Intent, Lesson: schemas.Shorten(r.GapSummary, 500), Avoid: avoid}})
}

// byMemory names the entries that forbid tools: who takes one back lifts that.
func byMemory(constraints []pipeline.Constraint) string {
	var sources []string
	for _, c := range constraints {
		if c.Kind == pipeline.MustNot && !slices.Contains(sources, c.Source) {
			sources = append(sources, c.Source)
		}
	}
	if sources == nil {
		return ""
	}
	return ", by memory " + strings.Join(sources, ", ")
}

// remember keeps what worked (R4b's entry, for R5).
func (u *turn) remember(f schemas.FinalResult) error {
	subs, err := subtasks(u.g, u.t)
	if err != nil {
		return err
	}
	var prefer []string
	for _, s := range subs {
		for _, call := range s.outcome.ToolCalls {
			if call.Exit == 0 && slices.Contains(u.t.tools, call.Tool) && !slices.Contains(prefer, call.Tool) {
				prefer = append(prefer, call.Tool)
			}
		}
	}
	if prefer == nil {
		return nil
	}
	all, err := rounds(u.g, u.t)
	if err != nil {
		return err
	}
	return u.write(schemas.MetaValidator, schemas.MemoryEntry{Type: schemas.Episodic, Tags: []string{string(f.Result)},
		Content: schemas.Lesson{Intent: u.t.spec.Intent, Lesson: schemas.Shorten("worked: "+inShort(all[len(all)-1].plan), 500), Prefer: prefer}})
}

// write hands an entry to the shared memory. What that cannot keep is lost with no
// harm to the task.
func (u *turn) write(from schemas.PipelineRole, e schemas.MemoryEntry) error {
	e.EntryID, e.TaskID, e.Timestamp = schemas.NewID(), u.t.id, stamp(u.g.Tx().Micros())
	if err := memory.Learn(u.g, u.t.scope(), e); err != nil {
		if _, refused := refusal(err); refused {
			return nil
		}
		return fmt.Errorf("learn: %w", err)
	}
	return u.say(message{from: from, to: schemas.SharedMemory, record: "MemoryEntry", body: e})
}
