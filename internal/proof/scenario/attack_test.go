package scenario

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
	"cordelia/ops"
)

// A file attack_…_test.go is a group of attacks on people's trust, memory or server, each tried
// again and again against the real program. A try is a hit if the attacker got what it wanted.
// Each try has fresh agents and words, and every second one goes over HTTP.

// field is a node on which one attack is tried.
type field struct {
	*testing.T
	*Node
	random  *rand.Rand
	address string // of its HTTP face
	lead    Client
	me      string // the person's id
	turn    int
	made    int
	open    []Client // of this try
	hits    []string
}

// newField makes a node with these settings, where no agent is slowed down.
func newField(t *testing.T, settings string) *field {
	t.Parallel()
	n := newNode(t)
	require.NoError(t, os.MkdirAll(n.Home, 0o700))
	all := `{"refused_per_minute": 1000000, "failed_per_minute": 1000000` + settings + `}`
	require.NoError(t, os.WriteFile(filepath.Join(n.Home, "config.json"), []byte(all), 0o600))
	f := &field{T: t, Node: n, random: rand.New(rand.NewPCG(rand.Uint64(), 1))}
	f.lead = open(t, n, "")
	f.me = texts(t, openDB(t, n), `SELECT id FROM entities WHERE kind = 'human'`)[0]
	var err error
	f.address, err = n.Serve(t.Context())
	require.NoError(t, err)
	return f
}

// tries runs an attack a few times, 30 times under `make soak`, and wants no hit.
func (f *field) tries(try func(i int)) {
	f.Helper()
	n := soak.Count(f, 3, 30)
	for f.turn = range n {
		try(f.turn)
		for _, c := range f.open {
			require.NoError(f, c.Close())
		}
		f.open = nil
	}
	f.over(n)
}

// over says how often an attack was tried, and fails if one try was a hit.
func (f *field) over(n int) {
	f.Helper()
	f.Logf("%d tries, %d hits", n, len(f.hits))
	require.Empty(f, f.hits)
}

// hit counts what an attacker got.
func (f *field) hit(got bool, format string, args ...any) {
	if got {
		f.hits = append(f.hits, fmt.Sprintf("try %d: ", f.turn)+fmt.Sprintf(format, args...))
	}
}

// name is a fresh one.
func (f *field) name(kind string) string {
	f.made++
	return fmt.Sprintf("%s-%d-%x", kind, f.made, f.random.Uint32())
}

// sentence is a fresh one, with these words in it.
func (f *field) sentence(words ...string) string {
	list := strings.Fields("harbour winter lantern cargo signal granite meadow copper thunder velvet orchard compass")
	f.random.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	return strings.Join(append(append(list[:3:3], words...), list[3:6]...), " ")
}

// all is every right there is, for agents with depth levels of agents below them.
func all(depth int) string {
	return fmt.Sprintf(`{"memory_read": {"layers": ["l1", "l2"], "groups": ["*"], "visibility": ["private", "group", "public"]},
		"memory_write": {"layers": ["l1", "l2"], "groups": ["*"], "visibility": ["private", "group"]},
		"tools": %s, "max_parallel_ops": 8, "ttl_seconds": 80000000, "autonomous": true, "max_delegation_depth": %d}`,
		compact(ops.Names()), depth)
}

// top registers an agent directly under the person, and gives its name.
func (f *field) top(kind string, groups ...string) string {
	f.Helper()
	name := f.name(kind)
	args := []string{"agent", "register", "--type", "claude-code", "--name", name, "--capabilities", all(3)}
	for _, g := range groups {
		args = append(args, "--group", g)
	}
	f.person(args...)
	return name
}

// child registers an agent under a client's, and gives its name.
func (f *field) child(parent Client, kind string, depth int, groups ...string) string {
	f.Helper()
	name := f.name(kind)
	f.must(parent, "agent_register", `{"agent_type": "claude-code", "display_name": %q, "name": %q, "groups": %s,
		"capabilities": %s}`, name, name, compact(append([]string{}, groups...)), all(depth))
	return name
}

// as is a client that acts as the agent, until the try ends.
func (f *field) as(name string) Client {
	f.Helper()
	if f.turn%2 == 0 {
		c := open(f, f.Node, name)
		f.open = append(f.open, c)
		return c
	}
	return f.remote(name)
}

// remote is a client of an agent over HTTP, "" for the person's own.
func (f *field) remote(name string) Client {
	f.Helper()
	file := "claude-code.key"
	if name != "" && name != "claude-code" {
		file = "agents/" + texts(f, openDB(f, f.Node), `SELECT id FROM entities WHERE name = ?`, name)[0] + ".key"
	}
	c, err := f.Dial(f.Context(), f.address, file)
	require.NoError(f, err)
	return c
}

// person runs a command as the person and gives what it printed.
func (f *field) person(args ...string) any {
	f.Helper()
	out, errOut, code, err := f.Node.Run(f.Context(), append(args, "--json")...)
	require.NoError(f, err)
	require.Zero(f, code, "%v: %s", args, errOut)
	return literal(out)
}

// writes is the id of what the person wrote.
func (f *field) writes(args ...string) string {
	f.Helper()
	return at[string](f, Answer{Value: f.person(append([]string{"memory", "write"}, args...)...)}, "id")
}

func (f *field) must(c Client, tool, args string, with ...any) Answer {
	f.Helper()
	a := f.tryTo(c, tool, args, with...)
	require.Empty(f, a.Code, "%s %s: %s", tool, args, a.Text)
	return a
}

// tryTo calls a tool, whatever comes of it.
func (f *field) tryTo(c Client, tool, args string, with ...any) Answer {
	f.Helper()
	a, err := c.Call(f.Context(), tool, json.RawMessage(fmt.Sprintf(args, with...)))
	require.NoError(f, err, "%s %s", tool, args)
	require.NotContains(f, []string{"internal", "protocol"}, a.Code, "%s %s: %s", tool, args, a.Text)
	return a
}

// note writes an insight into a group and gives its id.
func (f *field) note(c Client, group, text string) string {
	f.Helper()
	return at[string](f, f.must(c, "memory_write_warm",
		`{"type": "learning", "group": %q, "data": {"type": "insight", "content": %q}}`, group, text), "id")
}

// group makes a group of a client's agent, and gives its name.
func (f *field) group(owner Client) string {
	f.Helper()
	name := f.name("g")
	f.must(owner, "memory_group", `{"action": "create", "group": %q}`, name)
	return name
}

// join makes agents members of a group, with the person's consent.
func (f *field) join(owner Client, ownersName, group string, names ...string) {
	f.Helper()
	for _, name := range names {
		f.person("agent", "capabilities", name, "--accept-from", ownersName, "--group", group)
		f.must(owner, "memory_group", `{"action": "add", "group": %q, "entity": %q}`, group, name)
	}
}

// shows reports whether anything that an agent is shown unasked, or finds by these words, has
// one of the texts in it.
func (f *field) shows(name, query string, secret ...string) bool {
	f.Helper()
	c := f.as(name)
	seen := []string{
		string(f.tryTo(c, "memory_search", `{"query": %q, "detail": "full", "limit": 50}`, query).Raw),
		string(f.tryTo(c, "events_poll", `{"peek": true, "limit": 100}`).Raw),
		string(f.tryTo(c, "memory_read_hot", `{}`).Raw),
		f.hook(name, "UserPromptSubmit", query), f.hook(name, "SessionStart", ""),
	}
	return slices.ContainsFunc(secret, func(s string) bool { return strings.Contains(strings.Join(seen, "\n"), s) })
}

// hook is what a client's hook of an agent's session adds to the conversation.
func (f *field) hook(as, event, prompt string) string {
	f.Helper()
	out, err := f.Feed(f.Context(), compact(map[string]any{"hook_event_name": event, "prompt": prompt,
		"session_id": f.name("s")}), "hook", "--as", as)
	require.NoError(f, err)
	return out
}

// state is that of an item as its reader sees it, "" for what it does not see.
func (f *field) state(c Client, id string) string {
	f.Helper()
	return text(f.tryTo(c, "memory_read_warm", `{"ids": [%q]}`, id), "items.0.state")
}

// text is what an answer has at a path, "" if that is no text.
func text(a Answer, path string) string {
	v, _ := look(a, path)
	s, _ := v.(string)
	return s
}
