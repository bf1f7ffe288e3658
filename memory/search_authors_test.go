package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/schemas"
)

// team is a node where ada and bob share a group, with forty notes of ada's in it.
func team(t *testing.T) (n *warmNode, put func(schemas.EntityID, string) schemas.ItemID) {
	n = newWarmNode(t)
	n.group("team-a", ada, CulturePatch{}, bob)
	put = func(who schemas.EntityID, text string) schemas.ItemID {
		n.clock.move(time.Minute)
		w := inGroup(learning(text), "team-a")
		w.ValidFrom = n.clock.Now().Format(time.RFC3339)
		return n.write(who, w).ID
	}
	for i := range 40 {
		put(ada, fmt.Sprintf("The report of day %d was noodles and soup.", i))
	}
	return n, put
}

// rights lets all see that rights moved, behind the node's back.
func (n *warmNode) rights() {
	n.t.Helper()
	require.NoError(n.t, n.store.Write(context.Background(), access.BumpEpoch))
}

// An author named in a question finds what they wrote, without any word of it.
func TestAnAuthorFinds(t *testing.T) {
	n, put := team(t)
	first := put(bob, "The crane stood still until noon.")
	talk := put(ada, "Ask bob before you touch the ledger; bob knows bob's way.")
	second := put(bob, "Nine seconds of lag on the replica.")
	put(ada, "The replica of the ledger was rebuilt.")
	last := put(bob, "Paint in hall two is dry.")
	for _, question := range []string{"what did bob report", "What was Bob's news?", "anything from @bob"} {
		found := n.search(ada, question)
		require.Equal(t, []schemas.ItemID{last, second, first}, idsOf(found)[:3], question)
		require.Equal(t, "by bob", found.Hits[0].Why, question)
		require.False(t, found.Weak, question)
	}
	found := n.search(ada, "bob")
	require.Equal(t, []schemas.ItemID{last, second, first, talk}, idsOf(found)[:4],
		"the newest first, then who mentions bob")
	require.Equal(t, second, idsOf(n.search(ada, "what did bob say of the replica"))[0])
	require.Equal(t, first, idsOf(n.search(ada, "what did bob tell us of the crane"))[0])
	n.sql(`UPDATE entities SET display_name = 'Robert Glass' WHERE id = ?`, bob)
	n.rights()
	found = n.search(ada, "what did Robert Glass report")
	require.Equal(t, last, found.Hits[0].ID)
	require.Contains(t, found.Hits[0].Why, "by robert glass")
	// An agent may be called by a word of the trade, which asks for the matter, too.
	framework := put(ada, "The frontend framework is fiber.")
	put(ada, "The framework of the roof is oak.")
	put(bob, "A framework for prices is due on Friday.")
	n.sql(`UPDATE entities SET display_name = 'frontend' WHERE id = ?`, bob)
	n.rights()
	require.Equal(t, framework, idsOf(n.search(ada, "which frontend framework do we have"))[0])
	require.Equal(t, "by bob", n.search(ada, "what did bob report").Hits[0].Why)
	n.sql(`UPDATE entities SET display_name = 'Robert Glass' WHERE id = ?`, bob)
	n.rights()
	// A name is a word of its own, and the whole name.
	for _, question := range []string{"what did Robert report", "bobs bob.go bob-two my_bob", "Glass Robert"} {
		for _, h := range n.search(ada, question).Hits {
			require.NotContains(t, h.Why, "by bob", question)
			require.NotContains(t, h.Why, "by robert", question)
		}
	}
	for name, s := range map[string]Search{
		"type":  {Type: SessionItem},
		"until": {Until: "2026-01-01"},
		"tag":   {Tags: []string{"none"}},
		"other": {Author: "ada"},
		"left":  {Without: ByAuthor},
	} {
		s.Text = "what did bob report"
		f, err := n.trySearch(ada, s)
		require.NoError(t, err)
		for _, h := range f.Hits {
			require.NotEqual(t, bob, h.AuthorID, name)
		}
	}
}

// With an article a name is a common word, too, and asks for the matter. Without one it is a name.
func TestANameWithAnArticleAsksForTheMatter(t *testing.T) {
	for _, name := range []string{"backend", "researcher", "dorota"} {
		n, put := team(t)
		n.sql(`UPDATE entities SET display_name = ? WHERE id = ?`, name, bob)
		n.rights()
		first := put(bob, "The crane stood still until noon.")
		put(ada, fmt.Sprintf("Ask the %s before you touch the ledger; the %s knows why.", name, name))
		matter := put(ada, fmt.Sprintf("The %s for invoices sits in hall four.", name))
		put(ada, "Invoices are printed in hall nine.")
		put(ada, "We sit in hall two when invoices are late.")
		last := put(bob, "Paint in hall two is dry.")
		for _, question := range []string{"where does the %s for invoices sit", "which %s has the invoices",
			"what did %s say of our %s for invoices"} {
			found := n.search(ada, strings.ReplaceAll(question, "%s", name))
			require.Equal(t, matter, found.Hits[0].ID, question)
			require.True(t, slices.ContainsFunc(found.Hits, func(h Hit) bool { return h.AuthorID == bob }), question)
		}
		for _, question := range []string{"what did %s report", "tell me what %s wrote"} {
			found := n.search(ada, fmt.Sprintf(question, name))
			require.Equal(t, []schemas.ItemID{last, first}, idsOf(found)[:2], question)
		}
	}
}

// A name and a date are both heard.
func TestAnAuthorAndADate(t *testing.T) {
	n, put := team(t)
	put(bob, "The crane stood still until noon.")
	n.clock.move(48 * time.Hour)
	want := put(bob, "Nine seconds of lag on the replica.")
	put(ada, "Lunch was late.")
	n.clock.move(48 * time.Hour)
	put(bob, "Paint in hall two is dry.")
	found := n.search(ada, "what did bob report two days ago")
	require.Equal(t, want, found.Hits[0].ID)
	require.Contains(t, found.Hits[0].Why, "of the date named · by bob")
}

// What the asker may not read is not found by who wrote it.
func TestAnAuthorFindsNothingOutOfSight(t *testing.T) {
	n, put := team(t)
	open := put(bob, "The crane stood still until noon.")
	n.clock.move(time.Minute)
	hidden := n.write(bob, learning("Paint in hall two is dry.")).ID
	found := idsOf(n.search(ada, "bob"))
	require.Equal(t, open, found[0])
	require.NotContains(t, found, hidden)
	require.Equal(t, []schemas.ItemID{hidden, open}, idsOf(n.search(bob, "bob"))[:2])
	_, err := n.hide(russell, "bob")
	require.NoError(t, err)
	for _, question := range []string{"bob", "what did bob report"} {
		for _, h := range n.search(ada, question).Hits {
			require.NotEqual(t, bob, h.AuthorID, "in quarantine")
		}
	}
}

// INV-NO-ORACLE: a question names no entity that its asker may not name. A hidden agent's name and
// that of no agent at all give the same answer for the same queries.
func TestAHiddenNameIsNone_INV_NO_ORACLE(t *testing.T) {
	hiddenIsAbsent(t, func(with bool) (seen looks) {
		n := newWarmNode(t)
		n.group("team-mine", eve, CulturePatch{})
		for i := range 20 {
			n.write(eve, inGroup(learning(fmt.Sprintf("report %d of eve's, zora has it", i)), "team-mine"))
		}
		n.group("team-a", ada, CulturePatch{}, bob)
		if with {
			zora := accesstest.Named("l2-zora")
			n.agent(zora, lead, russell, "zora", "*")
			n.rights()
			for i := range 10 {
				n.write(zora, learning(fmt.Sprintf("crane %d stood still", i)))
			}
		}
		for _, text := range []string{"what did zora report", "zora", "zora and eve", "what did bob report", "yorick"} {
			q, err := NewQuery(Search{Text: text})
			require.NoError(t, err)
			require.NoError(t, n.do(eve, access.Read, func(g access.Grant) error {
				if q.named, err = namedIn(g, q.Text); err != nil {
					return err
				}
				for _, who := range q.named {
					require.Equal(t, eve, who.id)
				}
				see, err := readable(g)
				require.NoError(t, err)
				see.now = 1_900_000_000_000_000
				seen.find(t, g.Tx(), see, q)
				return nil
			}))
		}
		return seen
	})
}

// What a removed agent wrote is found by its name, also where another agent has the name now.
func TestARemovedAuthorFinds(t *testing.T) {
	n, put := team(t)
	was := put(bob, "The crane stood still until noon.")
	n.sql(`UPDATE entities SET status = 'removed' WHERE id = ?`, bob)
	n.rights()
	require.Equal(t, was, idsOf(n.search(ada, "bob"))[0])
	next := accesstest.Named("l2-bob-again")
	n.agent(next, lead, russell, "bob", "*")
	n.rights()
	defer n.meet(ada, next)()
	require.NoError(t, n.enter(ada, "team-a", next, access.RoleMember))
	is := put(next, "Paint in hall two is dry.")
	require.Equal(t, []schemas.ItemID{is, was}, idsOf(n.search(ada, "bob"))[:2])
}

// The dated notes once more, without names in them: each was written by the agent of its name, and the
// question names that agent and no date.
func TestOwnSetsByAuthor(t *testing.T) {
	n := newWarmNode(t)
	ids, lines, beside := map[string]schemas.ItemID{}, ownSet(t, "dated"), besideThem()
	group := func(text string, i int) Write {
		n.clock.move(time.Minute)
		w := inGroup(learning(text), "team-a")
		w.Data = []byte(replaceAll(string(w.Data), `"type":`, fmt.Sprintf(`"source_session":"s %d","type":`, i)))
		return w
	}
	n.group("team-a", ada, CulturePatch{})
	for i, l := range lines {
		author := accesstest.Named("l2-" + l[0])
		n.agent(author, lead, russell, strings.ToLower(l[0]), "*")
		n.rights()
		part := n.meet(ada, author)
		require.NoError(t, n.enter(ada, "team-a", author, access.RoleMember))
		part()
		ids[l[0]] = n.write(author, group(l[2], 2*i)).ID
		n.write(ada, group(beside[i], 2*i+1))
	}
	share := func(without Way) (percent float64) {
		for _, l := range lines {
			f, err := n.trySearch(ada, Search{Text: "what did " + l[0] + " report", Without: without})
			require.NoError(t, err)
			if slices.Contains(idsOf(f), ids[l[0]]) {
				percent += 100 / float64(len(lines))
			}
		}
		return percent
	}
	all := share(0)
	t.Logf("by author %d questions · R@10 %.1f · without author %.1f", len(lines), all, share(ByAuthor))
	require.InDelta(t, 100, all, 1e-9)
}
