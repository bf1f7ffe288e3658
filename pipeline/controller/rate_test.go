package controller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// An executor earns by what a machine check or an unrelated judge found, nothing by the word
// of its sibling, and a subtask failed after all its attempts counts against it, once.
func TestWhoseWordRatesAnExecutor_INV_EARNED(t *testing.T) {
	n := newNode(t)
	n.Join("team", solo, "member")
	stands := func() int {
		return one[int](n, `SELECT coalesce((SELECT hundredths FROM capability_trust WHERE agent = ?
			AND capability = 'executor'), 30)`, a)
	}
	rows := func() int {
		return one[int](n, `SELECT count(*) FROM capability_feedback WHERE agent = ? AND capability = 'executor'`, a)
	}
	inTeam := func(criteria ...any) {
		n.begin(lead, Request{Group: "team"}, plan(step("do it", 1, []string{"bash"}, criteria...)))
		n.report(a, n.claim(a, "R3"), `{"ok": 1}`)
	}
	inTeam("it ran")
	n.judge(b, nil)
	require.Equal(t, []int{30, 0}, []int{stands(), rows()}, "a sibling's pass earns nothing")
	inTeam("it ran again")
	n.judge(solo, nil)
	require.Equal(t, []int{35, 1}, []int{stands(), rows()}, "an unrelated agent's does")
	inTeam(schemas.Criterion{Criterion: "the file is there", Mode: schemas.Verifiable,
		Check: &schemas.Check{Kind: schemas.CheckFile, Path: "x"}})
	require.Equal(t, []int{40, 2}, []int{stands(), rows()}, "and so does the node's own check")
	require.Equal(t, "machine_check", one[string](n, `SELECT proof FROM capability_feedback ORDER BY seq DESC LIMIT 1`))

	n.begin(lead, Request{Group: "team"}, plan(step("build it", 1, []string{"bash"}, "the build ends well")))
	n.failAll("the build ends well", schemas.Logical)
	require.Equal(t, []int{25, 3}, []int{stands(), rows()}, "three attempts failed: one result")
}

// R4a is rated when R4b finds a criterion failed that it had passed, word for word.
func TestALaterGateOverturnsAJudge(t *testing.T) {
	for name, tt := range map[string]struct {
		criterion string
		want      int
	}{"the same criterion": {"it is whole", 15}, "another": {"it ran", 30}} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			n.begin(lead, Request{}, plan(step("do it", 1, []string{"bash"}, tt.criterion)))
			n.report(a, n.claim(a, "R3"), `{"ok": 1}`)
			n.judge(b, nil)
			w := n.claim(c, "R4b")
			n.report(c, w, merging(w, map[string]schemas.FailureClass{"it is whole": schemas.Logical}))
			require.Equal(t, tt.want, one[int](n,
				`SELECT coalesce((SELECT hundredths FROM capability_trust WHERE agent = ?), 30)`, b))
		})
	}
}
