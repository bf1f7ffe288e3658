package memory

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/memory/rank"
	"cordelia/schemas"
)

// Of items of one place that tell different things under the same subject and key the newest
// stands first, however well the words of the older one fit.
func TestTheCurrentValueStandsFirst(t *testing.T) {
	n := newWarmNode(t)
	old := learning("The deploy port of the gateway service is the port 8080, the deploy port")
	old.Subject, old.Key = "gateway", "port"
	now := learning("It listens on 9090")
	now.Subject, now.Key = "gateway", "port"
	n.write(ada, old)
	newest := n.write(ada, now)
	found := n.search(ada, "which deploy port has the gateway service, does it listen")
	require.Equal(t, newest.ID, found.Hits[0].ID)
	require.Len(t, found.Hits, 2)
}

// An item without a word of the query stands behind the match beside it, is marked, and no
// more than two of them come.
func TestNeighboursStandBehindMatches(t *testing.T) {
	n := newWarmNode(t)
	say := func(text string) schemas.ItemID {
		w := learning(text)
		return n.write(ada, w).ID
	}
	for i := range 6 {
		say(fmt.Sprintf("Nothing to see here, remark number %d", i))
		say(fmt.Sprintf("The kestrel hovers above field %d", i))
	}
	found := n.search(ada, "kestrel hovers")
	beside := 0
	for i, h := range found.Hits {
		if h.NextTo {
			beside++
			require.GreaterOrEqual(t, i, 6, "behind all that match")
		}
		require.Equal(t, strings.Contains(h.Why, "next to a match") && h.Words == 0, h.NextTo)
	}
	require.LessOrEqual(t, beside, 2)
}

// What follows a question is likely its answer: it stands before what follows a statement that
// holds the same words.
func TestAnAnswerFollowsItsQuestion(t *testing.T) {
	n := newWarmNode(t)
	for i := range 20 {
		n.write(ada, learning(fmt.Sprintf("Lunch on day %d was noodles and soup.", i)))
	}
	behind := func(session, text, then string) schemas.ItemID {
		var id schemas.ItemID
		for _, said := range []string{text, then} {
			w := learning(said)
			w.Data = json.RawMessage(fmt.Sprintf(`{"type":"insight","content":%q,"source_session":%q}`, said, session))
			id = n.write(ada, w).ID
		}
		return id
	}
	asked := map[string]string{"heron": "Did Emil carry the heron cage away?", "stork": "部署 stork cage 完了？"}
	for bird, ask := range asked {
		remark := behind("remarks on "+bird, "This morning we saw a "+bird+" cage.", "Behind the shed, "+bird[:1])
		answer := behind("questions on "+bird, ask, "Behind the barn, "+bird[:1])
		ids := idsOf(n.search(ada, bird+" cage"))
		require.Contains(t, ids, answer)
		at := slices.Index(ids, remark)
		require.True(t, at < 0 || slices.Index(ids, answer) < at, "%v", ids)
	}
}

// What is alike by letters alone finds nothing, unless one edit of a word of five letters or
// more makes it the same.
func TestLettersAloneAreNoMatch(t *testing.T) {
	n := newWarmNode(t)
	n.write(ada, learning("The market is on Friday"))
	n.write(ada, learning("He calls every evening"))
	n.write(ada, learning("The kubernetes cluster is upgraded"))
	for _, q := range []string{"fridge", "tall", "friable"} {
		require.Empty(t, n.search(ada, q).Hits, q)
	}
	require.Contains(t, n.search(ada, "kuberntes").Hits[0].Name, "kubernetes")
}

// A query of whose informative words hardly any is matched gets an answer marked weak; one
// that is matched does not.
func TestAWeakAnswerIsMarked(t *testing.T) {
	n := newWarmNode(t)
	for i := range 30 {
		n.write(ada, learning(fmt.Sprintf("The team met in room %d about the parser", i)))
	}
	weak := n.search(ada, "what allergies does the parser maintainer's daughter have")
	require.NotEmpty(t, weak.Hits)
	require.True(t, weak.Weak)
	require.False(t, n.search(ada, "in which room did the team meet about the parser").Weak)
	require.False(t, n.search(ada, "").Weak)
}

// Who asks for nothing but a date is answered by what is of it. What else is asked is wanted as ever.
func TestADateIsAnswered(t *testing.T) {
	n := newWarmNode(t)
	for i := range 30 {
		w := learning(fmt.Sprintf("Paint in hall %s is dry.", strings.Repeat("x", i+1)))
		w.ValidFrom = n.clock.Now().AddDate(0, 0, -i).Format(time.RFC3339)
		n.write(ada, w)
	}
	on := n.clock.Now().AddDate(0, 0, -9)
	for _, date := range []string{on.Format("2 January"), on.Format("January 2 2006"), on.Format(time.DateOnly),
		"9 days ago", "last week"} {
		found := n.search(ada, "what happened on "+date)
		require.NotEmpty(t, found.Hits, date)
		require.Contains(t, found.Hits[0].Why, "of the date named", date)
		require.False(t, found.Weak, date)
		require.True(t, n.search(ada, "which servers crashed on "+date).Weak, date)
		require.False(t, n.search(ada, "which paint was dry on "+date).Weak, date)
	}
	empty := n.search(ada, "what happened on "+n.clock.Now().AddDate(0, 0, -99).Format("2 January"))
	require.True(t, empty.Weak || len(empty.Hits) == 0)
}

// The lines that are shown unasked hold at most half of one author with all agents below it,
// while others' items match as well.
func TestInjectedLinesHaveManyVoices_INV_VOICES(t *testing.T) {
	n := newWarmNode(t)
	n.group("team-a", ada, CulturePatch{}, bob, lead)
	flooder := accesstest.Named("flooder")
	n.agent(flooder, bob, russell, "flooder", "*")
	require.NoError(t, n.add(ada, "team-a", flooder, access.RoleMember))
	for i := range 20 {
		who := []schemas.EntityID{bob, flooder}[i%2]
		n.write(who, inGroup(learning(fmt.Sprintf("Why the cache is stale after a rename, version %d", i)), "team-a"))
	}
	other := n.write(lead, inGroup(learning("The cache is stale after a rename until the index is rebuilt"), "team-a"))
	q, err := NewQuery(Search{Text: "why is the cache stale after a rename", Limit: 4,
		Inject: &rank.Inject{Lines: 4, Words: 2, Without: func(schemas.ItemID) bool { return false }}})
	require.NoError(t, err)
	var found Found
	require.NoError(t, n.do(ada, access.Read, func(g access.Grant) (err error) {
		found, err = Find(g, q)
		return err
	}))
	require.Len(t, found.Hits, 4)
	require.Contains(t, idsOf(found), other.ID)
}
