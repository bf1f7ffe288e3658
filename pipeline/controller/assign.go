package controller

import (
	"fmt"

	"cordelia/access"
	"cordelia/pipeline"
	"cordelia/schemas"
)

// Assigner knows by which rules groups work, and who of them is there.
type Assigner interface {
	// Team gives the zero Team for a group without rules.
	Team(g access.Grant, group schemas.GroupID) (pipeline.Team, error)
}

// place is where a seat waits for an agent to fill it.
type place struct {
	cell  schemas.GroupID  // "" = where the task is
	to    schemas.EntityID // "" = any agent of the group
	apart bool             // in the task's group only the agent that takes it sees it
}

// team is that of the task's group as it is now.
func (u *taskTx) team() (pipeline.Team, error) { return u.c.teamOf(u.g, u.t.group) }

func (c *Controller) teamOf(g access.Grant, group schemas.GroupID) (t pipeline.Team, err error) {
	if group == "" {
		return t, nil
	}
	if t, err = c.assigner.Team(g, group); err != nil {
		return t, fmt.Errorf("ask who is in %s: %w", group, err)
	}
	return t, nil
}

// leading is where the seats are that look over the whole task: the coordinator's, where
// members see their own part alone.
func leading(t pipeline.Team) place {
	if !t.Apart() {
		return place{}
	}
	return place{to: t.Lead.ID, apart: true}
}

// executes gives the place for the seat of a subtask's executor. If the agent it was planned
// for has gone, the seat goes to the coordinator, who does it or assigns it.
func (u *taskTx) executes(t pipeline.Team, s schemas.PlannedSubTask, barred []schemas.EntityID) (place, error) {
	spot, _, wrong := t.SpotOf(s)
	if wrong == "" {
		return place{spot.Cell, spot.To, t.Apart() && spot.Cell == ""}, nil
	}
	return u.coordinates(t, barred)
}

// judges is where the outcome of a subtask is judged: in a hierarchical swarm by the coordinator,
// unless it stands above or below the executor; elsewhere by any free agent.
func (u *taskTx) judges(t pipeline.Team, barred []schemas.EntityID) (place, error) {
	if t.Strategy == schemas.Hierarchical {
		return u.coordinates(t, barred)
	}
	return place{apart: t.Apart()}, nil
}

// merges is where a round is merged: where the whole task is overseen, unless the
// coordinator executed in it or stands above or below an executor.
func (u *taskTx) merges(t pipeline.Team, barred []schemas.EntityID) (place, error) {
	if !t.Apart() {
		return place{}, nil
	}
	return u.coordinates(t, barred)
}

// coordinates gives a place for the coordinator or, if it is barred, for any member of the
// swarm.
func (u *taskTx) coordinates(t pipeline.Team, barred []schemas.EntityID) (place, error) {
	for _, id := range barred {
		if near, err := u.g.OneLine(t.Lead.ID, id); err != nil || near {
			return place{apart: t.Apart()}, err
		}
	}
	return leading(t), nil
}

// handedOn are the finished subtasks whose outputs go to another.
func handedOn(t pipeline.Team, subs []*subtask, to *subtask) (list []*subtask) {
	for _, s := range subs {
		if s.sequence < to.sequence && s.state == schemas.SubTaskMatched && t.HandsOn(s.planned, to.planned) {
			list = append(list, s)
		}
	}
	return list
}

// bounds words for R3 what it is checked against: of a lesson the rule and its source, not
// its words, which are for R2 and R4b.
func (u *taskTx) bounds() ([]string, error) {
	b, err := u.binding()
	if err != nil {
		return nil, err
	}
	constraints := b.Constraints
	b.Constraints = nil
	out := limits(b)
	for _, c := range constraints {
		out = append(out, fmt.Sprintf("%s (memory %s)", c.Rule(), c.Source))
	}
	return out, nil
}

// member is an agent of the team, as R2 sees it.
type member struct {
	Name string `json:"name"`
	Slot string `json:"slot,omitempty"`
}

// roster lists those a planner may assign work to.
func roster(t pipeline.Team) (list []member) {
	if t.Strategy != schemas.Hierarchical {
		return nil
	}
	for _, m := range t.Members {
		list = append(list, member{m.Name, m.Slot})
	}
	return list
}

// planning says how the planner of a team places its subtasks.
func planning(t pipeline.Team) string {
	switch t.Strategy {
	case schemas.Hierarchical:
		return plannerIntent + " Name in assigned_to who does each subtask: one of brief.inputs.members."
	case schemas.InPipeline:
		return plannerIntent + " Name in role the stage that does each subtask: one of brief.inputs.stages, later " +
			"ones with a higher sequence. " +
			"A stage gets what came out of the one before it, and nothing of any other."
	}
	return plannerIntent
}

// example is a plan that has the form of what is asked for.
func example(t pipeline.Team, tool string) schemas.Plan {
	p := examplePlan(tool)
	switch stages := t.Stages(); {
	case len(stages) > 0:
		p.SubTasks[0].Role = stages[0]
	case t.Strategy == schemas.Hierarchical && len(t.Members) > 0:
		p.SubTasks[0].AssignedTo = t.Members[0].Name
	}
	return p
}
