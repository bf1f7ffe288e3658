package memory

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/schemas"
)

func (n *warmNode) hide(who schemas.EntityID, ref string) (q Quarantine, err error) {
	err = n.do(who, access.Write, func(g access.Grant) error { q, err = Hide(g, ref, "invented sources"); return err })
	return q, err
}

func (n *warmNode) unhide(who schemas.EntityID, ref string) (q Quarantine, err error) {
	err = n.do(who, access.Write, func(g access.Grant) error { q, err = Unhide(g, ref); return err })
	return q, err
}

// itemRows is everything stored of items, as one hash would see it.
func (n *warmNode) itemRows() string {
	return n.one(`SELECT json_group_array(json_array(n, id, scope, stale, version, validated, quarantined, current,
		confidence, provenance, data, deleted_at) ORDER BY n) FROM items`)
}

func TestQuarantineHidesAnAuthorAndWhatFollows_INV_HIDDEN(t *testing.T) {
	n, cyd := newReleaseNode(t)
	n.group("team-side", russell, CulturePatch{}, ada, bob, cyd)
	everyone := []schemas.EntityID{russell, lead, ada, bob, cyd}
	from := func(w Write, ids ...schemas.ItemID) Write { w.DerivedFrom = ids; return w }
	theirs := n.write(ada, inGroup(learning("Puffins nest in burrows below the cliff."), "team"))
	private := n.write(ada, learning("Puffins secretly nest in trees."))
	doubted := learning("Puffins perhaps nest in hats.")
	doubted.Confidence = ptr(0.1)
	n.write(ada, doubted)
	derived := n.write(bob, inGroup(from(learning("Burrows below cliffs are therefore puffin houses."), theirs.ID),
		"team"))
	further := n.write(cyd, inGroup(from(learning("Houses of puffins need no doors."), derived.ID), "team-side"))
	copied, err := n.share(bob, theirs.ID, "team-side")
	require.NoError(t, err)
	apart := n.write(cyd, inGroup(learning("Puffins eat sandeels near the cliff."), "team"))
	linked := n.write(cyd, inGroup(learning("Puffins nest in burrows below the high cliff."), "team"))
	require.NotEmpty(t, n.read(cyd, linked.ID).Related)
	gone := []schemas.ItemID{theirs.ID, private.ID, derived.ID, further.ID, copied.ID}
	all := func() (out string) {
		for _, who := range everyone {
			for _, text := range []string{"puffins nest burrows cliff", "houses puffins doors", ""} {
				out += fmt.Sprintln(who, text, idsOf(n.search(who, text)), n.search(who, text).Hidden)
			}
			for _, id := range append(gone, apart.ID) {
				items, _ := n.tryRead(who, id)
				out += fmt.Sprintln(id, items)
			}
		}
		return out
	}
	before, rows := all(), n.itemRows()
	q, err := n.hide(russell, "ada")
	require.NoError(t, err)
	require.True(t, q.Moved)
	require.Equal(t, 6, q.Items, "hers, the doubted one, and what came of them")
	require.Equal(t, rows, n.itemRows(), "no item changes")
	for _, who := range everyone {
		for _, text := range []string{"puffins nest burrows cliff", "houses puffins doors", ""} {
			f := n.search(who, text)
			for _, id := range gone {
				require.NotContains(t, idsOf(f), id, "%s finds it by %q", who, text)
			}
			for _, m := range f.Near {
				require.NotContains(t, gone, m.ID)
			}
		}
	}
	require.Contains(t, idsOf(n.search(bob, "puffins cliff")), apart.ID)
	require.Equal(t, 4, n.search(ada, "puffins nest").Hidden.Quarantined,
		"never a silent empty: three of hers and a copy of one")
	require.Equal(t, 1, n.search(cyd, "houses puffins doors").Hidden.Quarantined, "her own that was derived")
	require.Empty(t, n.read(cyd, linked.ID).Related, "a link tells of it")
	_, err = n.tryRead(cyd, theirs.ID)
	require.ErrorIs(t, err, schemas.ErrNotFound)
	for _, who := range []schemas.EntityID{ada, russell} {
		require.Equal(t, stateQuarantined, n.read(who, theirs.ID).State)
	}
	_, err = n.share(ada, theirs.ID, "team-side")
	require.ErrorIs(t, err, schemas.ErrDenied)
	same := n.write(cyd, inGroup(learning("Puffins nest in burrows below the cliff."), "team"))
	require.NotContains(t, same.With, theirs.ID, "a comparison tells of it")
	require.Equal(t, []schemas.ItemID{linked.ID}, same.With)
	require.NoError(t, n.remove(cyd, same.ID, Purge))

	// What she goes on to write is hidden, too, and what those above make of it.
	later := n.write(ada, inGroup(learning("Puffins also nest in chimneys."), "team"))
	require.NotContains(t, idsOf(n.search(cyd, "puffins chimneys")), later.ID)
	made := n.write(russell, from(learning("Chimneys attract puffins."), later.ID))
	require.NotContains(t, idsOf(n.search(russell, "chimneys")), made.ID)
	for _, id := range []schemas.ItemID{later.ID, made.ID} {
		owner := map[schemas.ItemID]schemas.EntityID{later.ID: ada, made.ID: russell}[id]
		require.NoError(t, n.remove(owner, id, Purge))
	}
	again, err := n.hide(russell, "ada")
	require.NoError(t, err)
	require.False(t, again.Moved)

	// Lifting shows exactly what was hidden; the doubted one stays where it was.
	q, err = n.unhide(russell, "ada")
	require.NoError(t, err)
	require.Equal(t, 6, q.Items)
	require.Equal(t, before, all())
	require.Equal(t, 1, n.search(ada, "hats").Hidden.Quarantined)
	q, err = n.unhide(russell, "ada")
	require.NoError(t, err)
	require.False(t, q.Moved)
}

// Whoever is hidden takes nobody else's words along: what it superseded shows
// again, and what it writes supersedes nothing.
func TestWhatIsHiddenSupersedesNothing(t *testing.T) {
	n, cyd := newReleaseNode(t)
	over := func(w Write, id schemas.ItemID) Write { w.Supersedes = id; return inGroup(w, "team") }
	require.NoError(t, n.add(russell, "team", ada, access.RoleAdmin))
	fact := n.write(cyd, inGroup(learning("The auk colony counts ninety birds."), "team"))
	lie := n.write(ada, over(learning("The auk colony counts two birds."), fact.ID))
	require.Equal(t, []schemas.ItemID{lie.ID}, idsOf(n.search(bob, "auk colony")))
	_, err := n.hide(russell, "ada")
	require.NoError(t, err)
	require.Equal(t, []schemas.ItemID{fact.ID}, idsOf(n.search(bob, "auk colony")))
	other := n.write(cyd, inGroup(learning("Auks breed on the outer stack."), "team"))
	_, err = n.tryWrite(ada, over(learning("Auks breed nowhere."), other.ID))
	require.ErrorIs(t, err, schemas.ErrInvalid)
	_, err = n.unhide(russell, "ada")
	require.NoError(t, err)
	again := idsOf(n.search(bob, "auk colony"))
	require.Equal(t, lie.ID, again[0], "as it was")
	require.NotContains(t, again, fact.ID)
	rule := procedure("Count auks twice.", "task_claim")
	rule.Supersedes = other.ID
	_, err = n.tryWrite(ada, rule)
	require.ErrorIs(t, err, schemas.ErrInvalid, "what waits for release supersedes nothing")
	require.Contains(t, idsOf(n.search(bob, "auks breed outer stack")), other.ID)
}

// Nobody keeps what others wrote from being found by writing much, though it has
// more matches than a search reads, whatever it writes: what says the same, what
// repeats the words, what is not so any more.
func TestAFloodBuriesNothing_INV_VOICES(t *testing.T) {
	const query = "ledger gulls shed"
	for name, flood := range map[string]struct {
		items int
		text  func(i int) Write
	}{
		"plain": {candidates + 50, func(i int) Write {
			return learning(fmt.Sprintf("The ledger of gulls lies in shed number w%d near w%d.", i, i*7919))
		}},
		"repeating": {50, func(i int) Write {
			return learning(fmt.Sprintf("ledger gulls shed ledger gulls shed ledger gulls shed w%d", i))
		}},
		"over": {matched + 50, func(i int) Write {
			d := learning(fmt.Sprintf("The ledger of gulls lay in shed number w%d near w%d.", i, i*7919))
			d.ValidTo = "2020-01-01"
			return d
		}},
	} {
		t.Run(name, func(t *testing.T) {
			n, cyd := newReleaseNode(t)
			kept := n.write(cyd, inGroup(
				learning("Since the storm in spring the old ledger of all the gulls lies in the shed behind the house."), "team"))
			faint := n.write(cyd, inGroup(learning("Near the harbour a shed was seen."), "team"))
			for i := range flood.items {
				n.write(ada, inGroup(flood.text(i), "team"))
			}
			page := idsOf(n.search(bob, query))
			require.Contains(t, page, kept.ID)
			if name == "over" {
				return // there is nothing else to show
			}
			require.NotContains(t, page, faint.ID, "it holds too little of the query")
			require.NotContains(t, idsOf(n.search(ada, query)), kept.ID, "one's own items are no crowd")

			var byTens, byFifties []schemas.ItemID
			for size, all := range map[int]*[]schemas.ItemID{10: &byTens, 50: &byFifties} {
				for cursor, more := "", true; more; {
					found, err := n.trySearch(bob, Search{Text: query, Limit: size, Cursor: cursor})
					require.NoError(t, err)
					*all, cursor, more = append(*all, idsOf(found)...), found.Cursor, found.Cursor != ""
				}
			}
			require.Equal(t, byFifties, byTens, "pages of any size continue each other")
			require.Len(t, byTens, len(slices.Compact(slices.Sorted(slices.Values(byTens)))), "nothing is shown twice")

			_, err := n.hide(russell, "ada")
			require.NoError(t, err)
			require.ElementsMatch(t, []schemas.ItemID{kept.ID, faint.ID}, idsOf(n.search(bob, query)),
				"hidden, the flood is not there")
			require.ElementsMatch(t, []schemas.ItemID{kept.ID, faint.ID}, idsOf(n.search(bob, "")))
		})
	}
}

// What is second-hand takes no place from what is not, though its author is
// another than that of the rest.
func TestSecondHandTakesNoPlaceOfAnother_INV_VOICES(t *testing.T) {
	n, cyd := newReleaseNode(t)
	for i := range 30 {
		n.write(ada, inGroup(learning(fmt.Sprintf("The ledger of gulls lies in shed number w%d near w%d.", i, i*7919)),
			"team"))
	}
	foreign := learning("The ledger of gulls lies in the shed, says a page.")
	foreign.Source = FromExternal
	planted := n.write(cyd, inGroup(foreign, "team"))
	require.NotContains(t, idsOf(n.search(bob, "ledger gulls shed")), planted.ID)
}

func TestWhoMayHide(t *testing.T) {
	n, cyd := newReleaseNode(t)
	theirs := n.write(ada, inGroup(learning("Skuas chase terns."), "team"))
	for who, want := range map[schemas.EntityID]error{ada: schemas.ErrDenied, bob: schemas.ErrDenied,
		cyd: schemas.ErrDenied,
		eve: schemas.ErrNotFound, mallory: schemas.ErrNotFound} {
		_, err := n.hide(who, "ada")
		require.ErrorIs(t, err, want, "%s", who)
		_, err = n.unhide(who, "ada")
		require.ErrorIs(t, err, want, "%s", who)
	}
	_, err := n.hide(russell, string(russell))
	require.ErrorIs(t, err, schemas.ErrInvalid)

	// An agent hides in its own places alone: team is its human's.
	own := n.write(ada, learning("Skuas chase gulls."))
	_, err = n.hide(lead, "ada")
	require.NoError(t, err)
	require.Contains(t, idsOf(n.search(cyd, "skuas")), theirs.ID)
	require.NotContains(t, idsOf(n.search(ada, "skuas")), own.ID)
	_, err = n.hide(russell, "ada")
	require.NoError(t, err)
	_, err = n.unhide(lead, "ada")
	require.NoError(t, err)
	require.NotContains(t, idsOf(n.search(cyd, "skuas")), theirs.ID, "the person's word stands")
	_, err = n.unhide(russell, "ada")
	require.NoError(t, err)

	// Another person hides in their groups alone, also somebody who has left.
	n.group("cove", mallory, CulturePatch{Departure: ptr(Permissive)}, ada, eve)
	there := n.write(ada, inGroup(learning("Skuas chase puffins."), "cove"))
	require.NoError(t, n.leave(mallory, "cove", ada))
	q, err := n.hide(mallory, string(ada))
	require.NoError(t, err)
	require.LessOrEqual(t, q.Items, 1)
	require.NotContains(t, idsOf(n.search(eve, "skuas")), there.ID)
	require.True(t, slices.Contains(idsOf(n.search(cyd, "skuas")), theirs.ID))
}

// Whom others hide in their own places is a second source all the same: what is
// released tells nobody what was decided elsewhere.
func TestHidingElsewhereReleasesAndHoldsNothing_INV_HIDDEN(t *testing.T) {
	n, cyd := newReleaseNode(t)
	n.group("cove", mallory, CulturePatch{}, cyd, eve)
	n.write(cyd, inGroup(learning("Skuas chase puffins."), "cove"))
	_, err := n.hide(mallory, string(cyd))
	require.NoError(t, err)
	const one = "Before a release run the search for open conflicts and read each one aloud to the team."
	const other = "Before a release run the search for open conflicts and read each  one aloud to the TEAM"
	first := n.write(cyd, procedure(one, "memory_search"))
	require.False(t, n.write(ada, procedure(other, "memory_search")).Unreleased)
	require.Contains(t, idsOf(n.search(bob, "release search open conflicts aloud")), first.ID)

	// Hidden here, it is none: neither its author nor what was derived from it.
	n, cyd = newReleaseNode(t)
	n.write(cyd, procedure(one, "memory_search"))
	_, err = n.hide(russell, string(cyd))
	require.NoError(t, err)
	require.True(t, n.write(ada, procedure(other, "memory_search")).Unreleased)

	n, cyd = newReleaseNode(t)
	dee := accesstest.Named("l2-dee")
	n.agent(dee, russell, russell, "dee", "*")
	require.NoError(t, n.add(russell, "team", dee, access.RoleMember))
	derived := procedure(one, "memory_search")
	derived.DerivedFrom = []schemas.ItemID{n.write(dee,
		inGroup(learning("Conflicts should be read aloud."), "team")).ID}
	n.write(cyd, derived)
	_, err = n.hide(russell, string(dee))
	require.NoError(t, err)
	require.True(t, n.write(ada, procedure(other, "memory_search")).Unreleased)
}

// What a hidden agent writes as others is hidden with it, before and after it is.
func TestActingAsAnotherEvadesNoQuarantine_INV_HIDDEN(t *testing.T) {
	n, cyd := newReleaseNode(t)
	as := func(who string, w Write) (out Written) {
		d, err := Prepare(w, lead, nil)
		require.NoError(t, err)
		require.NoError(t, n.auth.Do(t.Context(), n.principal(lead),
			access.Op{Tool: "t", Effect: access.Write, As: who}, func(g access.Grant) error {
				out, err = Put(g, d)
				return err
			}))
		return out
	}
	from := func(w Write, id schemas.ItemID) Write { w.DerivedFrom = []schemas.ItemID{id}; return w }
	before := as("ada", inGroup(learning("Shags dry their wings on buoys."), "team"))
	require.Equal(t, []schemas.EntityID{lead}, n.read(cyd, before.ID).Provenance.Via, "the node writes down who acted")
	derived := n.write(cyd, inGroup(from(learning("Wet wings need buoys."), before.ID), "team"))
	hers := n.write(ada, inGroup(learning("Shags breed on ledges."), "team"))
	kept := n.write(cyd, inGroup(learning("Shags fish alone."), "team"))
	all := func() (ids []schemas.ItemID) { return idsOf(n.search(cyd, "shags wings buoys ledges fish dive")) }
	found := all()
	require.Subset(t, found, []schemas.ItemID{before.ID, derived.ID, hers.ID, kept.ID})
	q, err := n.hide(russell, "lead")
	require.NoError(t, err)
	require.Equal(t, 3, q.Items, "with what those below wrote themselves")
	require.ElementsMatch(t, []schemas.ItemID{kept.ID}, all())

	after := as("bob", inGroup(learning("Shags dive from buoys."), "team"))
	later := n.write(russell, inGroup(from(learning("Buoys are for diving."), after.ID), "team"))
	changed := learning("Shags breed on buoys.")
	changed.ID, changed.IfVersion = hers.ID, 1
	as("ada", changed)
	require.Equal(t, []schemas.ItemID{kept.ID}, all())
	over := inGroup(learning("Shags fish in buoys."), "team")
	over.Supersedes = kept.ID
	d, err := Prepare(over, lead, nil)
	require.NoError(t, err)
	require.ErrorIs(t, n.auth.Do(t.Context(), n.principal(lead), access.Op{Tool: "t", Effect: access.Write, As: "bob"},
		func(g access.Grant) error {
			_, err := Put(g, d)
			return err
		}), schemas.ErrInvalid)

	// Nor does what a swarm reports show it.
	require.NoError(t, n.do(russell, access.Write, func(g access.Grant) error {
		groups := []schemas.GroupID{"team"}
		count, err := CountFindings(g, groups, nil)
		require.NoError(t, err)
		require.Equal(t, 1, count)
		lines, err := Headlines(g, groups, 9)
		require.NoError(t, err)
		require.Equal(t, []string{string(kept.ID) + ": Shags fish alone."}, lines)
		left, err := Unmerged(g, groups, nil, "")
		require.NoError(t, err)
		require.Equal(t, []schemas.ItemID{kept.ID}, left)
		return nil
	}))
	_, err = n.unhide(russell, "lead")
	require.NoError(t, err)
	require.ElementsMatch(t, append(found, after.ID, later.ID), all())
}

// With an agent, what its children wrote as processes of their own is hidden, and what
// others derived from that; lifting it shows exactly the same again.
func TestQuarantineCoversTheAgentsBelow_INV_HIDDEN(t *testing.T) {
	n, cyd := newReleaseNode(t)
	child := n.below(ada)
	theirs := n.write(child, inGroup(learning("Dunlins winter on the mudflat."), "team"))
	from := inGroup(learning("The mudflat feeds dunlins therefore."), "team")
	from.DerivedFrom = []schemas.ItemID{theirs.ID}
	derived := n.write(cyd, from)
	apart := n.write(cyd, inGroup(learning("Dunlins roost near the mudflat."), "team"))
	own := n.write(ada, inGroup(learning("Dunlins are brown on the mudflat."), "team"))
	all := func() (out string) {
		for _, who := range []schemas.EntityID{russell, lead, ada, bob, cyd, child} {
			f := n.search(who, "dunlins mudflat")
			out += fmt.Sprintln(who, idsOf(f), f.Hidden)
		}
		return out
	}
	before, rows := all(), n.itemRows()
	q, err := n.hide(russell, "ada")
	require.NoError(t, err)
	require.Equal(t, 3, q.Items)
	require.Equal(t, []schemas.ItemID{apart.ID}, idsOf(n.search(bob, "dunlins mudflat")))
	require.Equal(t, []schemas.ItemID{apart.ID}, idsOf(n.search(child, "dunlins mudflat")))
	_, err = n.tryRead(bob, theirs.ID)
	require.ErrorIs(t, err, schemas.ErrNotFound)
	require.Equal(t, rows, n.itemRows(), "no item changes")

	// What they go on to write, and a child that is made later; what comes of it.
	later := n.write(child, inGroup(learning("Dunlins hide below the mudflat."), "team"))
	second := accesstest.Named("l2-second-of-ada")
	n.agent(second, ada, russell, "second-of-ada", "*")
	require.NoError(t, n.add(russell, "team", second, access.RoleMember))
	fresh := n.write(second, inGroup(learning("Dunlins fly from the mudflat."), "team"))
	from.Data, from.DerivedFrom = learning("Dunlins flee therefore.").Data, []schemas.ItemID{fresh.ID}
	_, err = n.tryWrite(cyd, from)
	require.Error(t, err, "a source that is hidden is not there")
	made := n.write(russell, from)
	require.Equal(t, []schemas.ItemID{apart.ID}, idsOf(n.search(bob, "dunlins mudflat flee")))
	for id, owner := range map[schemas.ItemID]schemas.EntityID{later.ID: child, fresh.ID: second, made.ID: russell} {
		require.NoError(t, n.remove(owner, id, Purge))
	}
	q, err = n.unhide(russell, "ada")
	require.NoError(t, err)
	require.Equal(t, 3, q.Items)
	require.Equal(t, before, all())

	// The child alone takes nothing of its parent along.
	_, err = n.hide(russell, string(child))
	require.NoError(t, err)
	require.Contains(t, idsOf(n.search(bob, "dunlins mudflat")), own.ID)
	require.NotContains(t, idsOf(n.search(bob, "dunlins mudflat")), derived.ID)
}
