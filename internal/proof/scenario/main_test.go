package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"modernc.org/sqlite"

	"cordelia/events"
	"cordelia/node"
)

// binary is the real command with the movable clock, built once.
var binary string

func TestMain(m *testing.M) {
	// What is started here ends with its terminal, also where nohup started the tests.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "cordelia-scenario")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(folder) //nolint:errcheck // a leftover in the temp folder
		// Refused once any file is open, and openDB may be first.
		if _, err := sqlite.OFDLocking(true); err != nil && !errors.Is(err, sqlite.ErrOFDLockingUnavailable) {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if binary, err = Build(folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// newNode makes a node that ends with the test.
func newNode(t testing.TB) *Node {
	n := NewNode(binary, t.TempDir())
	t.Cleanup(n.Kill)
	return n
}

// open starts a client that ends with the node.
func open(t testing.TB, n *Node, as string) *Process {
	c, err := n.Open(t.Context(), as)
	require.NoError(t, err)
	return c
}

// must calls a tool that has to succeed.
func must(t testing.TB, c Client, tool, args string) Answer {
	t.Helper()
	a, err := c.Call(t.Context(), tool, []byte(args))
	require.NoError(t, err)
	require.Empty(t, a.Code, "%s %s: %s", tool, args, a.Text)
	return a
}

// at follows a path that has to lead somewhere.
func at[T any](t testing.TB, a Answer, path string) T {
	t.Helper()
	v, ok := look(a, path)
	require.True(t, ok, "%s is absent in %s", path, compact(a.Value))
	typed, ok := v.(T)
	require.True(t, ok, "%s is %v", path, v)
	return typed
}

// promise is a script of testdata, and how its clients reach the node.
type promise struct {
	Script
	Transport
	name string
}

// promises are every script, in full over stdio, and those that ask for it over HTTP, too.
func promises(t *testing.T) (all []promise) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		script, err := Parse(string(raw))
		require.NoError(t, err, file)
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		all = append(all, promise{script, Stdio, name})
		if script.Both {
			all = append(all, promise{script, HTTP, name})
		}
	}
	return all
}

func TestScenarios(t *testing.T) {
	for _, p := range promises(t) {
		t.Run(p.name+"/"+string(p.Transport), func(t *testing.T) {
			t.Parallel()
			n := newNode(t)
			if _, err := Play(context.WithoutCancel(t.Context()), n, p.Transport, p.Script); err != nil {
				t.Fatal(err)
			}
			verified, err := node.VerifyAuditFile(t.Context(), n.Database(), "", nil, true)
			requireProven(t, verified, err)
		})
	}
}

// A transcript leaves out the call that until repeats, and no other answer.
func TestATranscriptLeavesOutWhatIsRepeated(t *testing.T) {
	script, err := Parse(strings.Join([]string{
		"as lead", "call agent_list", "call memory_read_hot", "run status", "until 5s context.identity exists",
		"until 5s context.identity exists"}, "\n"))
	require.NoError(t, err)
	told, err := Play(t.Context(), newNode(t), Stdio, script)
	require.NoError(t, err)
	var lines []string
	for _, line := range told {
		head, _, _ := strings.Cut(line, ":")
		lines = append(lines, head)
	}
	require.Equal(t, []string{"tools of lead", "line 2, lead", "line 4, lead"}, lines)
}

// requireProven requires that a record was verified to the last entry.
func requireProven(t *testing.T, v events.Verified, err error) {
	t.Helper()
	require.NoError(t, err)
	require.Empty(t, v.Damage, "what is in force is what the audit record says")
	require.Zero(t, v.Deep.Unproven)
}

func TestScriptsThatCannotBeRead(t *testing.T) {
	for _, text := range []string{
		"", "# only a comment", "cal agent_list", "call", "! call x", "! as x -> denied", "expect a ~ b", "expect a ==",
		"expect a exists b", "clock soon", "kill worker", "save x", "until soon a == b", "end now",
	} {
		_, err := Parse(text)
		require.Error(t, err, "%q", text)
	}
}

// An expectation must be able to fail.
func TestExpectations(t *testing.T) {
	a := Answer{Text: "hello there", Value: literal(`{"n": 3, "list": [{"id": "a"}, {"id": "b"}], "s": "x"}`)}
	for _, tt := range []struct {
		path, op, value string
		want            bool
	}{
		{"n", "==", "3", true}, {"n", "==", "4", false}, {"n", ">=", "3", true}, {"n", ">", "3", false},
		{"n", "!=", "3", false},
		{"list.#", "==", "2", true}, {"list.1.id", "==", "b", true}, {"list.2.id", "==", "b", false},
		{"list.*.id", "contains", "a", true}, {"list.*.id", "lacks", "a", false}, {"list.*.id", "contains", "c", false},
		{"$text", "contains", "there", true}, {"$text", "matches", "^there", false},
		{"s", "exists", "", true}, {"t", "exists", "", false}, {"t", "absent", "", true}, {"s", "absent", "", false},
		{"s", ">", "3", false}, {"t", "==", "3", false},
	} {
		require.Equal(t, tt.want, meets(a, tt.path, tt.op, tt.value) == nil, "%v", tt)
	}
}
