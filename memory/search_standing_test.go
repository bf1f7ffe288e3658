package memory

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// standingOf asks a search where an item stands.
func (n *warmNode) standingOf(who schemas.EntityID, id schemas.ItemID, s Search) Standing {
	n.t.Helper()
	s.Item = id
	found, err := n.trySearch(who, s)
	require.NoError(n.t, err)
	require.NotNil(n.t, found.Standing)
	return *found.Standing
}

// A search says of an item at which place it stands, of whatever page, or why it does not.
func TestASearchSaysWhyAnItemIsNotThere(t *testing.T) {
	n := newWarmNode(t)
	n.group("team", russell, CulturePatch{}, ada)
	n.group("crew", russell, CulturePatch{}, ada, lead)
	say := func(text string, change func(*Write)) schemas.ItemID {
		w := inGroup(learning(text), "team")
		if change != nil {
			change(&w)
		}
		return n.write(ada, w).ID
	}
	first := say("The kestrel hovers above the meadow", nil)
	second := say("A kestrel was seen in town", func(w *Write) { w.Group = "crew" })
	doubted := say("The kestrel perhaps swims", func(w *Write) { w.Confidence = ptr(0.1) })
	old := say("The kestrel nests in the tower", nil)
	newer := say("The kestrel nests in the barn", func(w *Write) { w.Supersedes = old })
	later := say("The kestrel leaves in winter", func(w *Write) { w.ValidFrom = "2027-01-01" })
	short := say("The kestrel sleeps today", func(w *Write) { w.TTLSeconds = ptr(int64(3600)) })
	n.clock.move(2 * time.Hour)
	apart := n.write(lead, inGroup(learning("Bread is baked with rye"), "crew")).ID
	asked := Search{Text: "kestrel hovers meadow", Limit: 1}

	at := n.standingOf(ada, first, asked)
	require.Equal(t, 1, at.Place)
	require.Empty(t, at.Absent)
	require.NotEmpty(t, at.Score.Parts)
	at = n.standingOf(ada, second, asked)
	require.Greater(t, at.Place, 1, "of another page than the one shown")
	require.Less(t, at.Score.Value, n.standingOf(ada, first, asked).Score.Value)
	require.LessOrEqual(t, at.Place, at.Of)

	for id, why := range map[schemas.ItemID]string{
		doubted: "it is in quarantine", old: "it was superseded by " + string(newer), later: "it is not valid yet",
		short: "it has expired", apart: "no way of finding came to it",
	} {
		s := n.standingOf(ada, id, asked)
		require.Zero(t, s.Place, why)
		require.Contains(t, s.Absent, why)
	}
	for why, narrowed := range map[string]Search{
		"it is not in the group team":          {Text: "kestrel", Group: "team"},
		"its type is learning, and the search": {Text: "kestrel", Type: EntityItem},
		"the search asks for another author":   {Text: "kestrel", Author: "lead"},
		"written outside of the time":          {Text: "kestrel", Until: "2026-11-01"},
		"it lacks the tag birds":               {Text: "kestrel", Tags: []string{"Birds"}},
		"it was not valid at the time":         {Text: "kestrel", AsOf: "2026-11-01"},
	} {
		require.Contains(t, n.standingOf(ada, second, narrowed).Absent, why)
	}
	private := n.write(ada, learning("The kestrel is shy")).ID
	require.Contains(t, n.standingOf(russell, private, asked).Absent, "private to another agent")
}

// What has words of the query and was not scored, since many others have more of them, says so.
func TestASearchSaysThatOthersComeFirst(t *testing.T) {
	n := newWarmNode(t)
	first := n.write(ada, learning("The kestrel and the long story of a quiet afternoon by the river")).ID
	for i := range candidates + 20 {
		n.write(ada, learning("The kestrel hovers over meadow "+string(rune('a'+i%26))+string(rune('a'+i/26))))
	}
	at := n.standingOf(ada, first, Search{Text: "kestrel hovers meadow"})
	require.Contains(t, at.Absent, "it has words of the query (kestrel), but was not scored")
	require.Equal(t, "the 200 newest come first", n.standingOf(ada, first, Search{}).Absent)
}

// An item that the searcher may not read is as one that does not exist.
func TestAStandingTellsNothingOfWhatIsNotReadable(t *testing.T) {
	n := newWarmNode(t)
	n.group("team", russell, CulturePatch{}, ada)
	private := n.write(ada, learning("The kestrel is shy")).ID
	hidden := n.write(ada, inGroup(learning("The kestrel is loud"), "team")).ID
	n.write(eve, learning("The kestrel"))
	absent := schemas.ItemID("0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee")
	for _, who := range []schemas.EntityID{eve, bob} {
		refusal := func(id schemas.ItemID) string {
			_, err := n.trySearch(who, Search{Text: "kestrel", Item: id})
			require.ErrorIs(t, err, schemas.ErrNotFound)
			return strings.ReplaceAll(err.Error(), string(id), "")
		}
		require.Equal(t, refusal(absent), refusal(private))
		require.Equal(t, refusal(absent), refusal(hidden))
	}
}
