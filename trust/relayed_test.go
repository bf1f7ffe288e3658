package trust

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

func (n *node) relayed(who schemas.EntityID) (list []Relayed) {
	n.Helper()
	require.NoError(n, n.do(who, access.Read, func(g access.Grant) (err error) {
		list, err = ListRelayed(g)
		return err
	}))
	return list
}

func (n *node) decide(who schemas.EntityID, number int64, confirm bool) (out Given, err error) {
	err = n.do(who, access.Write, func(g access.Grant) error {
		out, err = DecideRelayed(g, number, confirm)
		return err
	})
	return out, err
}

func relay(on Memory, word Word) Verdict { return Verdict{On: on, Word: word, Relayed: true} }

// One relayer's words about one agent weigh half a verdict in all, for as long as the
// window lasts, and move no tier.
func TestRelayedWordsHaveALimit(t *testing.T) {
	n := newNode(t)
	require.EqualValues(t, 500, n.assess(solo, relay(wrote(work, 1), Wrong)).Weight)
	for i := range 30 {
		require.Equal(t, Given{Agent: work, Why: BecauseRelayed}, n.assess(solo, relay(wrote(work, 10+i), Wrong)))
	}
	require.Equal(t, Score{3000, 2500}, n.score(work))
	require.EqualValues(t, 500, n.assess(other, relay(wrote(work, 2), Wrong)).Weight, "another relayer has its own")
	require.EqualValues(t, 500, n.assess(solo, relay(wrote(other, 3), Wrong)).Weight, "and another agent")
	require.Equal(t, schemas.Medium, n.standing(work).Tier)
	require.Equal(t, defaultPrior(), n.standing(work).TierScore)
	require.Len(t, n.relayed(ann), 33)
	require.Empty(t, n.relayed(bea))
	n.Clock.Move(31 * 24 * time.Hour)
	require.Empty(t, n.relayed(ann), "what lapsed is not asked about")
	require.EqualValues(t, 500, n.assess(solo, relay(wrote(work, 4), Wrong)).Weight)
	require.NoError(t, n.verify())
}

func TestTheUserConfirmsAndRejectsRelayedWords(t *testing.T) {
	n := newNode(t)
	for i := range 3 {
		n.assess(solo, relay(wrote(work, i), Wrong))
	}
	list := n.relayed(ann)
	require.Len(t, list, 3)
	require.Equal(t, []int64{500, 0, 0}, []int64{list[0].Weight, list[1].Weight, list[2].Weight})
	require.Equal(t, []schemas.EntityID{solo, work}, []schemas.EntityID{list[0].Relayer, list[0].Agent})

	out, err := n.decide(ann, list[1].Number, true)
	require.NoError(t, err)
	require.Equal(t, []any{work, int64(1000)}, []any{out.Agent, out.Weight})
	require.Equal(t, Score{3000, 3000}, n.standing(work).TierScore, "a confirmed word is the user's own")
	require.Equal(t, Score{3000, 3500}, n.score(work))

	out, err = n.decide(ann, list[0].Number, false)
	require.NoError(t, err)
	require.Equal(t, []any{solo, int64(1000)}, []any{out.Agent, out.Weight})
	require.Equal(t, Score{3000, 3000}, n.score(work), "a rejected word is taken back")
	require.Equal(t, Score{3000, 3000}, n.standing(solo).TierScore, "and an error of the relayer's")
	require.Equal(t, BecauseWithdrawn, n.assess(solo, relay(wrote(work, 0), Wrong)).Why, "said again it counts nothing")

	_, err = n.decide(ann, list[2].Number, false)
	require.NoError(t, err)
	require.Equal(t, schemas.Low, n.standing(solo).Tier)
	for _, number := range []int64{list[0].Number, list[1].Number, list[2].Number, 999, 0, -1} {
		_, err = n.decide(ann, number, true)
		require.ErrorIs(t, err, schemas.ErrNotFound, "%d", number)
	}
	require.NoError(t, n.verify())
}

// Who is denied takes nothing from another who relayed the same.
func TestARejectedRelayLeavesOthersAlone(t *testing.T) {
	n := newNode(t)
	n.assess(solo, relay(wrote(work, 1), Wrong))
	n.assess(other, relay(wrote(work, 1), Wrong))
	list := n.relayed(ann)
	require.Len(t, list, 2)
	_, err := n.decide(ann, list[0].Number, false)
	require.NoError(t, err)
	require.Equal(t, Score{3000, 2500}, n.score(work), "the other's words count")
	require.NoError(t, n.verify())
}

func TestOnlyTheUserDecidesOnRelayedWords(t *testing.T) {
	n := newNode(t)
	n.assess(solo, relay(wrote(work, 1), Wrong))
	number := n.relayed(ann)[0].Number
	for _, who := range []schemas.EntityID{solo, work, lead, eve} {
		_, err := n.decide(who, number, true)
		require.ErrorIs(t, err, access.ErrNoGrant)
	}
	_, err := n.decide(bea, number, true)
	require.ErrorIs(t, err, schemas.ErrNotFound)
	require.Len(t, n.relayed(ann), 1)
	// A verdict of the user's own on the item decides, too.
	n.assess(ann, Verdict{On: wrote(work, 1), Word: Right})
	require.Empty(t, n.relayed(ann))
}
