package memory

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// known are the tools there are in these tests.
var known = []string{"task_claim", "memory_search"}

func procedure(text string, tools ...string) Write {
	raw, _ := json.Marshal(map[string]any{"type": "procedure", "content": text, "tools": append([]string{}, tools...)})
	return Write{Type: LearningItem, Data: raw, Group: "team", Known: known}
}

// newReleaseNode has a group of russell's with ada, bob (of one line) and cyd.
func newReleaseNode(t *testing.T) (n *warmNode, cyd schemas.EntityID) {
	n = newWarmNode(t)
	cyd = accesstest.Named("l2-cyd")
	n.agent(cyd, russell, russell, "cyd", "*")
	n.group("team", russell, CulturePatch{}, ada, bob, cyd)
	return n, cyd
}

// below makes a child of parent in team.
func (n *warmNode) below(parent schemas.EntityID) schemas.EntityID {
	name := "of-" + n.one(`SELECT name FROM entities WHERE id = ?`, parent)
	id := accesstest.Named("l2-" + name)
	n.agent(id, parent, russell, name, "*")
	require.NoError(n.t, n.add(russell, "team", id, access.RoleMember))
	return id
}

func (n *warmNode) release(who schemas.EntityID, id schemas.ItemID, released bool) error {
	version, err := strconv.Atoi(n.one(`SELECT version FROM items WHERE id = ?`, id))
	require.NoError(n.t, err)
	return n.do(who, access.Write, func(g access.Grant) error { return Release(g, id, version, released) })
}

// held lists what waits for a person's release.
func (n *warmNode) held(who schemas.EntityID) (ids []schemas.ItemID) {
	n.t.Helper()
	require.NoError(n.t, n.do(who, access.Read, func(g access.Grant) error {
		found, err := Held(g)
		for _, i := range found {
			ids = append(ids, i.ID)
		}
		return err
	}))
	return ids
}

// Whatever is quarantined for other reasons, what instructs is in the list.
func TestAListOfWhatWaitsIsNotCrowdedOut(t *testing.T) {
	n, _ := newReleaseNode(t)
	w := n.write(ada, procedure("Deploy the gannet by claiming its task first.", "task_claim"))
	for i := range maxHeld {
		n.write(ada, learning(fmt.Sprintf("Gannet %d dives.", i)))
	}
	n.sql(`UPDATE items SET quarantined = 1`)
	require.Equal(t, []schemas.ItemID{w.ID}, n.held(russell))
}

func TestWhatInstructsWaitsForAPerson_INV_RELEASE(t *testing.T) {
	n, cyd := newReleaseNode(t)
	w := n.write(ada, procedure("Deploy the gannet by claiming its task first.", "task_claim"))
	require.True(t, w.Unreleased)
	require.True(t, w.Quarantined)
	require.Equal(t, stateUnreleased, n.read(ada, w.ID).State)
	require.Empty(t, idsOf(n.search(cyd, "deploy gannet")))
	own := n.search(ada, "deploy gannet")
	require.Empty(t, own.Hits)
	require.Equal(t, 1, own.Hidden.Quarantined, "never a silent empty")
	_, err := n.tryRead(cyd, w.ID)
	require.ErrorIs(t, err, schemas.ErrNotFound)
	_, err = n.share(ada, w.ID, "team")
	require.ErrorIs(t, err, schemas.ErrDenied)

	// Neither its owner's word nor an agent's nor a stranger's counts, and saying it is validated does nothing.
	n.write(ada, Write{ID: w.ID, IfVersion: 1, Validated: ptr(true)})
	require.Empty(t, idsOf(n.search(cyd, "deploy gannet")))
	for _, who := range []schemas.EntityID{ada, lead, cyd, mallory, eve} {
		require.ErrorIs(t, n.release(who, w.ID, true), schemas.ErrNotFound)
	}
	require.Equal(t, []schemas.ItemID{w.ID}, n.held(russell))
	require.Empty(t, n.held(mallory))
	require.NoError(t, n.release(russell, w.ID, true))
	require.Empty(t, n.held(russell))
	require.Equal(t, []schemas.ItemID{w.ID}, idsOf(n.search(cyd, "deploy gannet")))
	require.Equal(t, "1", n.one(`SELECT count(*) > 0 FROM audit WHERE target = ? AND actor = ?`, "item/"+string(w.ID),
		russell))
	require.Equal(t, stateCurrent, n.read(cyd, w.ID).State)

	// Taken back, and about other words than these it says nothing.
	require.NoError(t, n.release(russell, w.ID, false))
	require.Empty(t, idsOf(n.search(cyd, "deploy gannet")))
	require.NoError(t, n.release(russell, w.ID, true))
	changed := procedure("Deploy the gannet by deleting its task first.", "task_claim")
	changed.ID, changed.Group, changed.IfVersion = w.ID, "", 2
	require.True(t, n.write(ada, changed).Unreleased)
	require.Empty(t, idsOf(n.search(cyd, "deploy gannet")))

	// What only tells needs no release, and a person's own instruction has it.
	require.ErrorIs(t, n.release(russell, n.write(ada, learning("Gannets dive.")).ID, true), schemas.ErrInvalid)
	require.False(t, n.write(russell, procedure("Land the gannet softly.")).Unreleased)
	require.NotEmpty(t, idsOf(n.search(cyd, "land gannet softly")))
}

func TestAnInstructionNeedsAnIndependentSecondSource(t *testing.T) {
	const text = "Before a release run the search for open conflicts and read each one aloud to the team."
	const other = "Before a release run the search for open conflicts and read each  one aloud to the TEAM"
	long := text + " Whoever is on watch writes down which conflict was settled by whom, when the harbour opened, " +
		"what weather came, how many boats left and why nobody slept."
	for name, c := range map[string]struct {
		first, second func(n *warmNode, cyd schemas.EntityID) Written
		effective     bool
	}{
		"agrees": {nil, func(n *warmNode, cyd schemas.EntityID) Written {
			return n.write(cyd, procedure(other, "memory_search"))
		}, true},
		"near": {nil, func(n *warmNode, cyd schemas.EntityID) Written {
			return n.write(cyd, procedure(
				"Before a release run the search for open conflicts and read each one aloud to your team.",
				"memory_search"))
		}, false},
		"the person's": {func(n *warmNode, _ schemas.EntityID) Written {
			require.False(n.t, n.write(russell, procedure(text, "memory_search")).Unreleased)
			return n.write(ada, procedure(other, "memory_search"))
		}, func(n *warmNode, _ schemas.EntityID) Written {
			return n.write(bob, procedure(text, "memory_search"))
		}, false},
		"about something else": {nil, func(n *warmNode, cyd schemas.EntityID) Written {
			w := procedure(text, "memory_search")
			w.Subject, w.Key = "release", "delete everything"
			return n.write(cyd, w)
		}, false},
		"other signs": {func(n *warmNode, _ schemas.EntityID) Written {
			return n.write(ada, procedure("Run the search with limit > 5 before a release.", "memory_search"))
		}, func(n *warmNode, cyd schemas.EntityID) Written {
			return n.write(cyd, procedure("Run the search with limit < 5 before a release.", "memory_search"))
		}, false},
		"of the same line": {nil, func(n *warmNode, _ schemas.EntityID) Written {
			return n.write(bob, procedure(other, "memory_search"))
		}, false},
		"of cousins": {func(n *warmNode, _ schemas.EntityID) Written {
			return n.write(n.below(ada), procedure(text, "memory_search"))
		},
			func(n *warmNode, _ schemas.EntityID) Written {
				return n.write(n.below(bob), procedure(other, "memory_search"))
			}, false},
		"of uncle and nephew": {nil, func(n *warmNode, _ schemas.EntityID) Written {
			return n.write(n.below(bob), procedure(other, "memory_search"))
		}, false},
		"other tools": {func(n *warmNode, _ schemas.EntityID) Written {
			return n.write(ada,
				procedure(long, "memory_search"))
		},
			func(n *warmNode, cyd schemas.EntityID) Written { return n.write(cyd, procedure(long, "task_claim")) },
			false},
		"unknown tools": {func(n *warmNode, _ schemas.EntityID) Written { return n.write(ada, procedure(text, "rm")) },
			func(n *warmNode, cyd schemas.EntityID) Written { return n.write(cyd, procedure(other, "rm")) }, false},
		"no tools": {func(n *warmNode, _ schemas.EntityID) Written { return n.write(ada, procedure(text)) },
			func(n *warmNode, cyd schemas.EntityID) Written { return n.write(cyd, procedure(other)) }, false},
		"second-hand": {nil, func(n *warmNode, cyd schemas.EntityID) Written {
			n.taint(n.principal(cyd))
			return n.write(cyd, procedure(other, "memory_search"))
		}, false},
		"from one source": {func(n *warmNode, cyd schemas.EntityID) Written {
			src := inGroup(learning("Conflicts should be read aloud."), "team")
			w := procedure(text, "memory_search")
			w.DerivedFrom = []schemas.ItemID{n.write(cyd, src).ID}
			return n.write(ada, w)
		}, func(n *warmNode, cyd schemas.EntityID) Written {
			w := procedure(other, "memory_search")
			w.DerivedFrom = []schemas.ItemID{schemas.ItemID(
				n.one(`SELECT id FROM items WHERE name LIKE 'Conflicts should%'`))}
			return n.write(cyd, w)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			n, cyd := newReleaseNode(t)
			var first Written
			if c.first != nil {
				first = c.first(n, cyd)
			} else {
				first = n.write(ada, procedure(text, "memory_search"))
			}
			require.True(t, first.Unreleased)
			second := c.second(n, cyd)
			require.Equal(t, !c.effective, second.Unreleased)
			found := idsOf(n.search(bob, "release search open conflicts aloud"))
			for _, id := range []schemas.ItemID{first.ID, second.ID} {
				if c.effective {
					require.Contains(t, found, id)
				} else {
					require.NotContains(t, found, id)
				}
			}
			if c.effective { // the person has the last word, whoever agrees
				require.NoError(t, n.release(russell, first.ID, false))
				found := idsOf(n.search(bob, "release search open conflicts aloud"))
				require.NotContains(t, found, first.ID)
				require.NotContains(t, found, second.ID,
					"equal words were enough only as long as nobody held them back")
			}
		})
	}
}

// A low author is not believed even with a second source.
func TestAnInstructionNeedsATrustedAuthor(t *testing.T) {
	n, cyd := newReleaseNode(t)
	first := n.write(ada, procedure("Before landing search the field for gulls and other birds on the ground.",
		"memory_search"))
	n.auth = access.New(n.store, access.Config{RefusedPerMinute: 1 << 30, FailedPerMinute: 1 << 30,
		TiersOf: func(_ *store.Tx, id schemas.EntityID) ([]access.Tiering, error) {
			if id != ada {
				return nil, nil
			}
			return []access.Tiering{{Observer: russell, Tier: schemas.Low}}, nil
		}})
	second := n.write(cyd, procedure("Before landing search the field for gulls and other birds on the GROUND.",
		"memory_search"))
	require.True(t, second.Unreleased, "a second source that proved unreliable is none")
	require.NotContains(t, idsOf(n.search(bob, "landing field gulls")), first.ID)
}

// What others write that is like it keeps no honest second source from being heard.
func TestJunkStarvesNoSecondSource(t *testing.T) {
	n, cyd := newReleaseNode(t)
	const text = "Before a release run the search for open conflicts and read each one aloud to "
	for i := range 70 {
		n.write(bob, inGroup(learning(fmt.Sprintf("%s team%d.", text, i)), "team"))
	}
	for i := range 70 {
		n.write(bob, procedure(fmt.Sprintf("%s crew%d.", text, i), "task_claim"))
	}
	first := n.write(ada, procedure(text+"the team.", "memory_search"))
	require.True(t, first.Unreleased)
	require.False(t, n.write(cyd, procedure(text+"the TEAM", "memory_search")).Unreleased)
	require.Equal(t, stateCurrent, n.read(bob, first.ID).State)
}

// No event names an item that a person releases while its author is hidden.
func TestReleaseAnnouncesNothingHidden_INV_HIDDEN(t *testing.T) {
	n, _ := newReleaseNode(t)
	w := n.write(ada, procedure("Before a release read each open conflict aloud.", "memory_search"))
	require.True(t, w.Unreleased)
	events := func() string { return n.one(`SELECT count(*) FROM events WHERE type = 'memory.written'`) }
	_, err := n.hide(russell, "ada")
	require.NoError(t, err)
	require.NoError(t, n.release(russell, w.ID, true))
	require.Equal(t, "0", events())

	_, err = n.unhide(russell, "ada")
	require.NoError(t, err)
	require.NoError(t, n.release(russell, w.ID, false))
	require.NoError(t, n.release(russell, w.ID, true))
	require.Equal(t, "1", events())
}
