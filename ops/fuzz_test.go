package ops

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/schemas"
)

// FuzzArguments calls any tool with any bytes for arguments: the answer is the
// tool's or an error that says what to do, never one nobody thought of.
func FuzzArguments(f *testing.F) {
	n, err := Open(f.Context(), node.Config{Home: node.Home(filepath.Join(f.TempDir(), "home")),
		Durability: store.Relaxed,
		Access:     access.Config{RefusedPerMinute: 1 << 30, FailedPerMinute: 1 << 30}})
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, n.Close()) })
	_, err = n.Establish(f.Context(), "ann", nil, nil)
	require.NoError(f, err)
	file, err := n.OpenIdentity(f.Context(), "")
	require.NoError(f, err)
	lead, err := n.Caller(f.Context(), file, "session-1")
	require.NoError(f, err)
	catalogue := Catalogue()
	for i, o := range catalogue {
		f.Add(uint8(i), []byte(`{}`))
		schema, err := o.InputSchema()
		require.NoError(f, err)
		var published struct{ Properties map[string]any }
		require.NoError(f, json.Unmarshal(schema, &published))
		args := map[string]any{}
		for name := range published.Properties {
			args[name] = name
		}
		raw, err := json.Marshal(args)
		require.NoError(f, err)
		f.Add(uint8(i), raw)
	}
	for tool, args := range map[string]string{
		"memory_search":      `{"query":"\"a\" OR *","limit":3,"cursor":"eyJ9"}`,
		"memory_write_warm":  `{"type":"learning","data":{"type":"insight","content":"\u0000é"},"idempotency_key":""}`,
		"memory_write_hot":   `{"operation":"patch","data":{"active":{"focus":null,"a":{"a":{"a":[null]}}}}}`,
		"agent_register":     `{"agent_type":"custom","display_name":"w","as":"claude-code","capabilities":{"tools":[],"tools":["*"]}}`,
		"agent_capabilities": `{"agent":"w","capabilities":{"ttl_seconds":-0}}`,
		"events_poll":        `{"cursor":"AZ==","wait_seconds":0}`,
		"memory_read_warm":   `{"ids":["","x"]}`,
		"agent_list":         `{"status":"gone","cursor":"x"} {}`,
		"memory_group":       `{"action":"create","group":"staging-x","culture":{"ttl_default":-1}}`,
		"events_subscribe":   `{"action":"set","events":[{"event":"*","group":"*"}]}`,
		"memory_session":     `{"action":"end","note":{"focus":[]}}`,
		"memory_share":       `{"id":"0","group":"../x"}`,
		"memory_delete_warm": `{"id":"x","mode":"purge"}`,
		"agent_lifecycle":    `{"agent":"ann","action":"suspend"}`,
		"memory_read_hot":    `{"entity":"ann"}`,
		"agent_deactivate":   `{"agent":"00000000"}`,
	} {
		for i, o := range catalogue {
			if o.Name == tool {
				f.Add(uint8(i), []byte(args))
			}
		}
	}
	f.Fuzz(func(t *testing.T, tool uint8, args []byte) {
		o := catalogue[int(tool)%len(catalogue)]
		out, err := o.Call(t.Context(), n, lead, args)
		if err != nil {
			var e *schemas.Error
			require.True(t, errors.As(err, &e), "%s %q: %v", o.Name, args, err)
			require.NotEqual(t, schemas.CodeInternal, e.Code, "%s %q: %v", o.Name, args, err)
			require.NotEmpty(t, e.Msg)
			return
		}
		_, err = json.Marshal(out)
		require.NoError(t, err)
	})
}

// FuzzForeignRecord adopts agents from arbitrary records of other nodes: whoever
// gets in holds the key its id is the hash of, under a binding by that key.
func FuzzForeignRecord(f *testing.F) {
	home := func(person string) (*Service, Caller) {
		n, err := Open(f.Context(), node.Config{Home: node.Home(filepath.Join(f.TempDir(), "home")),
			Durability: store.Relaxed})
		require.NoError(f, err)
		f.Cleanup(func() { require.NoError(f, n.Close()) })
		_, err = n.Establish(f.Context(), person, nil, nil)
		require.NoError(f, err)
		ring := n.Keyring(nil)
		f.Cleanup(ring.Close)
		c, err := n.Person(f.Context(), ring, "")
		require.NoError(f, err)
		return n, c
	}
	away, bob := home("bob")
	record, err := away.RecordOf(f.Context(), bob.Principal, "claude-code")
	require.NoError(f, err)
	good, err := json.Marshal(record)
	require.NoError(f, err)
	f.Add(good, []byte(`{}`), "guest")
	f.Add([]byte(`{"v":1}`), []byte(nil), "")
	record.EncBinding = make([]byte, 64)
	bad, err := json.Marshal(record)
	require.NoError(f, err)
	f.Add(bad, []byte(`{"tools":["memory_search"]}`), "g\x00")
	here, ann := home("ann")
	f.Fuzz(func(t *testing.T, raw, capabilities []byte, name string) {
		var a node.Adoption
		if json.Unmarshal(raw, &a.Record) != nil {
			return
		}
		a.Capabilities, a.Name = capabilities, name
		r, err := here.Adopt(t.Context(), ann.Principal, a)
		if err != nil {
			var e *schemas.Error
			require.True(t, errors.As(err, &e), "%v", err)
			require.NotEqual(t, schemas.CodeInternal, e.Code, "%v", err)
			return
		}
		require.Equal(t, schemas.AgentIDFromKey(a.Record.PublicKey), r.ID)
		require.NoError(t, r.Key.Verify())
	})
}
