package trust

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

func (n *node) foresee(who schemas.EntityID, item, path string, in time.Duration) {
	n.Helper()
	p := Prediction{Item: schemas.ItemID(item), Check: schemas.Check{Kind: schemas.CheckFile, Path: path},
		Due: n.Clock.Micros + in.Microseconds()}
	require.NoError(n, n.do(who, access.Write, func(g access.Grant) error { return Foresee(g, p) }))
}

func (n *node) due() (items []string) {
	n.Helper()
	require.NoError(n, n.do(access.NodeEntity, access.Read, func(g access.Grant) error {
		found, err := FindDue(g)
		for _, d := range found {
			items = append(items, string(d.Item))
		}
		return err
	}))
	return items
}

func (n *node) resolve(item string, f Finding) {
	n.Helper()
	require.NoError(n, n.do(access.NodeEntity, access.Write,
		func(g access.Grant) error { return Resolve(g, schemas.ItemID(item), f) }))
}

var (
	above   = Finding{Known: true, Holds: true, Foreign: true}
	not     = Finding{Known: true, Foreign: true}
	unknown = Finding{}
)

func TestPredictionsComeTrueOrNot_INV_FORESIGHT(t *testing.T) {
	n := newNode(t)
	n.foresee(work, "a", "a", 2*time.Hour)
	n.foresee(work, "b", "b", 2*time.Hour)
	n.foresee(work, "held", "c", 2*time.Hour)
	require.ElementsMatch(t, []string{"a", "b", "held"}, n.due())
	n.resolve("a", not)
	n.resolve("b", not)
	n.resolve("held", above)
	require.Empty(t, n.due())
	n.resolve("a", above)
	require.Equal(t, defaultPrior(), n.score(work), "not before it is due")
	n.Clock.Move(2 * time.Hour)
	require.ElementsMatch(t, []string{"a", "b"}, n.due())
	n.resolve("a", above)
	n.resolve("b", not)
	for range 3 {
		n.resolve("a", above)
		n.resolve("held", above)
		n.resolve("absent", above)
	}
	require.Equal(t, Score{4000, 3000}, n.score(work))
	s := n.standing(work)
	require.Equal(t, []int{2, 2, 0}, []int{s.Observations, s.Confirmed, s.Open})
	require.EqualValues(t, 1, n.one(`SELECT count(*) FROM assessments WHERE item = 'held' AND alpha + beta = 0`),
		"what held already is written down")
	require.Zero(t, n.one(`SELECT count(*) FROM predictions WHERE check_json <> ''`), "a resolved check is forgotten")
	require.NoError(t, n.verify())
}

// What is no prediction is not entered.
func TestWhatForetellsNothing_INV_FORESIGHT(t *testing.T) {
	n := newNode(t)
	n.foresee(work, "soon", "a", 59*time.Minute)
	n.foresee(ann, "a person's", "b", 2*time.Hour)
	require.NoError(t, n.do(work, access.Write, func(g access.Grant) error {
		return Foresee(g, Prediction{Item: "calendar", Due: n.Clock.Micros + 2*day,
			Check: schemas.Check{Kind: schemas.CheckDate, Equals: json.RawMessage(`"2026-11-21"`)}})
	}))
	n.foresee(work, "once", "c", 2*time.Hour)
	n.foresee(work, "the same again", "c", 3*time.Hour)
	n.foresee(work, "once", "changed", 3*time.Hour)
	n.foresee(solo, "another's", "c", 2*time.Hour)
	require.ElementsMatch(t, []string{"once", "another's"}, n.due())
	// First tried when it was due: nobody can tell whether it held before.
	n.Clock.Move(2 * time.Hour)
	for range 2 {
		n.resolve("once", not)
		n.resolve("another's", above)
	}
	require.Equal(t, defaultPrior(), n.score(work))
	require.Equal(t, defaultPrior(), n.score(solo))
	require.Empty(t, n.due())
}

// A check that cannot be made stays open for a while, is tried again each hour,
// and in the end says nothing.
func TestUnknownOutcomes(t *testing.T) {
	n := newNode(t)
	n.foresee(work, "a", "a", 2*time.Hour)
	n.resolve("a", unknown)
	require.Empty(t, n.due())
	require.Equal(t, 1, n.standing(work).Unresolved)
	n.Clock.Move(61 * time.Minute)
	require.Equal(t, []string{"a"}, n.due())
	n.resolve("a", not)
	n.Clock.Move(time.Hour)
	n.resolve("a", unknown)
	require.Equal(t, []int{1, 1}, []int{n.standing(work).Open, n.standing(work).Unresolved})
	n.Clock.Move(8 * 24 * time.Hour)
	n.resolve("a", unknown)
	require.Zero(t, n.standing(work).Open)
	require.Equal(t, defaultPrior(), n.score(work))
}

func TestPurgingWithdrawsNothing_INV_FORESIGHT(t *testing.T) {
	n := newNode(t)
	n.SQL(`INSERT INTO scopes(n, visibility, ref) VALUES (1, 'public', '')`)
	n.SQL(`INSERT INTO items(id, type, owner, author, visibility, scope, version, data, name, confidence, source,
		provenance, content_hash, terms, tokens, created_at, updated_at)
		VALUES ('a', 'learning', ?1, ?1, 'public', 1, 1, 'text', '', 500, 'agent', '{}', x'', '', 0, 0, 0)`, work)
	n.foresee(work, "a", "a", 2*time.Hour)
	n.resolve("a", not)
	n.SQL(`UPDATE items SET data = '' WHERE id = 'a'`)
	require.Zero(t, n.one(`SELECT count(*) FROM predictions WHERE check_json <> ''`), "the text is gone here, too")
	n.Clock.Move(2 * time.Hour)
	require.Equal(t, []string{"a"}, n.due())
	n.resolve("a", unknown)
	require.Equal(t, Score{3000, 3000}, n.score(work))
}

func TestTwoPredictionsADayCount(t *testing.T) {
	n := newNode(t)
	for i := range 12 {
		n.foresee(work, fmt.Sprint(i), fmt.Sprint("file", i), 2*time.Hour)
		n.resolve(fmt.Sprint(i), not)
	}
	n.Clock.Move(2 * time.Hour)
	for i := range 12 {
		n.resolve(fmt.Sprint(i), above)
	}
	require.Equal(t, Score{5000, 2000}, n.score(work))
	require.EqualValues(t, 12, n.one(`SELECT count(*) FROM assessments`))
	require.NoError(t, n.verify())
}

// The user's own word on an item stands beside a prediction that comes due later: it neither
// holds up a false item nor takes the place of a true one's verdict.
func TestNoPredictionTakesTheUsersWord_INV_RANKS(t *testing.T) {
	for word, after := range map[Word]Score{Wrong: {3000, 3000}, Right: {4000, 2000}} {
		for _, out := range []Finding{above, not} {
			n := newNode(t)
			on := wrote(work, 1)
			n.foresee(work, string(on.ID), "a", 2*time.Hour)
			n.resolve(string(on.ID), not)
			n.assess(ann, Verdict{On: on, Word: word})
			before := n.standing(work)
			n.Clock.Move(2 * time.Hour)
			n.resolve(string(on.ID), out)
			s := n.standing(work)
			require.Equal(t, []any{after, after, 1, 1}, []any{s.Score, s.TierScore, s.Observations, s.ByPerson})
			require.Equal(t, before.Last, s.Last)
			require.EqualValues(t, 1, n.one(`SELECT count(*) FROM assessments WHERE source = 'temporal'
				AND alpha + beta = 0`), "it is written down")
			require.EqualValues(t, 1, n.one(`SELECT count(*) FROM assessments_counted WHERE own = 1`))
			require.NoError(t, n.verify())
		}
	}
}

// A verdict of the user's takes the place of a prediction that came due before.
func TestTheUsersWordReplacesAPrediction(t *testing.T) {
	n := newNode(t)
	on := wrote(work, 1)
	n.foresee(work, string(on.ID), "a", 2*time.Hour)
	n.resolve(string(on.ID), not)
	n.Clock.Move(2 * time.Hour)
	n.resolve(string(on.ID), above)
	require.Equal(t, Score{4000, 2000}, n.score(work))
	require.EqualValues(t, unit, n.assess(ann, Verdict{On: on, Word: Wrong}).Weight)
	require.Equal(t, Score{3000, 3000}, n.score(work))
	require.NoError(t, n.verify())
}

// A prediction about what its lineage could write weighs half, right or wrong, and
// none speaks for merging without review.
func TestPredictionsAboutOwnFilesWeighHalf(t *testing.T) {
	n := newNode(t)
	for i, f := range []Finding{{Known: true, Holds: true}, {Known: true}} {
		n.foresee(work, fmt.Sprint(i), fmt.Sprint("file", i), 2*time.Hour)
		n.resolve(fmt.Sprint(i), not)
		n.Clock.Move(2 * time.Hour)
		n.resolve(fmt.Sprint(i), f)
	}
	s := n.standing(work)
	require.Equal(t, Score{3500, 2500}, s.Score)
	require.Equal(t, Score{3500, 2500}, s.TierScore)
	require.Equal(t, []int{2, 0}, []int{s.Confirmed, s.ByPerson})
	require.NoError(t, n.verify())
}

func TestOneProcessIsHeard_INV_FORESIGHT(t *testing.T) {
	n := newNode(t)
	twin := n.twin()
	for i := range 8 { // of which two count
		n.foresee(work, fmt.Sprint(i), fmt.Sprint("file", i), 2*time.Hour)
		n.resolve(fmt.Sprint(i), not)
	}
	n.Clock.Move(2 * time.Hour)
	var all sync.WaitGroup
	for _, door := range []*node{n, twin, n, twin} {
		all.Go(func() {
			for i := range 8 {
				door.resolve(fmt.Sprint(i), above)
			}
		})
	}
	all.Wait()
	require.Equal(t, Score{5000, 2000}, n.score(work))
	require.EqualValues(t, 8, n.one(`SELECT count(*) FROM assessments`))
	require.NoError(t, n.verify())
}

func TestOnlyTheNodeResolves(t *testing.T) {
	n := newNode(t)
	n.foresee(work, "a", "a", 2*time.Hour)
	for _, who := range []schemas.EntityID{work, lead, ann} {
		require.ErrorIs(t, n.do(who, access.Write, func(g access.Grant) error { return Resolve(g, "a", above) }),
			access.ErrNoGrant)
		require.ErrorIs(t, n.do(who, access.Read, func(g access.Grant) error { _, err := FindDue(g); return err }),
			access.ErrNoGrant)
	}
}
