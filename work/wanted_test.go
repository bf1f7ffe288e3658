package work

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

// claimWanted claims what is wanted and gives its id, "" if there is none.
func (n *node) claimWanted(who schemas.EntityID, want Wanted) string {
	n.Helper()
	var c Claimed
	var ok bool
	n.must(who, func(g access.Grant) (err error) {
		c, ok, err = Claim(g, want, time.Minute)
		return err
	})
	if !ok {
		return ""
	}
	n.report(who, c, Released, ``)
	return c.WorkID
}

// A claim takes nothing but what it names, and what belongs near comes first.
func TestClaimsTakeWhatTheyName(t *testing.T) {
	n := newNode(t)
	older, old := n.submit(ann, "", todo("old"), todo("older"))
	task, teams := n.submit(ann, "team", todo("in the team"))
	for _, c := range []struct {
		name string
		want Wanted
		gets string
	}{
		{"anything", Wanted{}, old[0]},
		{"near first", Wanted{Near: "team"}, teams[0]},
		{"nothing near", Wanted{Near: "nowhere"}, old[0]},
		{"item", Wanted{Work: old[1]}, old[1]},
		{"item of another task", Wanted{Work: old[1], Task: task}, ""},
		{"task", Wanted{Task: older}, old[0]},
		{"task of the team", Wanted{Task: task}, teams[0]},
		{"group", Wanted{Group: "team"}, teams[0]},
		{"task in another group", Wanted{Task: older, Group: "team"}, ""},
		{"group that is not there", Wanted{Group: "nowhere"}, ""},
		{"swarm that is not there", Wanted{Swarm: "nowhere"}, ""},
		{"item that is not there", Wanted{Work: "x"}, ""},
		{"near, and left out", Wanted{Near: "team", Apart: Apart{Prefix: "te"}}, old[0]},
		{"task of the team, which is left out", Wanted{Task: task, Apart: Apart{Prefix: "te"}}, ""},
		{"near, which alone is not left out", Wanted{Near: "team", Apart: Apart{Prefix: "te", But: "team"}}, teams[0]},
	} {
		require.Equal(t, c.gets, n.claimWanted(a, c.want), c.name)
		n.SQL(`UPDATE work_items SET place = n, releases = 0, state = 'ready'`)
	}
}

// What is held already and lies in a group that is left out is not handed over again.
func TestClaimsLeaveOutWhatIsHeld(t *testing.T) {
	n := newNode(t)
	_, items := n.submit(ann, "team", todo("in the team"))
	apart := Wanted{Apart: Apart{Prefix: "te"}}
	n.must(a, func(g access.Grant) error {
		c, ok, err := Claim(g, Wanted{Work: items[0]}, time.Minute)
		require.True(t, ok)
		require.Equal(t, items[0], c.WorkID)
		return err
	})
	require.ErrorIs(t, n.do(a, func(g access.Grant) error {
		_, _, err := Claim(g, apart, time.Minute)
		return err
	}), schemas.ErrConflict)
}
