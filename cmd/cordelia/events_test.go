package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/cmd/cordelia/cli"
	"cordelia/ops"
	"cordelia/schemas"
)

// printed is what f prints, and what it notes beside it.
func printed(t *testing.T, f func(a *cli.App)) (out, notes string) {
	t.Helper()
	open := func(name string) *os.File {
		file, err := os.Create(filepath.Join(t.TempDir(), name))
		require.NoError(t, err)
		t.Cleanup(func() { file.Close() })
		return file
	}
	a := &cli.App{Out: open("out"), ErrOut: open("notes")}
	f(a)
	read := func(file *os.File) string {
		raw, err := os.ReadFile(file.Name())
		require.NoError(t, err)
		return string(raw)
	}
	return read(a.Out), read(a.ErrOut)
}

// pageOf is an answer with as many events.
func pageOf(events, unread, skipped int, cursor string) ops.EventsPollOut {
	v := ops.EventsPollOut{Unread: unread, Cursor: cursor}
	for i := range events {
		v.Events = append(v.Events, ops.PolledEvent{ID: schemas.EventID(fmt.Sprint("event-", i)),
			Event: schemas.EventMemoryWritten, Payload: struct{}{}})
	}
	if skipped > 0 {
		v.Gap = &ops.EventGap{Skipped: skipped}
	}
	return v
}

// What waits already has no staging group of its own, so no line for it.
func TestAReturnWithoutAStagingGroupPrintsNoEmptyLine(t *testing.T) {
	for staging, want := range map[string]string{"": "they wait\n", "staging-1": "they wait\nstaging-1\n"} {
		out, _ := printed(t, func(a *cli.App) {
			showReturned(a, ops.ReintegrateOut{Reviews: []string{"x"}, Staging: schemas.GroupID(staging),
				Next: schemas.Hintf("they wait")})
		})
		require.Equal(t, want, out)
	}
}

func TestEventsLeftOutAreSaid(t *testing.T) {
	const limits = "as many as --limit and the size of an answer allow"
	for name, test := range map[string]struct {
		answer ops.EventsPollOut
		notes  string
	}{
		"all":          {pageOf(91, 91, 0, "C"), "cordelia: 91 unread; once handled, the same with: --ack C\n"},
		"all, peeking": {pageOf(91, 91, 0, ""), ""},
		"part": {pageOf(82, 91, 0, "C"), "cordelia: the oldest 82 of 91 unread shown, " + limits +
			"; once handled, the same goes on with: --ack C\n"},
		"part, peeking": {pageOf(82, 91, 0, ""), "cordelia: the oldest 82 of 91 unread shown, " + limits +
			"; to get past them, poll without --peek\n"},
		"older ones skipped": {pageOf(82, 300, 44, "C"), "cordelia: 44 older events are no longer shown\n" +
			"cordelia: the oldest 82 of 256 unread shown, " + limits +
			"; once handled, the same goes on with: --ack C\n"},
	} {
		t.Run(name, func(t *testing.T) {
			_, notes := printed(t, func(a *cli.App) { showEvents(a, test.answer) })
			require.Equal(t, test.notes, notes)
		})
	}
}

// Who only looks on is shown the same page until the reader has handled it.
func TestTailSaysOnceThatItIsBehind(t *testing.T) {
	_, notes := printed(t, func(a *cli.App) {
		look := &tail{Acting: &cli.Acting{App: a}, seen: map[schemas.EventID]bool{}}
		for _, v := range []ops.EventsPollOut{pageOf(3, 3, 0, ""), pageOf(82, 91, 0, ""), pageOf(82, 92, 0, "")} {
			require.NoError(t, look.show(v))
		}
	})
	require.Equal(t, "cordelia: the oldest 82 of 91 unread shown, as many as an answer holds; the rest follows once "+
		"these are handled, or with --ack\n", notes)
	_, notes = printed(t, func(a *cli.App) {
		reader := &tail{Acting: &cli.Acting{App: a}, ack: true, seen: map[schemas.EventID]bool{}}
		require.NoError(t, reader.show(pageOf(82, 91, 0, "C")))
	})
	require.Empty(t, notes, "it goes on by itself")
}
