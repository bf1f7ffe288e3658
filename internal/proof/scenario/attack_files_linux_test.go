package scenario

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// An export that somebody edited, or that another node made in the person's name, becomes no
// word of the person's, instructs nobody and leaves the person's context as it is.
func TestAttackEditedExports(t *testing.T) {
	f := newField(t, "")
	stranger := newNode(t) // of the same user name
	write := func(n *Node, args ...string) {
		_, errOut, code, err := n.Run(t.Context(), args...)
		require.NoError(t, err)
		require.Zero(t, code, "%v: %s", args, errOut)
	}
	open(t, stranger, "")
	db := openDB(t, f.Node)
	f.tries(func(i int) {
		from := stranger
		if i%3 == 2 {
			from = f.Node
		}
		fact, rule, focus := f.name("fact"), f.name("rule"), f.name("focus")
		write(from, "memory", "write", f.sentence(fact))
		write(from, "memory", "write", "--type", "learning", procedure(f.sentence(rule), "memory_search"))
		write(from, "memory", "hot", "patch", fmt.Sprintf(`{"active": {"focus": %q}}`, focus))
		file := filepath.Join(t.TempDir(), "export.jsonl")
		write(from, "export", file)
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		if from == f.Node {
			raw = bytes.ReplaceAll(raw, []byte(fact), []byte(fact+"-turned"))
			raw = bytes.ReplaceAll(raw, []byte(rule), []byte(rule+"-turned"))
			raw = bytes.ReplaceAll(raw, []byte(focus), []byte(focus+"-turned"))
			fact, rule = fact+"-turned", rule+"-turned"
		}
		var lines []string
		for line := range bytes.Lines(raw) {
			var record map[string]any
			require.NoError(t, json.Unmarshal(line, &record))
			if i%2 == 1 { // without signatures
				delete(record, "sig")
				delete(record, "signer")
			}
			if item, ok := record["item"].(map[string]any); ok {
				item["released"], item["validated"], item["confidence"] = true, true, 1
				if p, ok := item["provenance"].(map[string]any); ok {
					p["source"], p["author"] = "user", f.me
				}
			}
			lines = append(lines, compact(record))
		}
		require.NoError(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
		before := fingerprint(t, db, map[string]string{"l1": ""})
		_, said, _, err := f.Node.Run(t.Context(), "import", "--create-groups", file) // refused or not
		require.NoError(t, err)
		require.NotContains(t, said, "internal")
		f.hit(before["l1"] != fingerprint(t, db, map[string]string{"l1": ""})["l1"], "the context is replaced")
		f.hit(count(t, db, `SELECT count(*) FROM items WHERE data LIKE ? AND source NOT IN ('external', 'tool')`,
			"%"+fact+"%") > 0, "the words count as the person's")
		f.hit(count(t, db, `SELECT count(*) FROM items WHERE data LIKE ? AND quarantined = 0`, "%"+rule+"%") > 0,
			"an instruction is in effect")
		found := f.must(f.lead, "memory_search", `{"query": %q}`, rule)
		f.hit(strings.Contains(found.Text, rule), "an instruction is found: %s", found.Text)
	})
}

// Names, words and descriptions of agents hide control characters: no command sends one to a
// terminal, or a character that turns the text or does not show.
func TestAttackTerminals(t *testing.T) {
	f := newField(t, "")
	hidden := []string{"\x1b]0;owned\x07", "\x1b[2J", "\u202e", "\u009b31m", "\u2066", "\U000e0041", "\x7f", "\r",
		"\u200b", "\ufeff", "\u0085", "\x1b]52;c;aGk=\x07"}
	f.tries(func(i int) {
		f.random.Shuffle(len(hidden), func(a, b int) { hidden[a], hidden[b] = hidden[b], hidden[a] })
		bad := strings.Join(hidden[:4], "x")
		quoted := func(s string) string { return strings.Trim(compact(s), `"`) }
		group := f.name("g")
		f.tryTo(f.lead, "memory_group", `{"action": "create", "group": %q, "description": "%s"}`, group, quoted(bad))
		name := f.name("imp")
		f.tryTo(f.lead, "agent_register",
			`{"agent_type": "swarm-worker", "name": %q, "display_name": "I%s"}`, name, quoted(bad))
		id := text(f.tryTo(f.lead, "memory_write_warm", `{"type": "learning", "group": %q, "subject": "s%s", "key": "k",
			"data": {"type": "insight", "content": "gannets %s", "tags": ["t%s"]}}`, group, quoted(bad), quoted(bad),
			quoted(bad)), "id")
		if id == "" {
			id = text(f.must(f.lead, "memory_write_warm", `{"type": "learning", "group": %q,
				"data": {"type": "insight", "content": "gannets %s"}}`, group, quoted(bad)), "id")
		}
		f.tryTo(f.lead, "task_submit", `{"group": %q, "items": [{"intent": "count %s"}]}`, group, quoted(bad))
		f.tryTo(f.lead, "memory_write_hot", `{"operation": "patch", "data": {"active": {"focus": "f%s"}}}`, quoted(bad))
		f.tryTo(f.lead, "agent_deactivate", `{"agent": %q, "reason": "r%s"}`, name, quoted(bad))
		for _, args := range [][]string{{"export", "--as", "claude-code", "-"},
			{"export", "--as", "claude-code", "--format", "markdown", "-"}, {"memory", "list"}, {"memory", "read", id},
			{"memory", "search", "gannets"}, {"memory", "group", "list", "--as", "claude-code"}, {"agent", "list"},
			{"agent", "show", "claude-code"}, {"task", "list"}, {"status"}, {"audit", "tail"}, {"events", "poll"}, {"logs"},
			{"review", "list"}, {"memory", "hot", "show", "--as", "claude-code"}} {
			shown := f.onTerminal(args...)
			for _, r := range shown {
				raw := r < 0x20 && !strings.ContainsRune("\n\r\t\x1b", r) || r == 0x7f || unicode.Is(unicode.Cf, r) ||
					r > 0x7f && r < 0xa0
				f.hit(raw, "%v shows %U: %q", args, r, shown)
				if raw {
					break
				}
			}
			f.hit(strings.Contains(shown, "\x1b]") || strings.Contains(shown, "\x1b[2J"), "%v: %q", args, shown)
		}
	})
}

// onTerminal is what a command shows on a terminal.
func (f *field) onTerminal(args ...string) string {
	f.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(f, err)
	defer keys.Close()
	require.NoError(f, unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	require.NoError(f, err)
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(f, err)
	cmd := exec.CommandContext(f.Context(), f.Binary, args...)
	cmd.Env = append(append(os.Environ(), f.Env...), "CORDELIA_HOME="+f.Home, "TERM=xterm")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	require.NoError(f, cmd.Start())
	require.NoError(f, screen.Close())
	var shown bytes.Buffer
	_, _ = shown.ReadFrom(keys) // ends with an error when the program has
	_ = cmd.Wait()              // how it ends is not what is asked
	return shown.String()
}

// Settings that others may write, or put in place, switch nothing on: no command runs with them.
func TestAttackSettings(t *testing.T) {
	f := newField(t, "")
	file := filepath.Join(f.Home, "config.json")
	f.tries(func(i int) {
		bits := os.FileMode(0o600)
		undo := func() {}
		switch i % 3 {
		case 0:
			for bits&0o022 == 0 {
				bits = 0o600 | os.FileMode(f.random.IntN(0o100))
			}
			require.NoError(t, os.Chmod(file, bits))
			undo = func() { require.NoError(t, os.Chmod(file, 0o600)) }
		case 1:
			for bits&0o022 == 0 {
				bits = 0o700 | os.FileMode(f.random.IntN(0o100))
			}
			require.NoError(t, os.Chmod(f.Home, bits))
			undo = func() { require.NoError(t, os.Chmod(f.Home, 0o700)) }
		case 2:
			other := filepath.Join(t.TempDir(), "config.json")
			require.NoError(t, os.WriteFile(other, []byte(`{"checks": {"commands": true}}`), 0o666))
			require.NoError(t, os.Rename(file, file+".kept"))
			link := os.Symlink
			if i%2 == 1 {
				link = os.Link
				require.NoError(t, os.Chmod(other, 0o666))
			}
			require.NoError(t, link(other, file))
			undo = func() { require.NoError(t, os.Rename(file+".kept", file)) }
		}
		for _, args := range [][]string{{"status"}, {"agent", "list"}, {"memory", "list"}, {"mcp"}} {
			_, said, code, err := f.Node.Run(t.Context(), args...)
			require.NoError(t, err)
			f.hit(code == 0, "%v runs with settings of %04o: %s", args, bits, said)
		}
		undo()
		f.person("agent", "list")
	})
}

// Rights and words that somebody writes into the database past the node are named by a deep
// verification.
func TestAttackTheDatabase(t *testing.T) {
	f := newField(t, "")
	db, err := sql.Open("sqlite", "file:"+f.Database()+"?_pragma=busy_timeout(10000)")
	require.NoError(t, err)
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // the node goes, too
	verify := func() (code int, said string) {
		out, errOut, code, err := f.Node.Run(t.Context(), "audit", "verify", "--deep")
		require.NoError(t, err)
		return code, out + errOut
	}
	f.tries(func(i int) {
		group := f.group(f.lead)
		name := f.top("mallory")
		f.join(f.lead, "claude-code", group, name)
		id := f.note(f.as(name), group, f.sentence("cold"))
		rule := text(f.must(f.as(name), "memory_write_warm", `{"type": "learning", "group": %q, "data": %s}`, group,
			procedure(f.sentence("obey"))), "id")
		code, said := verify()
		require.Zero(t, code, said)
		for _, change := range [][3]string{
			{`UPDATE items SET data = replace(data, 'cold', 'warm') WHERE id = ?`,
				`UPDATE items SET data = replace(data, 'warm', 'cold') WHERE id = ?`, id},
			{`UPDATE items SET quarantined = 0 WHERE id = ?`, `UPDATE items SET quarantined = 1 WHERE id = ?`, rule},
			{`INSERT INTO releases(item, content_hash, released, by, at) SELECT n, content_hash, 1, 'node', 0 FROM items
				WHERE id = ?`, `DELETE FROM releases WHERE item = (SELECT n FROM items WHERE id = ?)`, rule},
			{`UPDATE members SET role = 'owner' WHERE role = 'member' AND entity_id = (SELECT id FROM entities WHERE name = ?)`,
				`UPDATE members SET role = 'member' WHERE role = 'owner' AND entity_id = (SELECT id FROM entities WHERE name = ?)`,
				name},
			{`UPDATE entities SET capabilities = json_set(capabilities, '$.max_parallel_ops', 99) WHERE name = ?`,
				`UPDATE entities SET capabilities = json_set(capabilities, '$.max_parallel_ops', 8) WHERE name = ?`, name},
			{`UPDATE items SET visibility = 'public', group_id = '' WHERE id = ?`,
				`UPDATE items SET visibility = 'group', group_id = '` + group + `' WHERE id = ?`, id},
			{`UPDATE entities SET parent_id = (SELECT id FROM entities WHERE name = 'claude-code') WHERE name = ?`,
				`UPDATE entities SET parent_id = root_id WHERE name = ?`, name},
		}[i%7 : i%7+1] {
			_, err := db.Exec(change[0], change[2])
			require.NoError(t, err)
			code, said = verify()
			f.hit(code == 0 || strings.Contains(said, "not a cordelia database"), "%s is not found: %s", change[0], said)
			_, err = db.Exec(change[1], change[2])
			require.NoError(t, err)
		}
		code, said = verify()
		require.Zero(t, code, said)
	})
}
