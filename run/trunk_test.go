package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/pipeline/controller"
	"cordelia/run/git"
	"cordelia/run/git/gittest"
	"cordelia/schemas"
)

// What matched is merged in the order of the plan; what does not fit is told with both
// sides, and the rest stays merged.
func TestMatchedWorkIsMergedInOrder(t *testing.T) {
	r := gittest.New(t)
	trunk := &trunk{repo: r.Repository, task: gittest.Task}
	made := map[string]string{}
	change := func(subtask, file, text string) {
		t.Helper()
		w := r.Worktree(r.Base)
		r.Write(w.Path, file, text)
		commit, err := w.Commit(t.Context(), subtask)
		require.NoError(t, err)
		require.NoError(t, trunk.keep(t.Context(), subtask, commit))
		made[subtask] = commit
	}
	change("s1", "a.txt", "one\nfirst\nthree\n")
	change("s2", "b.txt", "b\n")
	change("s3", "a.txt", "one\nsecond\nthree\n")
	view := func(states ...schemas.SubTaskState) controller.View {
		v := controller.View{Round: 1}
		for i, s := range states {
			id := []string{"s1", "s2", "s3"}[i]
			v.SubTasks = append(v.SubTasks, controller.SubTaskView{SubTaskID: id, Intent: "do it", State: s,
				Commit: made[id]})
		}
		return v
	}
	matched, running := schemas.SubTaskMatched, schemas.SubTaskExecuting
	require.NoError(t, trunk.gather(t.Context(), view(running, matched, running)))
	require.Empty(t, trunk.conflict())
	require.Equal(t, "b", r.Git("show", git.Branch(gittest.Task)+":b.txt"))
	for range 2 { // again changes nothing
		require.NoError(t, trunk.gather(t.Context(), view(matched, matched, matched)))
		require.Equal(t, "one\nfirst\nthree", r.Git("show", git.Branch(gittest.Task)+":a.txt"))
		require.Contains(t, trunk.conflict(), "first")
		require.Contains(t, trunk.conflict(), "second")
	}
	tip := r.Git("rev-parse", git.Branch(gittest.Task))
	require.NoError(t, r.Forget(t.Context(), gittest.Task))
	require.Empty(t, r.Git("for-each-ref", "refs/cordelia"))
	require.Equal(t, tip, r.Git("rev-parse", git.Branch(gittest.Task)))
}

// What is merged is the commit that was judged, whatever an attempt has left since; one that
// the node did not make for the task is merged for nobody.
func TestWhatWasJudgedIsMerged(t *testing.T) {
	r := gittest.New(t)
	trunk := &trunk{repo: r.Repository, task: gittest.Task}
	committed := func(text string) string {
		t.Helper()
		w := r.Worktree(r.Base)
		r.Write(w.Path, "b.txt", text)
		commit, err := w.Commit(t.Context(), "x")
		require.NoError(t, err)
		return commit
	}
	judged, later, foreign := committed("judged\n"), committed("later\n"), committed("foreign\n")
	require.NoError(t, trunk.keep(t.Context(), "s1", judged))
	require.NoError(t, trunk.keep(t.Context(), "s1", later))
	view := func(commit string) controller.View {
		return controller.View{Round: 1, SubTasks: []controller.SubTaskView{{SubTaskID: "s1", Intent: "do it",
			State: schemas.SubTaskMatched, Commit: commit}}}
	}
	for _, bad := range []string{foreign, "main", "--help", r.Base} {
		require.NoError(t, trunk.gather(t.Context(), view(bad)))
		require.Contains(t, trunk.conflict(), "the node did not make")
		require.Empty(t, r.Git("for-each-ref", "refs/heads/cordelia"))
	}
	require.NoError(t, trunk.gather(t.Context(), view(judged)))
	require.Empty(t, trunk.conflict())
	require.Equal(t, "judged", r.Git("show", git.Branch(gittest.Task)+":b.txt"))
}
