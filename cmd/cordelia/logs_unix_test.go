//go:build unix

package main

import (
	"bufio"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
)

// What is shown since a time is all of it, also where it is more than a page; without a time, or with a
// limit, a line says that older entries are left out. Of refusals, which are read at once, a line says so, too.
func TestNothingSinceATimeIsLeftOut(t *testing.T) {
	s := newStage(t, "ann")
	n, err := ops.Open(t.Context(), node.Config{Home: node.Home(s.home()), Durability: store.Relaxed})
	require.NoError(t, err)
	keys := n.Keyring(nil)
	ann, err := n.Person(t.Context(), keys, "test")
	require.NoError(t, err)
	call := func(args string) {
		_, err := ops.Find("memory_group").Call(t.Context(), n, ann, []byte(args))
		require.NoError(t, err)
	}
	call(`{"action": "create", "group": "team"}`)
	const changes = node.AuditPage + 20
	for i := range changes {
		call(fmt.Sprintf(`{"action": "update", "group": "team", "description": "the %d-th"}`, i))
	}
	sql := func(query string, args ...any) {
		require.NoError(t, n.Store.Write(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(query, args...)
			return err
		}))
	}
	const refusals = node.AuditPage
	refuse := func(i int) { // later than all changes
		sql(`INSERT INTO denials(entity_id, minute, tool, reason, n) VALUES (?, ?, 'memory_search', ?, 1)`,
			ann.Entity, time.Now().Unix()/60+2, fmt.Sprintf("the %d-th", i))
	}
	for i := range refusals {
		refuse(i)
	}
	const more = "older entries are left out"
	for _, command := range []string{"logs", "audit tail"} {
		all := s.run("cordelia " + command + " --since 24h")
		require.Equal(t, changes+1, strings.Count(all, " memory_group "), command)
		require.NotContains(t, all, more)
		require.Contains(t, s.run("cordelia "+command), more, command)
		few := s.run("cordelia " + command + " --since 24h --limit 3")
		require.Equal(t, 3, strings.Count(few, " memory_group "), few)
		require.Contains(t, few, more)
	}

	following := s.command("exec cordelia logs --since 24h --follow")
	out, err := following.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, following.Start())
	shown := 0
	for lines, refused := bufio.NewScanner(out), 0; refused < refusals; {
		require.True(t, lines.Scan(), "%d changes, %d refusals", shown, refused)
		shown += strings.Count(lines.Text(), " memory_group ")
		refused += strings.Count(lines.Text(), " refused 1 time in this minute")
	}
	require.Equal(t, changes+1, shown, "before the refusals, which are later")
	require.NoError(t, following.Process.Kill())
	require.Error(t, following.Wait())

	const moreRefused = "older refusals are left out: the newest 1000 lines of them are shown"
	require.NotContains(t, s.run("cordelia logs --since 24h"), moreRefused)
	refuse(refusals)
	all := s.run("cordelia logs --since 24h")
	require.Contains(t, all, moreRefused)
	require.Equal(t, refusals, strings.Count(all, " refused 1 time in this minute"))
	sql(`UPDATE denials SET minute = minute - 60`)
	require.Contains(t, s.run("cordelia logs --since 24h"), moreRefused)
	few := s.run("cordelia logs --limit 3") // of their time changes are left out, too
	require.NotContains(t, few, " refused ")
	require.NotContains(t, few, moreRefused)
	keys.Close()
	require.NoError(t, n.Close())
}

// A refusal counts for its minute: it is shown though all changes that are shown are of the same minute.
func TestARefusalIsShownWithTheChangesOfItsMinute(t *testing.T) {
	s := newStage(t, "ann")
	s.must("cordelia agent register --name hand --type swarm-worker")
	s.must("cordelia memory group create team")
	s.run("cordelia memory group create other --as hand")
	require.Contains(t, s.run("cordelia logs --limit 1"), "refused 1 time in this minute")
}
