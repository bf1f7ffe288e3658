package pipeline

import (
	"slices"
	"strconv"
	"strings"

	"cordelia/schemas"
)

// Team is the rules of a group and its present members. The zero Team is that of a group
// without rules: any member may do its work.
type Team struct {
	Strategy schemas.Strategy
	Lead     Member // the coordinator; without an id there is none
	Members  []Member
}

// Member is an agent of a team that can be given work.
type Member struct {
	ID    schemas.EntityID
	Name  string
	Slot  string          // of a pipeline, the stage
	Stage int             // from 1, 0 = none
	Cell  schemas.GroupID // where it works, "" = in the team's own group
}

// Spot is where a subtask is done.
type Spot struct {
	Cell schemas.GroupID  // "" = where the team works
	To   schemas.EntityID // "" = any agent of the group
}

// Apart reports whether members see their own part of a task alone.
func (t Team) Apart() bool {
	return t.Strategy == schemas.InPipeline || t.Strategy == schemas.Hierarchical
}

// Stages lists the names of the stages, in order.
func (t Team) Stages() (list []string) {
	if t.Strategy != schemas.InPipeline {
		return nil
	}
	sorted := slices.SortedFunc(slices.Values(t.Members), func(a, b Member) int { return a.Stage - b.Stage })
	for _, m := range sorted {
		if m.Stage > 0 && !slices.Contains(list, m.Slot) {
			list = append(list, m.Slot)
		}
	}
	return list
}

// Named lists the members by name.
func (t Team) Named() (list []string) {
	for _, m := range t.Members {
		list = append(list, m.Name)
	}
	return list
}

// StageOf is the number of a stage, 0 if there is none of that name.
func (t Team) StageOf(role string) int {
	for _, m := range t.Members {
		if t.Strategy == schemas.InPipeline && m.Slot == role && role != "" {
			return m.Stage
		}
	}
	return 0
}

// HandsOn reports whether what came out of one subtask goes to another of a higher
// sequence: in a pipeline from a stage to itself and to the next, elsewhere as the
// plan says.
func (t Team) HandsOn(from, to schemas.PlannedSubTask) bool {
	if t.Strategy != schemas.InPipeline {
		return true
	}
	n, at := t.StageOf(from.Role), t.StageOf(to.Role)
	return n > 0 && (n == at || n == at-1)
}

// SpotOf says where a subtask is done, or which member of it is wrong, and how.
func (t Team) SpotOf(s schemas.PlannedSubTask) (spot Spot, field, wrong string) {
	switch {
	case t.Strategy == schemas.InPipeline && t.StageOf(s.Role) == 0:
		return spot, "role", "must name the stage that does it: one of " + strings.Join(t.Stages(), ", ")
	case t.Strategy != schemas.InPipeline && s.Role != "":
		return spot, "role", "must be left out: there are no stages here"
	case t.Strategy == schemas.Hierarchical && s.AssignedTo == "":
		return spot, "assigned_to", "must name who does it: one of " + strings.Join(t.Named(), ", ")
	case t.Strategy == "" && s.AssignedTo != "":
		return spot, "assigned_to", "must be left out: any free agent takes it"
	}
	for _, m := range t.Members {
		switch {
		case s.Role != "" && m.Slot != s.Role:
			continue
		case s.AssignedTo == "":
			return Spot{Cell: m.Cell}, "", ""
		case s.AssignedTo == m.Name || s.AssignedTo == string(m.ID):
			return Spot{m.Cell, m.ID}, "", ""
		}
	}
	if s.AssignedTo == "" {
		return spot, "", ""
	}
	return spot, "assigned_to", "names no agent that could do it" + schemas.DidYouMean(s.AssignedTo, t.Named())
}

// places checks a plan against who does it.
func (c *checking) places(p schemas.Plan) {
	for i, s := range p.SubTasks {
		at := "/subtasks/" + strconv.Itoa(i)
		if _, field, wrong := c.Team.SpotOf(s); wrong != "" {
			c.wrong(at+"/"+field, "%s", wrong)
			continue
		}
		n := c.Team.StageOf(s.Role)
		if slices.ContainsFunc(p.SubTasks, func(o schemas.PlannedSubTask) bool {
			before := c.Team.StageOf(o.Role)
			return before > 0 && before < n && o.Sequence >= s.Sequence
		}) {
			c.wrong(at+"/sequence", "must be higher than those of the stages before %s", s.Role)
		}
	}
}
