package schemas

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// lifecycle is a table of edges as the walk reads it; its first state is where it begins.
type lifecycle struct {
	states, final []string
	edges         []Edge[string]
}

func lifecycleOf[S ~string](states []S, final func(S) bool, edges []Edge[S]) lifecycle {
	l := lifecycle{states: Strings(states)}
	for _, s := range states {
		if final(s) {
			l.final = append(l.final, string(s))
		}
	}
	for _, e := range edges {
		l.edges = append(l.edges, Edge[string]{string(e.From), e.On, string(e.To), e.By})
	}
	return l
}

// Every lifecycle there is, by the name of its diagram.
func lifecycles() map[string]lifecycle {
	var roles []Edge[RoleStatus]
	for _, e := range RoleEdges() {
		roles = append(roles, Edge[RoleStatus]{From: e.From, On: e.On, To: e.To})
	}
	return map[string]lifecycle{
		"agent":   lifecycleOf(AgentStatuses(), func(s AgentStatus) bool { return s == Removed }, AgentEdges()),
		"work":    lifecycleOf(WorkStates(), WorkState.Final, WorkEdges()),
		"task":    lifecycleOf(TaskStates(), TaskState.Final, TaskEdges()),
		"subtask": lifecycleOf(SubTaskStates(), SubTaskState.Final, SubTaskEdges()),
		"review":  lifecycleOf(ReviewStates(), ReviewState.Final, ReviewEdges()),
		"role":    lifecycleOf(RoleStatuses(), func(s RoleStatus) bool { return s == RoleTerminated }, roles),
	}
}

// In each lifecycle every state can be reached and comes to an end, final states have no way
// out, no trigger is ambiguous, the database takes the same states, and the diagram is current.
func TestLifecycles(t *testing.T) {
	for name, l := range lifecycles() {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, migrations(t), "IN ('"+strings.Join(l.states, "', '")+"')",
				"a state is also in the CHECK of its table: add a migration")
			next := map[string]string{}
			for _, e := range l.edges {
				require.Contains(t, l.states, e.From)
				require.Contains(t, l.states, e.To)
				require.NotContains(t, l.final, e.From, "%s is final, and %s leads out of it", e.From, e.On)
				on := e.From + " on " + string(e.On)
				require.NotContains(t, next, on, "two edges leave %s", on)
				next[on] = e.To
			}
			for _, s := range l.states {
				require.Contains(t, l.from(l.states[0]), s, "no edge leads to %s", s)
				require.True(t, slices.ContainsFunc(l.from(s), func(to string) bool {
					return slices.Contains(l.final, to)
				}), "%s never ends", s)
			}
			diagram(t, name, l)
		})
	}
}

// from lists the states that can follow start, with itself.
func (l lifecycle) from(start string) []string {
	list := []string{start}
	for i := 0; i < len(list); i++ {
		for _, e := range l.edges {
			if e.From == list[i] && !slices.Contains(list, e.To) {
				list = append(list, e.To)
			}
		}
	}
	return list
}

func diagram(t *testing.T, name string, l lifecycle) {
	t.Helper()
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n    [*] --> " + l.states[0] + "\n")
	for _, e := range l.edges {
		b.WriteString("    " + e.From + " --> " + e.To + ": " + string(e.On))
		if e.By != "" {
			b.WriteString(" (" + string(e.By) + ")")
		}
		b.WriteString("\n")
	}
	for _, s := range l.final {
		b.WriteString("    " + s + " --> [*]\n")
	}
	path := filepath.Join("testdata", name+".mmd")
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String(), "run UPDATE_GOLDEN=1 go test ./schemas and read the change")
}

func migrations(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "internal", "store", "migrations", "*.sql"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var all strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		all.Write(text)
	}
	return all.String()
}

func TestNextIsTheTables(t *testing.T) {
	for _, e := range TaskEdges() {
		for _, as := range []By{ByNode, ByAncestor, ByHolder, ByHuman, BySubmitter, ByReviewer, ByAuthor} {
			to, ok := NextTask(e.From, e.On, as)
			require.Equal(t, as == e.By, ok, "%s on %s as %s", e.From, e.On, as)
			require.True(t, !ok || to == e.To)
		}
	}
	for _, e := range RoleEdges() {
		got, ok := NextRole(e.From, e.On)
		require.True(t, ok)
		require.Equal(t, e, got)
	}
	_, ok := NextTask(TaskAccepted, TaskCancel, BySubmitter)
	require.False(t, ok)
	_, ok = NextRole(RoleTerminated, Resume)
	require.False(t, ok)
	_, ok = NextSubTask(SubTaskFailed, SubTaskCorrect, ByNode)
	require.False(t, ok)
}

// Only what was merged can be accepted, there is one way to abandon, and nothing matches unjudged.
func TestTasksEndAsTheyMay(t *testing.T) {
	for _, e := range TaskEdges() {
		switch e.To {
		case TaskAccepted:
			require.Contains(t, []TaskState{TaskMerging, TaskReview}, e.From)
		case TaskAbandoned:
			require.Equal(t, TaskGiveUp, e.On)
			require.Equal(t, ByNode, e.By)
		case TaskCancelled:
			require.Equal(t, BySubmitter, e.By)
		}
	}
	for _, e := range SubTaskEdges() {
		require.NotEqual(t, ByHuman, e.By)
		if e.To == SubTaskMatched {
			require.Equal(t, SubTaskValidating, e.From)
		}
	}
	for _, s := range RoleStatuses() {
		_, ok := NextRole(s, RoleTerminate)
		require.Equal(t, s != RoleTerminated, ok, s)
	}
}
