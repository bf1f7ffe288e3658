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
		require.Equal(t, 3, strings.Count(few, " ann  memory_"), few)
		require.Contains(t, few, more)
		require.NotContains(t, few, "--since 24h", "it is in the command")
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

// A person sees what happened, who did it and why: moves with their reasons, what was done to an agent, why a
// call was refused and, behind what came in its minute, when.
func TestLogsSayWhatHappenedAndWhy(t *testing.T) {
	s := newStage(t, "ann")
	s.must("cordelia memory group create team --as claude-code")
	s.must("cordelia agent register --name hand --type swarm-worker --as claude-code")
	s.must("cordelia agent register --name guest --type custom --as claude-code")
	s.must("cordelia memory write one --as hand")
	s.must("cordelia memory group add team guest --as claude-code")
	s.run("cordelia memory write two --as hand --group team")
	s.run("cordelia task submit three --as hand")
	s.run("cordelia memory write three --as hand --group nowhere")
	s.run("cordelia memory read nope1234 --as hand")
	s.must("cordelia agent suspend hand --reason 'too eager' --as claude-code")
	s.must("cordelia agent resume hand")
	s.must("cordelia mcp --as claude-code <<'END'\n" + callAs + "\nEND")
	require.Contains(t, s.must("cordelia logs --agent claude-code"), "hand (by claude-code)  memory_write_warm  item ")

	of := s.must("cordelia logs --agent hand")
	at := -1
	for _, part := range []string{
		"claude-code  agent_register  hand, context of hand\n",
		"node  lifecycle  hand (registered → active: its first call)\n",
		"claude-code  agent_lifecycle  hand (active → suspended: too eager)\n",
		"ann  agent_lifecycle  hand (suspended → active: resume)\n",
		"hand  memory_write_warm  refused 1 time in this minute: hand may not write group team\n",
		"hand  memory_write_warm  refused 1 time in this minute: there is no such group\n",
		"hand  task_submit  refused 1 time in this minute: hand does not hold the tool task_submit\n",
	} {
		require.Contains(t, of, part)
		if !strings.Contains(part, "refused") { // a minute may have ended between
			require.Greater(t, strings.Index(of, part), at, "in order: %s", of)
			at = strings.Index(of, part)
		}
	}
	require.NotContains(t, of, "guest")
	require.NotContains(t, of, "memory_read_warm", "what an id names need not be there")
	require.Less(t, strings.Index(of, "hand  memory_write_warm  item "), strings.Index(of, "refused"))
	require.Contains(t, s.must("cordelia logs --agent guest"), "claude-code  memory_group  group team, guest\n")
	require.Contains(t, s.must("cordelia logs --agent hand --json"),
		`"moves":[{"of":"hand","from":"active","to":"suspended","on":"suspend","reason":"too eager"}]`)
	for limit := range 3 {
		require.Len(t, lines(s.must(fmt.Sprintf("cordelia logs --limit %d 2>err", limit+1))), limit+1)
	}
	for _, command := range []string{"logs --agent", "audit tail --actor"} {
		out := s.run("cordelia " + command + " nosuch")
		require.Contains(t, out, `there is no agent "nosuch" here`)
		require.Contains(t, out, "next: cordelia agent list shows")
		require.Contains(t, out, "[exit 4]")
	}
}

// callAs is a client that has its agent act as another.
const callAs = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_write_warm",` +
	`"arguments":{"as":"hand","type":"learning","data":{"type":"insight","content":"four"}}}}`

// The reason of a refusal is worded, also one that an older version wrote down.
func TestReasonsOfRefusalsAreWorded(t *testing.T) {
	for reason, words := range map[string]string{
		"group:absent":                       "there is no such group",
		"group:archived":                     "the group is archived",
		"group:hand":                         "hand may not touch that group",
		"group:hand:may not read group team": "hand may not read group team",
		"visibility:hand:may not write what is public": "hand may not write what is public",
		"unattended:hand":               "hand is not autonomous, and its parent gave no sign of life",
		"matrix:custom:medium":          "not open to it there (custom, tier medium)",
		"matrix:custom:medium:grant":    "its parent did not grant it that",
		"matrix:custom:medium:role":     "it is no member of the group, or only a viewer there",
		"matrix:custom:low:tier":        "its tier is low",
		"matrix:unheard-of:medium:type": "its type is unheard-of",
		"matrix:custom:medium:other":    "it is the context of another",
		"private:hand":                  "it is another's",
	} {
		require.Equal(t, words, why(reason, "memory_read_warm"), reason)
	}
}

// A refusal counts for its minute: it is shown though all changes that are shown are of the same minute.
func TestARefusalIsShownWithTheChangesOfItsMinute(t *testing.T) {
	s := newStage(t, "ann")
	s.must("cordelia agent register --name hand --type swarm-worker")
	s.must("cordelia memory group create team")
	s.run("cordelia memory group create other --as hand")
	require.Contains(t, s.run("cordelia logs --limit 1"), "refused 1 time in this minute")
}
