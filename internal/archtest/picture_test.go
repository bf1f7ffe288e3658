package archtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// layer is packages that never import each other, and what they are, in their order; "" for those
// that only tests use, which the picture in ARCHITECTURE.md leaves out.
type layer struct {
	says    string
	folders []string
}

// picture is the layers, lowest first: a package imports only from layers below
// its own, so those of one layer never import each other. A package that exists
// and is not here fails, and so does one that is here and does not exist. The proofs
// stand above all layers.
var picture = []layer{
	{"ids, records, enums, edges, errors, signed bytes, JSON Schemas", []string{"schemas"}},
	{"of the store: the write lock, who is woken, new tables · servers of models",
		[]string{"internal/store/lock", "internal/store/notify", "internal/store/migrate", "internal/endpoint"}},
	{"PostgreSQL, for the store", []string{"internal/store/postgres"}},
	{"one SQLite file or a PostgreSQL database, many processes · keys, seals, tokens · checks that a " +
		"machine makes · vectors from a server · JSON Schemas · the Merkle tree · NATS",
		[]string{"internal/store", "internal/keys", "internal/machinecheck", "internal/embedding",
			"internal/jsonschema", "internal/merkle", "internal/jetstream"}},
	{"runs the program as clients do · words, stems, speakers of a text · the one form of a JSON " +
		"value · vectors of words, of sentences",
		[]string{"internal/drive", "memory/text", "memory/canonical", "memory/wordvec", "memory/sentence"}},
	{"", []string{"internal/store/storetest", "internal/embedding/embeddingtest",
		"internal/jetstream/jetstreamtest"}},
	{"streams, mailboxes, the audit record · the order of what a search found · makes the table of words",
		[]string{"events", "memory/rank", "memory/wordvec/build"}},
	{"principals, capability order, scoping matrix, Authorizer → Grant", []string{"access"}},
	{"", []string{"access/accesstest"}},
	{"contexts and their sessions · vectors of items and which lie near", []string{"memory/hot", "memory/embedding"}},
	{"which agents exist · what they know · how reliable they proved · items, leases, fences · what " +
		"follows from a plan, a verdict, a failed round",
		[]string{"agents", "memory", "trust", "work", "pipeline"}},
	{"what happens to a task, which agent fills its roles · which agents work together, in which " +
		"groups · what waits for a decision · agents with a charter · exports and imports · prices, budgets, what " +
		"was spent · worktrees, commits and merges of a run",
		[]string{"pipeline/controller", "swarm", "review", "roles", "memory/archive", "run/cost",
			"run/git"}},
	{"", []string{"run/git/gittest"}},
	{"one installation: identity, keys, routines, backup, restore, audit verification", []string{"node"}},
	{"seats filled by the user's coding clients: sandbox, record", []string{"run"}},
	{"the catalogue: one file per operation", []string{"ops"}},
	{"", []string{"ops/opstest"}},
	{"the MCP server: stdio, HTTP, both protocol eras · what a client's own hooks are told · the plugin " +
		"for Claude Code · settings of clients · a story to watch · a measurement with real models",
		[]string{"mcp", "hooks", "plugin", "internal/clientsettings", "internal/demo", "internal/live"}},
	{"config.json · what each system tells in its own way", []string{"cmd/cordelia/config", "cmd/cordelia/platform"}},
	{"what commands share", []string{"cmd/cordelia/cli"}},
	{"connects clients · the record's commands", []string{"cmd/cordelia/setup", "cmd/cordelia/audit"}},
	{"examines the machine", []string{"cmd/cordelia/doctor"}},
	{"pages for people, in a browser", []string{"console"}},
	{"the command line, a file per group of commands", []string{"cmd/cordelia"}},
	{"", []string{"internal/archtest"}},
}

// The picture in ARCHITECTURE.md is this one; UPDATE_GOLDEN=1 draws it anew.
func TestPictureIsCurrent(t *testing.T) {
	const begin, end = "<!-- picture:begin -->\n", "<!-- picture:end -->"
	file := filepath.Join(root, "ARCHITECTURE.md")
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(raw), begin)
	require.True(t, ok, "ARCHITECTURE.md needs the line %q", begin)
	have, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "ARCHITECTURE.md needs the line %q", end)
	want := "```\n" + drawn(picture) + "```\n"
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile(file, []byte(before+begin+want+end+after), 0o644))
		return
	}
	require.Equal(t, want, have, "run UPDATE_GOLDEN=1 go test ./internal/archtest -run %s and read the change", t.Name())
}

// drawn is the picture as text, the highest layer first.
func drawn(layers []layer) string {
	const left, wide = 22, 118
	var b strings.Builder
	for _, l := range slices.Backward(layers) {
		if l.says == "" {
			continue
		}
		line := strings.Join(l.folders, "  ")
		if len(line) >= left {
			b.WriteString(line + "\n")
			line = ""
		}
		line += strings.Repeat(" ", left-len(line)-1)
		for word := range strings.FieldsSeq(l.says) {
			if len(line)+1+len(word) > wide {
				b.WriteString(line + "\n")
				line = strings.Repeat(" ", left-1)
			}
			line += " " + word
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
