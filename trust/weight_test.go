package trust

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

func (n *node) weight(who, author schemas.EntityID) (w float64) {
	n.Helper()
	require.NoError(n, n.do(who, access.Read, func(g access.Grant) (err error) {
		w, err = Weight(g, author)
		return err
	}))
	return w
}

func TestWordsOfTheInaccurateWeighLess(t *testing.T) {
	n := newNode(t)
	verdict := func(item int, w Word) { n.assess(ann, Verdict{On: wrote(work, item), Word: w}) }
	require.Equal(t, 1.0, n.weight(solo, work))
	verdict(0, Wrong)
	require.Equal(t, schemas.Medium, n.standing(work).Tier, "one error takes no right")
	require.Equal(t, lowWeight, n.weight(solo, work), "and the place in a search")
	verdict(50, Wrong)
	require.Equal(t, 1.0, n.weight(solo, ann), "a person is not scored")
	require.Equal(t, 1.0, n.weight(solo, mate))
	require.Equal(t, lowWeight, n.weight(eve, work), "who has no opinion of their own takes that of the human above")
	for i := range 10 {
		verdict(1+i, Wrong)
	}
	require.Equal(t, untrustedWeight, n.weight(solo, work))
	for i := range 51 {
		verdict(i, Right)
	}
	require.Equal(t, schemas.High, n.standing(work).Tier)
	require.Equal(t, 1.0, n.weight(solo, work), "a good record gains nothing")
	n.Clock.Move(31 * 24 * time.Hour)
	require.Equal(t, 1.0, n.weight(solo, work))
}

// What an agent wrote loses its place in a search with the first error the user finds, before a
// right is lost. Neither predictions nor other agents' words bring it back; right verdicts of
// the user's do.
func TestAnErrorCostsThePlaceAtOnce_INV_RANKS(t *testing.T) {
	n := newNode(t)
	n.assess(ann, Verdict{On: wrote(work, 0), Word: Wrong})
	for i := range 6 {
		item := fmt.Sprint("p", i)
		n.foresee(work, item, item, 2*time.Hour)
		n.resolve(item, not)
		n.Clock.Move(13 * time.Hour)
		n.resolve(item, above)
		n.assess(solo, Verdict{On: wrote(work, 10+i), Word: Right})
	}
	require.Greater(t, n.standing(work).TierScore.Accuracy(), 0.7, "what the tier follows came up")
	require.Equal(t, lowWeight, n.weight(solo, work))
	n.assess(ann, Verdict{On: wrote(work, 1), Word: Right})
	require.Equal(t, lowWeight, n.weight(solo, work), "4 of 7")
	n.assess(ann, Verdict{On: wrote(work, 2), Word: Right})
	require.Equal(t, 1.0, n.weight(solo, work), "5 of 8")
	require.NoError(t, n.verify())

	// A tier that fell by predictions alone takes the place too.
	for i := range 8 {
		item := fmt.Sprint("q", i)
		n.foresee(mate, item, item, 2*time.Hour)
		n.resolve(item, not)
		n.Clock.Move(13 * time.Hour)
		n.resolve(item, not)
	}
	require.Equal(t, schemas.Low, n.standing(mate).Tier)
	require.Equal(t, lowWeight, n.weight(solo, mate))
}

// A search asks for each of its hits: an author's chain is read once.
func TestAWeightCostsNoQueryPerHit(t *testing.T) {
	n := newNode(t)
	asked := 0
	n.Auth = access.New(n.Store, access.Config{Presence: 10 * 365 * 24 * time.Hour,
		TiersOf: func(tx *store.Tx, id schemas.EntityID) ([]access.Tiering, error) {
			if id == work {
				asked++
			}
			return TiersOf(tx, id)
		}})
	// In a writing transaction nothing is kept for others, so what is asked shows.
	require.NoError(t, n.do(solo, access.Write, func(g access.Grant) error {
		for range 100 {
			if _, err := Weight(g, work); err != nil {
				return err
			}
		}
		return nil
	}))
	require.Equal(t, 1, asked)
	require.ErrorIs(t, func() error { _, err := Weight(access.Grant{}, work); return err }(), access.ErrNoGrant)
}
