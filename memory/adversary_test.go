package memory

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

// tries is how often each attack runs, each time with other words.
const tries = 30

// words give each try its own subject, so that no try meets the items of another.
func words(i int) (subject, from, to string) {
	birds := []string{"gannet", "puffin", "fulmar", "skua", "tern", "shag", "auk", "petrel", "kittiwake", "dunlin"}
	swaps := [][2]string{{"newest", "oldest"}, {"verified", "unverified"}, {"before", "after"}, {"keep", "drop"},
		{"always", "never"}}
	swap := swaps[i%len(swaps)]
	return fmt.Sprintf("%s%d", birds[i%len(birds)], i), swap[0], swap[1]
}

// rule is an instruction of some length about subject; word is the one that matters.
func rule(subject, word string) string {
	return fmt.Sprintf("When the backup of %s is due take the %s archive of the colony then search for open "+
		"conflicts write what you found down and tell the watch",
		subject, word)
}

// attack counts the tries that left something effective that should not be.
func attack(t *testing.T, name string, try func(t *testing.T, i int) (hit bool)) {
	t.Run(name, func(t *testing.T) {
		hits := 0
		for i := range tries {
			if try(t, i) {
				hits++
			}
		}
		require.Zero(t, hits, "of %d tries", tries)
	})
}

// No agent gets words of its own into effect by writing what is near to the words of
// another, whether a person released those, they wait or they took effect.
func TestNearWordsNeverTakeEffect_INV_RELEASE(t *testing.T) {
	n, cyd := newReleaseNode(t)
	reader := bob
	shows := func(id schemas.ItemID, subject string) bool {
		for _, found := range idsOf(n.search(reader, "backup "+subject)) {
			if found == id {
				return true
			}
		}
		return n.one(`SELECT quarantined FROM items WHERE id = ?`, id) == "0"
	}
	attack(t, "near the person's", func(t *testing.T, i int) bool {
		subject, from, to := words(i)
		n.write(russell, procedure(rule(subject, from), "memory_search"))
		w := n.write(ada, procedure(rule(subject, to), "memory_search"))
		return !w.Unreleased || shows(w.ID, subject)
	})
	attack(t, "equal to the person's", func(t *testing.T, i int) bool {
		subject, from, _ := words(i)
		subject += "p"
		n.write(russell, procedure(rule(subject, from), "memory_search"))
		w := n.write(ada, procedure(rule(subject, from), "memory_search"))
		return !w.Unreleased || shows(w.ID, subject)
	})
	attack(t, "near what waits", func(t *testing.T, i int) bool {
		subject, from, to := words(i)
		subject += "w"
		first := n.write(cyd, procedure(rule(subject, from), "memory_search"))
		w := n.write(ada, procedure(rule(subject, to), "memory_search"))
		return !w.Unreleased || shows(w.ID, subject) || shows(first.ID, subject)
	})
	attack(t, "near what a person released", func(t *testing.T, i int) bool {
		subject, from, to := words(i)
		subject += "r"
		first := n.write(cyd, procedure(rule(subject, from), "memory_search"))
		require.NoError(t, n.release(russell, first.ID, true))
		w := n.write(ada, procedure(rule(subject, to), "memory_search"))
		return !w.Unreleased || shows(w.ID, subject) || !shows(first.ID, subject)
	})
	attack(t, "near what two agents agreed on", func(t *testing.T, i int) bool {
		subject, from, to := words(i)
		subject += "t"
		first := n.write(cyd, procedure(rule(subject, from), "memory_search"))
		n.write(ada, procedure(strings.ReplaceAll(rule(subject, from), "colony", "COLONY"), "memory_search"))
		require.True(t, shows(first.ID, subject), "equal words of two lineages take effect")
		w := n.write(bob, procedure(rule(subject, to), "memory_search"))
		return !w.Unreleased || shows(w.ID, subject)
	})
	attack(t, "equal words under another subject", func(t *testing.T, i int) bool {
		subject, from, to := words(i)
		subject += "s"
		n.write(cyd, procedure(rule(subject, from), "memory_search"))
		w := procedure(rule(subject, from), "memory_search")
		w.Subject, w.Key = subject, to
		return !n.write(ada, w).Unreleased
	})
	attack(t, "another subject for effective words", func(t *testing.T, i int) bool {
		subject, from, to := words(i)
		subject += "k"
		w := n.write(ada, procedure(rule(subject, from), "memory_search"))
		require.NoError(t, n.release(russell, w.ID, true))
		data := procedure(rule(subject, from), "memory_search").Data
		for _, change := range []Write{{ID: w.ID, IfVersion: 1, Subject: subject, Key: to},
			{ID: w.ID, IfVersion: 1, Subject: subject, Key: to, Type: LearningItem, Data: data}} {
			if _, err := n.tryWrite(ada, change); err == nil {
				return true
			}
		}
		return false
	})
}

// No agent buries what a person wrote or released, nor what another agent wrote, by an
// item that supersedes it, and what may supersede does so only while it is effective.
func TestNoAgentBuriesWhatIsNotItsOwn(t *testing.T) {
	n, cyd := newReleaseNode(t)
	const far = "2099-01-01"
	kinds := map[string]func(i int, w *Write){
		"plain":   func(int, *Write) {},
		"doubted": func(i int, w *Write) { w.Confidence = ptr(float64(i%30) / 100) },
		"sure":    func(_ int, w *Write) { w.Confidence = ptr(1.0) },
		"expired": func(i int, w *Write) { w.ValidTo = fmt.Sprintf("20%02d-01-01", i%26) },
		"future":  func(_ int, w *Write) { w.ValidFrom = far },
		"brief":   func(_ int, w *Write) { w.TTLSeconds = ptr(int64(1)) },
	}
	afterwards := map[string]func(t *testing.T, id schemas.ItemID){
		"left":    func(*testing.T, schemas.ItemID) {},
		"deleted": func(t *testing.T, id schemas.ItemID) { require.NoError(t, n.remove(ada, id, Bury)) },
		"purged":  func(t *testing.T, id schemas.ItemID) { require.NoError(t, n.remove(ada, id, Purge)) },
	}
	victims := map[string]func(subject string) Written{
		"person's": func(s string) Written {
			return n.write(russell, inGroup(learning("The "+s+" nests on the cliff."), "team"))
		},
		"another's": func(s string) Written {
			return n.write(cyd, inGroup(learning("The "+s+" nests on the cliff."), "team"))
		},
		"instructed": func(s string) Written { return n.write(russell, procedure(rule(s, "newest"), "memory_search")) },
		"released": func(s string) Written { // by the attacker itself
			w := n.write(ada, procedure(rule(s, "newest"), "memory_search"))
			require.NoError(t, n.release(russell, w.ID, true))
			return w
		},
	}
	for victim, plant := range victims {
		for kind, set := range kinds {
			for after, then := range afterwards {
				attack(t, victim+" "+kind+" "+after, func(t *testing.T, i int) bool {
					if i%6 != len(kind+after)%6 { // 5 of each: 90 of each victim
						return false
					}
					subject, _, _ := words(i)
					subject += victim[:2] + kind + after
					old := plant(subject)
					w := inGroup(learning(fmt.Sprintf("The %s nests in trees since %d.", subject, i)), "team")
					w.Supersedes = old.ID
					set(i, &w)
					if out, err := n.tryWrite(ada, w); err == nil {
						require.Equal(t, old.ID, out.Contested)
						then(t, out.ID)
					}
					r := n.read(bob, old.ID)
					return r.State != stateCurrent || r.SupersededBy != "" ||
						len(idsOf(n.search(bob, subject+" cliff backup"))) == 0
				})
			}
		}
	}
}

// A successor takes the place of an item only while it is effective itself: its
// predecessor is current again afterwards, and what comes before it is not.
func TestASuccessorCountsOnlyWhileItIsEffective(t *testing.T) {
	n, _ := newReleaseNode(t)
	current := func(id schemas.ItemID, subject string) bool {
		for _, found := range idsOf(n.search(bob, subject)) {
			if found == id {
				return n.read(bob, id).State == stateCurrent
			}
		}
		return false
	}
	chain := func(subject string, set func(*Write)) (a, b Written) {
		a = n.write(ada, inGroup(learning("The "+subject+" lays one egg."), "team"))
		w := inGroup(learning("The "+subject+" lays two eggs."), "team")
		w.Supersedes = a.ID
		if set != nil {
			set(&w)
		}
		return a, n.write(ada, w)
	}
	attack(t, "deleted, and brought back", func(t *testing.T, i int) bool {
		subject, _, _ := words(i)
		a, b := chain(subject, nil)
		require.False(t, current(a.ID, subject))
		require.Equal(t, 1, n.search(bob, subject).Hidden.Superseded, "readers are told")
		require.NoError(t, n.remove(ada, b.ID, Bury))
		back := current(a.ID, subject)
		require.NoError(t, n.remove(ada, b.ID, Undo))
		return !back || current(a.ID, subject) || !current(b.ID, subject)
	})
	attack(t, "purged", func(t *testing.T, i int) bool {
		subject, _, _ := words(i)
		subject += "p"
		a, b := chain(subject, nil)
		require.NoError(t, n.remove(ada, b.ID, Purge))
		again := n.write(ada, inGroup(learning("The "+subject+" lays one egg."), "team"))
		return !current(a.ID, subject) || again.Stored
	})
	attack(t, "doubted", func(t *testing.T, i int) bool {
		subject, _, _ := words(i)
		subject += "c"
		a, _ := chain(subject, func(w *Write) { w.Confidence = ptr(float64(i%30) / 100) })
		return !current(a.ID, subject)
	})
	attack(t, "over already", func(t *testing.T, i int) bool {
		subject, _, _ := words(i)
		subject += "o"
		a, _ := chain(subject, func(w *Write) { w.ValidTo = fmt.Sprintf("20%02d-02-01", i%26) })
		return !current(a.ID, subject)
	})
	attack(t, "to come, and come", func(t *testing.T, i int) bool {
		subject, _, _ := words(i)
		subject += "f"
		from := time.UnixMicro(n.clock.micros.Load()).UTC().Add(time.Duration(i+1) * time.Hour)
		a, b := chain(subject, func(w *Write) { w.ValidFrom = from.Format(time.RFC3339) })
		before := current(a.ID, subject)
		n.clock.move(time.Duration(i+2) * time.Hour)
		return !before || current(a.ID, subject) || !current(b.ID, subject)
	})
	attack(t, "expires", func(t *testing.T, i int) bool {
		subject, _, _ := words(i)
		subject += "e"
		a, _ := chain(subject, func(w *Write) { w.TTLSeconds = ptr(int64(i + 1)) })
		before := current(a.ID, subject)
		n.clock.move(time.Duration(i+1) * time.Second)
		return before || !current(a.ID, subject)
	})
	attack(t, "in the middle of a line", func(t *testing.T, i int) bool {
		subject, _, _ := words(i)
		subject += "l"
		a, b := chain(subject, nil)
		w := inGroup(learning("The "+subject+" lays three eggs."), "team")
		w.Supersedes = b.ID
		c := n.write(ada, w)
		require.NoError(t, n.remove(ada, b.ID, Bury))
		revived := current(a.ID, subject)
		require.NoError(t, n.remove(ada, c.ID, Bury))
		return revived || !current(a.ID, subject)
	})
}

// Superseding marks copies where the actor might have superseded them itself, and
// nowhere else.
func TestCopiesAreMarkedWhereTheActorMayAct(t *testing.T) {
	n, cyd := newReleaseNode(t)
	n.group("far", russell, CulturePatch{}, cyd)
	stale := func(id schemas.ItemID) string { return n.one(`SELECT stale FROM items WHERE id = ?`, id) }
	attack(t, "of a person", func(t *testing.T, i int) bool {
		subject, _, _ := words(i)
		old := n.write(russell, inGroup(learning("The "+subject+" moults in autumn."), "team"))
		c, err := n.share(russell, old.ID, "far")
		require.NoError(t, err)
		w := inGroup(learning("The "+subject+" never moults."), "team")
		w.Supersedes = old.ID
		n.write(ada, w)
		return stale(c.ID) != ""
	})
	attack(t, "in a group that the actor cannot see", func(t *testing.T, i int) bool {
		subject, _, _ := words(i)
		subject += "s"
		old := n.write(ada, inGroup(learning("The "+subject+" moults in autumn."), "team"))
		c, err := n.share(russell, old.ID, "far")
		require.NoError(t, err)
		w := inGroup(learning("The "+subject+" moults in winter."), "team")
		w.Supersedes = old.ID
		n.write(ada, w)
		return stale(c.ID) != ""
	})
	old := n.write(ada, inGroup(learning("The dunlin moults in autumn."), "team"))
	require.NoError(t, n.add(russell, "far", ada, access.RoleMember))
	c, err := n.share(ada, old.ID, "far")
	require.NoError(t, err)
	w := inGroup(learning("The dunlin moults in winter."), "team")
	w.Supersedes = old.ID
	n.write(ada, w)
	require.Equal(t, staleCorrected, stale(c.ID), "its own words, where it may write")
}

// Who may delete an item of a group may undo that, and what its owner took back stays so.
func TestWhoDeletesMayUndo(t *testing.T) {
	n, cyd := newReleaseNode(t)
	require.NoError(t, n.add(russell, "team", cyd, access.RoleAdmin))
	theirs := n.write(ada, inGroup(learning("Terns dive from a height."), "team"))
	for _, who := range []schemas.EntityID{russell, cyd} {
		require.NoError(t, n.remove(who, theirs.ID, Bury))
		require.ErrorIs(t, n.remove(ada, theirs.ID, Undo), schemas.ErrDenied, "its group deleted it")
		require.ErrorIs(t, n.remove(bob, theirs.ID, Undo), schemas.ErrNotFound)
		require.NoError(t, n.remove(who, theirs.ID, Undo))
		require.Contains(t, idsOf(n.search(bob, "terns dive")), theirs.ID)
	}
	require.NoError(t, n.remove(cyd, theirs.ID, Bury))
	require.NoError(t, n.remove(russell, theirs.ID, Undo), "another who manages the group")
	require.NoError(t, n.remove(ada, theirs.ID, Bury))
	require.ErrorIs(t, n.remove(cyd, theirs.ID, Undo), schemas.ErrNotFound)
	require.NoError(t, n.remove(ada, theirs.ID, Undo))
}

// Who doubted an item in a group does not validate it alone.
func TestNobodyValidatesAloneWhatItDoubted_INV_QUARANTINE(t *testing.T) {
	n, cyd := newReleaseNode(t)
	doubt := inGroup(learning("Perhaps terns sleep in flight."), "team")
	doubt.Confidence = ptr(0.2)
	w := n.write(ada, doubt)
	for _, change := range []Write{{ID: w.ID, IfVersion: 1, Validated: ptr(true)},
		{ID: w.ID, IfVersion: 1, Confidence: ptr(0.9)},
		{ID: w.ID, IfVersion: 1, Validated: ptr(true), Type: LearningItem, Data: doubt.Data}} {
		_, err := n.tryWrite(ada, change)
		require.ErrorIs(t, err, schemas.ErrDenied)
	}
	_, err := n.tryWrite(cyd, Write{ID: w.ID, IfVersion: 1, Validated: ptr(true)})
	require.ErrorIs(t, err, schemas.ErrNotFound)
	require.Empty(t, idsOf(n.search(bob, "terns sleep")))
	n.write(russell, Write{ID: w.ID, IfVersion: 1, Validated: ptr(true)})
	require.Equal(t, []schemas.ItemID{w.ID}, idsOf(n.search(bob, "terns sleep")))
	_, err = n.tryWrite(russell, Write{ID: w.ID, IfVersion: 2, Validated: ptr(true), Subject: "tern", Key: "sleep"})
	require.ErrorIs(t, err, schemas.ErrDenied, "its words stay its owner's")

	// Nor by way of its own memory.
	doubt.Group, doubt.Data = "", learning("Perhaps terns never sleep.").Data
	own := n.write(ada, doubt)
	n.write(ada, Write{ID: own.ID, Validated: ptr(true)})
	_, err = n.share(ada, own.ID, "team")
	require.ErrorIs(t, err, schemas.ErrDenied)
}
