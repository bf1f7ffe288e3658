package scenario

import (
	"context"
	"encoding/json"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/drive"
	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
)

// inside is a node in this process, for proofs that look at what a caller cannot
// see: how far a call got, and what it cost.
type inside struct {
	testing.TB
	*ops.Service
	began *transactions
}

// transactions counts the transactions that were begun: each reads the clock.
// Nothing but the authorizer begins one (INV-GRANT), so a call that began one
// has reached it.
type transactions struct{ n atomic.Int64 }

func (c *transactions) Now() time.Time {
	c.n.Add(1)
	return time.Now()
}

// newInside opens a node whose own suspensions do not end the proof.
func newInside(t testing.TB) *inside {
	n := openInside(t, node.Home(filepath.Join(t.TempDir(), "home")))
	_, err := n.Establish(t.Context(), "tester", nil, nil)
	require.NoError(t, err)
	return n
}

// openInside opens the node of a home that may have one already.
func openInside(t testing.TB, home node.Home) *inside {
	began := &transactions{}
	n, err := ops.Open(t.Context(), node.Config{
		Home: home, Durability: store.Relaxed, Clock: began,
		Access: access.Config{RefusedPerMinute: 1 << 30, FailedPerMinute: 1 << 30},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	return &inside{t, n, began}
}

// caller is the agent of that name, by its own key.
func (n *inside) caller(name string) ops.Caller {
	n.Helper()
	if name == lead {
		name = ""
	}
	file, err := n.OpenIdentity(n.Context(), name)
	require.NoError(n, err)
	c, err := n.Caller(n.Context(), file, "session-of-"+name)
	require.NoError(n, err)
	return c
}

// try calls a tool and returns the answer as a client would get it, in JSON.
func (n *inside) try(ctx context.Context, c ops.Caller, tool, args string) (string, error) {
	o := ops.Find(tool)
	require.NotNil(n, o, tool)
	out, err := o.Call(ctx, n.Service, c, json.RawMessage(args))
	if err != nil {
		return "", err
	}
	raw := n.asPublished(o, out)
	if words, ok := out.(interface{ Text() string }); ok {
		return string(raw) + "\n" + words.Text(), nil
	}
	return string(raw), nil
}

// must calls a tool that has to succeed and returns its structured answer.
func (n *inside) must(c ops.Caller, tool, args string) Answer {
	n.Helper()
	o := ops.Find(tool)
	require.NotNil(n, o, tool)
	out, err := o.Call(n.Context(), n.Service, c, json.RawMessage(args))
	require.NoError(n, err, "%s %s", tool, args)
	return Answer{Value: literal(string(n.asPublished(o, out)))}
}

// asPublished is an answer in JSON; it has to be what the tool's output schema
// says, because clients drop what is not.
func (n *inside) asPublished(o *ops.Operation, out any) []byte {
	n.Helper()
	raw, err := json.Marshal(out)
	require.NoError(n, err)
	published, err := o.OutputSchema()
	require.NoError(n, err)
	schema, err := compile(o.Name, published)
	require.NoError(n, err)
	require.NoError(n, schema.Validate(literal(string(raw))), "%s: %s", o.Name, raw)
	return raw
}

// outside is the node as Node sees it, for its database.
func (n *inside) outside() *Node { return &Node{Node: &drive.Node{Home: string(n.Home)}} }

// statements counts the SQL statements a read runs: before each the store looks
// whether its caller has given up.
type statements struct {
	context.Context
	n atomic.Int64
}

func (s *statements) Err() error {
	if pc, _, _, ok := runtime.Caller(1); ok && strings.HasSuffix(runtime.FuncForPC(pc).Name(), "store.(*Tx).query") {
		s.n.Add(1)
	}
	return s.Context.Err()
}
