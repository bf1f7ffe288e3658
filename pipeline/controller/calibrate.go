package controller

import (
	"fmt"
	"slices"

	"cordelia/memory"
	"cordelia/pipeline"
	"cordelia/schemas"
)

// recall asks memory what it says of a task like this one now. What the task itself
// taught is for its directives to use.
func (u *taskTx) recall() ([]pipeline.Constraint, error) {
	lessons, err := memory.RecallLessons(u.g, u.t.scope(), u.t.spec.Intent, 0)
	if err != nil {
		return nil, fmt.Errorf("recall: %w", err)
	}
	var entries []pipeline.Remembered
	for _, l := range lessons {
		if l.TaskID != u.t.id {
			entries = append(entries, pipeline.Remembered{MemoryEntry: l.MemoryEntry, Vouched: l.Vouched,
				Released: l.Released})
		}
	}
	return pipeline.Calibrate(u.t.spec.Intent, entries, u.t.tools, u.g.Tx().Now()), nil
}

// calibrate asks memory what binds the next plan, beside what bound those before, and
// tells R2.
func (u *taskTx) calibrate(all []round) ([]pipeline.Constraint, error) {
	now, err := u.recall()
	if err != nil {
		return nil, err
	}
	var known []pipeline.Constraint
	if len(all) > 0 {
		if known, err = u.standing(all[len(all)-1].constraints); err != nil {
			return nil, err
		}
	}
	for _, c := range now {
		same := func(k pipeline.Constraint) bool {
			return k.Approach == c.Approach && (k.Kind == c.Kind || k.Kind == pipeline.MustNot)
		}
		if !slices.ContainsFunc(known, same) {
			known = append(known, c)
		}
	}
	return known, u.constrain(schemas.Planner, known)
}

// failedAgain says of the approaches that failed in this task, as they did in one before, how a
// person makes that binding: lessons alone only advise.
func (u *taskTx) failedAgain() (moves []string, err error) {
	now, err := u.recall()
	for _, c := range now {
		if c.Discourages() && slices.Contains(u.t.trail.Taught, c.Approach) {
			moves = append(moves, c.Release())
		}
	}
	return moves, err
}

// standing drops the MUST NOTs whose lesson was taken away since, or is not released by a
// person: also of tasks that began when two failed tasks were enough.
func (u *taskTx) standing(constraints []pipeline.Constraint) ([]pipeline.Constraint, error) {
	var lessons []schemas.ItemID
	for _, c := range constraints {
		if c.Kind == pipeline.MustNot {
			lessons = append(lessons, schemas.ItemID(c.Source))
		}
	}
	if len(lessons) == 0 {
		return slices.Clone(constraints), nil
	}
	there, err := memory.StandingLessons(u.g, u.t.scope(), lessons)
	if err != nil {
		return nil, fmt.Errorf("recall: %w", err)
	}
	return slices.DeleteFunc(slices.Clone(constraints), func(c pipeline.Constraint) bool {
		return c.Kind == pipeline.MustNot && !slices.Contains(there, schemas.ItemID(c.Source))
	}), nil
}

// constrain tells a role what memory says.
func (u *taskTx) constrain(to schemas.PipelineRole, constraints []pipeline.Constraint) error {
	if len(constraints) == 0 {
		return nil
	}
	sources, never := []string{}, []string{}
	for _, c := range constraints {
		sources = append(sources, c.Source)
		if c.Kind == pipeline.MustNot {
			never = append(never, c.Approach)
		}
	}
	return u.say(message{from: schemas.SharedMemory, to: to, record: recordConstraints,
		body: map[string]any{"constraints": sentences(constraints), "sources": sources, "must_not": never}})
}

// sentences are constraints with the words of their lessons, for R2 and R4b.
func sentences(constraints []pipeline.Constraint) []string {
	list := []string{}
	for _, c := range constraints {
		list = append(list, c.String())
	}
	return list
}
