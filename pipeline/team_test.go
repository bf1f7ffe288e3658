package pipeline

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// Where a plan may send its subtasks, and what is said where it may not.
func TestPlacesOfSubTasks(t *testing.T) {
	stages := Team{Strategy: schemas.InPipeline, Lead: Member{ID: "boss"},
		Members: []Member{{ID: "boss", Name: "boss", Slot: "boss"},
			{ID: "1", Name: "look", Slot: "look", Stage: 1, Cell: "s.look"},
			{ID: "2", Name: "look-2", Slot: "look", Stage: 1, Cell: "s.look"},
			{ID: "3", Name: "tell", Slot: "tell", Stage: 2, Cell: "s.tell"}}}
	require.Equal(t, []string{"look", "tell"}, stages.Stages())
	workers := Team{Strategy: schemas.Hierarchical,
		Members: []Member{{ID: "1", Name: "one", Slot: "hand", Cell: "s.hand"}, {ID: "2", Name: "two"}}}
	town := Team{Strategy: schemas.Broadcast, Members: []Member{{ID: "1", Name: "one"}}}
	for name, c := range map[string]struct {
		team     Team
		role, to string
		spot     Spot
		wrong    string
	}{
		"a stage":                {stages, "look", "", Spot{Cell: "s.look"}, ""},
		"one of a stage":         {stages, "look", "look-2", Spot{"s.look", "2"}, ""},
		"of another stage":       {stages, "tell", "look-2", Spot{}, "names no agent that could do it"},
		"no stage":               {stages, "", "", Spot{}, "one of look, tell"},
		"the coordinator's slot": {stages, "boss", "", Spot{}, "one of look, tell"},
		"a worker":               {workers, "", "one", Spot{"s.hand", "1"}, ""},
		"by id":                  {workers, "", "2", Spot{To: "2"}, ""},
		"nobody named":           {workers, "", "", Spot{}, "one of one, two"},
		"no such worker":         {workers, "", "ona", Spot{}, "did you mean one?"},
		"a stage of none":        {workers, "hand", "one", Spot{}, "there are no stages here"},
		"anyone":                 {town, "", "", Spot{}, ""},
		"somebody":               {town, "", "one", Spot{To: "1"}, ""},
		"a stranger":             {town, "", "solo", Spot{}, "names no agent"},
		"of no team":             {Team{}, "", "one", Spot{}, "any free agent takes it"},
		"none of no team":        {Team{}, "", "", Spot{}, ""},
	} {
		spot, _, wrong := c.team.SpotOf(schemas.PlannedSubTask{Role: c.role, AssignedTo: c.to})
		require.Equal(t, c.spot, spot, name)
		if c.wrong == "" {
			require.Empty(t, wrong, name)
		} else {
			require.Contains(t, wrong, c.wrong, name)
		}
	}
}

// Who does a part is part of what a plan says: the same work by another is a new plan.
func TestAnotherAssigneeIsAnotherPlan(t *testing.T) {
	p := planOf(step(1, "look", "it is seen", "grep"))
	other := planOf(step(1, "look", "it is seen", "grep"))
	other.SubTasks[0].AssignedTo = "two"
	require.NotEqual(t, identity(p), identity(other))
}
