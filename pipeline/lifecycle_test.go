package pipeline

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

type edge struct{ from, on, to, by string }

// walk holds a table of edges against what every lifecycle promises, and its
// diagram against the golden one.
func walk(t *testing.T, file, first string, states []string, final func(string) bool, edges []edge) {
	t.Helper()
	seen, diagram := map[string]string{}, "stateDiagram-v2\n    [*] --> "+first+"\n"
	for _, e := range edges {
		require.Contains(t, states, e.from)
		require.Contains(t, states, e.to)
		require.False(t, final(e.from), "%s is final", e.from)
		require.NotContains(t, seen, e.from+" "+e.on, "two edges from %s on %s", e.from, e.on)
		seen[e.from+" "+e.on] = e.to
		diagram += "    " + e.from + " --> " + e.to + ": " + e.on + " (" + e.by + ")\n"
	}
	reach := func(start string) map[string]bool {
		at := map[string]bool{start: true}
		for range states {
			for _, e := range edges {
				at[e.to] = at[e.to] || at[e.from]
			}
		}
		return at
	}
	for _, s := range states {
		require.True(t, reach(first)[s], "%s cannot be reached", s)
		ends := final(s)
		for to, yes := range reach(s) {
			ends = ends || yes && final(to)
		}
		require.True(t, ends, "%s never ends", s)
		if final(s) {
			diagram += "    " + s + " --> [*]\n"
		}
	}
	name := filepath.Join("testdata", file)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile(name, []byte(diagram), 0o600))
	}
	want, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, string(want), diagram)
}

func TestTaskLifecycle(t *testing.T) {
	var edges []edge
	for _, e := range schemas.TaskEdges() {
		edges = append(edges, edge{string(e.From), string(e.On), string(e.To), string(e.By)})
		to, by, ok := schemas.NextTask(e.From, e.On)
		require.True(t, ok)
		require.Equal(t, e, schemas.TaskEdge{From: e.From, On: e.On, To: to, By: by})
	}
	walk(t, "task.mmd", "perceiving", words(schemas.TaskStates()),
		func(s string) bool { return schemas.TaskState(s).Final() }, edges)
	_, _, ok := schemas.NextTask(schemas.TaskAccepted, schemas.TaskCancel)
	require.False(t, ok)
	for _, e := range schemas.TaskEdges() {
		switch e.To {
		case schemas.TaskAccepted:
			require.Contains(t, []schemas.TaskState{schemas.TaskMerging, schemas.TaskReview}, e.From,
				"only what was merged can be accepted")
		case schemas.TaskAbandoned:
			require.Equal(t, schemas.TaskGiveUp, e.On, "there is one way to abandon")
			require.Equal(t, schemas.ByNode, e.By)
		case schemas.TaskCancelled:
			require.Equal(t, schemas.BySubmitter, e.By)
		}
	}
}

func TestSubTaskLifecycle(t *testing.T) {
	var edges []edge
	for _, e := range schemas.SubTaskEdges() {
		edges = append(edges, edge{string(e.From), string(e.On), string(e.To), string(e.By)})
		to, by, ok := schemas.NextSubTask(e.From, e.On)
		require.True(t, ok)
		require.Equal(t, e, schemas.SubTaskEdge{From: e.From, On: e.On, To: to, By: by})
		if e.To == schemas.SubTaskMatched {
			require.Equal(t, schemas.SubTaskValidating, e.From, "nothing matches unjudged")
		}
	}
	walk(t, "subtask.mmd", "waiting", words(schemas.SubTaskStates()),
		func(s string) bool { return schemas.SubTaskState(s).Final() }, edges)
	_, _, ok := schemas.NextSubTask(schemas.SubTaskFailed, schemas.SubTaskCorrect)
	require.False(t, ok)
	require.False(t, slices.ContainsFunc(edges, func(e edge) bool { return strings.Contains(e.by, "human") }))
}
