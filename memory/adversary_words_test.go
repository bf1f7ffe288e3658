package memory

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

// order is an instruction with a command, which equal words would have to repeat.
func order(n int, command string) string { return fmt.Sprintf("Tidy branch %d with %s", n, command) }

// Words that differ in what a command reads are not equal, whatever looks or sounds alike.
func TestWordsOfACommandAreNotFolded_INV_RELEASE(t *testing.T) {
	n, cyd := newReleaseNode(t)
	for name, pair := range map[string][2]string{
		"a flag's case":      {"git branch -d old", "git branch -D old"},
		"a path's case":      {"rm -r Build/x", "rm -r build/x"},
		"a separator":        {"cd tmp; rm x", "cd tmp rm x"},
		"a line break":       {"echo one # two", "echo one #\ntwo"},
		"a dot of a path":    {"rm -r ./..", "rm -r ./"},
		"a letter alike":     {"delete old", "delete \u043eld"},
		"a zero-width space": {"delete old", "delete o\u200bld"},
		"a full-width sign":  {"delete old", "delete \uff4fld"},
		"an accent apart":    {"delete caf\u00e9", "delete cafe\u0301"},
		"tag characters":     {"delete old", "delete old\U000e0041"},
	} {
		attack(t, name, func(_ *testing.T, i int) bool {
			i += 1000 * len(name)
			first := n.write(cyd, procedure(order(i, pair[0]), "memory_search"))
			second := n.write(ada, procedure(order(i, pair[1]), "memory_search"))
			return !second.Unreleased || n.one(`SELECT quarantined FROM items WHERE id = ?`, first.ID) != "1"
		})
	}
}

// A release ends with the words it was about: who brings them back by a detour, with
// something else that they are about, does not bring back the release.
func TestAReleaseEndsWithItsWords_INV_RELEASE(t *testing.T) {
	n, _ := newReleaseNode(t)
	attack(t, "another subject by a detour", func(_ *testing.T, i int) bool {
		subject, from, to := words(i)
		text := procedure(rule(subject, from), "memory_search")
		w := n.write(ada, text)
		require.NoError(t, n.release(russell, w.ID, true))
		detour := procedure(rule(subject, to), "memory_search")
		if i%2 == 0 { // what does not instruct says freely what it is about
			detour = learning("Nothing about " + subject)
		}
		for version, change := range []Write{detour, {Subject: subject, Key: to}, text} {
			change.ID, change.IfVersion, change.Group = w.ID, n.read(ada, w.ID).Version, ""
			if version == 1 && i%2 == 1 {
				continue
			}
			_, err := n.tryWrite(ada, change)
			require.NoError(t, err)
		}
		return n.one(`SELECT quarantined FROM items WHERE id = ?`, w.ID) == "0"
	})
	attack(t, "words changed after the person read them", func(_ *testing.T, i int) bool {
		subject, from, to := words(i + 50)
		w := n.write(ada, procedure(rule(subject, from), "memory_search"))
		shown := n.read(ada, w.ID).Version
		change := procedure(rule(subject, to), "memory_search")
		change.ID, change.IfVersion, change.Group = w.ID, shown, ""
		n.write(ada, change)
		for _, version := range []int{0, shown} {
			require.Error(t, n.do(russell, access.Write,
				func(g access.Grant) error { return Release(g, w.ID, version, true) }))
		}
		return n.one(`SELECT quarantined FROM items WHERE id = ?`, w.ID) == "0"
	})
}

// What a person held back, agents do not bring into effect by writing it anew.
func TestWordsHeldBackStaySo_INV_RELEASE(t *testing.T) {
	n, cyd := newReleaseNode(t)
	attack(t, "written anew by two agents", func(_ *testing.T, i int) bool {
		subject, from, to := words(i)
		text := procedure(rule(subject, from), "memory_search")
		w := n.write(ada, text)
		require.NoError(t, n.release(russell, w.ID, false))
		switch i % 3 {
		case 0:
			require.NoError(t, n.remove(ada, w.ID, Bury))
		case 1:
			require.NoError(t, n.remove(ada, w.ID, Purge))
		case 2:
			change := procedure(rule(subject, to), "memory_search")
			change.ID, change.IfVersion, change.Group = w.ID, 1, ""
			n.write(ada, change)
		}
		again, second := n.write(ada, text), n.write(cyd, text)
		return !again.Unreleased || !second.Unreleased ||
			n.one(`SELECT quarantined FROM items WHERE id = ?`, again.ID) == "0"
	})
}

// What a person let take the place of their own words stays as they read it, and its
// author puts nothing in its place alone.
func TestWhatTookAPlaceByAnothersWordStays_INV_SUCCESSION(t *testing.T) {
	n, _ := newReleaseNode(t)
	attack(t, "changed, or superseded, by its author", func(_ *testing.T, i int) bool {
		subject, _, _ := words(i)
		old := n.write(russell, inGroup(learning("The "+subject+" nests on the cliff."), "team"))
		next := inGroup(learning("The "+subject+" nests in the barn."), "team")
		next.Supersedes = old.ID
		w := n.write(ada, next)
		require.Equal(t, old.ID, w.Contested)
		require.NoError(t, n.do(russell, access.Write, func(g access.Grant) error { return Succeed(g, w.ID, old.ID) }))
		require.Equal(t, w.ID, n.read(bob, old.ID).SupersededBy)

		lie := learning("The " + subject + " is to be shot.")
		change := lie
		change.ID, change.IfVersion = w.ID, 1
		_, err := n.tryWrite(ada, change)
		require.ErrorIs(t, err, schemas.ErrDenied)
		_, err = n.tryWrite(ada, Write{ID: w.ID, IfVersion: 1, Subject: subject, Key: "fate"})
		require.ErrorIs(t, err, schemas.ErrDenied)
		after := inGroup(lie, "team")
		after.Supersedes = w.ID
		require.Equal(t, w.ID, n.write(ada, after).Contested)
		return n.read(bob, w.ID).SupersededBy != ""
	})
}
