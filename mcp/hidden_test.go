package mcp

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
)

// A tool that was taken away is absent from the next call on, whatever else is
// wrong with that; one that is given back is there at once. What was taken away is refused in the
// same words whatever it is called with, with the call that adds it, in either era; a name that
// is proposed for a misspelt one is of a tool that the caller has.
func TestToolTakenAwayIsAbsentAtOnce(t *testing.T) {
	n, err := ops.Open(t.Context(), node.Config{Home: node.Home(filepath.Join(t.TempDir(), "home")),
		Durability: store.Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	_, err = n.Establish(t.Context(), "ann", nil, nil)
	require.NoError(t, err)
	router := NewServer(t.Context(), n, ServerOptions{Structured: true})
	server := (&fixture{router: router}).http(t, HTTPOptions{Authenticate: Bearer(n)})
	token := func(name string) string {
		key, err := n.OpenIdentity(t.Context(), name)
		require.NoError(t, err)
		issued, err := n.OwnToken(t.Context(), key)
		require.NoError(t, err)
		return "Authorization: Bearer " + issued.Token.Reveal()
	}
	lead := func(tool string, args obj) obj {
		return boundClient{server, token("")}.ask("tools/call", obj{"name": tool, "arguments": args})
	}
	grant := func(tools ...string) {
		require.Nil(t, dig(lead("agent_capabilities", obj{"agent": "w", "capabilities": obj{"tools": tools}}), "result",
			"isError"))
	}
	require.Nil(t, dig(lead("agent_register", obj{"agent_type": "custom", "name": "w", "display_name": "W"}), "result",
		"isError"))
	bearer := token("w")
	session := server.session(bearer)
	eras := map[string]func(tool string, args obj) string{
		"2026-07-28": func(tool string, args obj) string {
			m := request(1, "tools/call", obj{"name": tool, "arguments": args, "_meta": meta()})
			return read(t, server.post(t.Context(), m, bearer))
		},
		"2025-11-25": func(tool string, args obj) string {
			m := request(1, "tools/call", obj{"name": tool, "arguments": args})
			return read(t, server.do(t.Context(), "POST", "/mcp", encode(t, m), session, bearer))
		},
	}
	for era, worker := range eras {
		grant("agent_list")
		for name, answer := range map[string]string{
			"memory_read_hox": "there is no tool 'memory_read_hox' here; tools/list",
			"memory_session":  "memory_session is not among the tools of this agent; next: the parent can add it: ",
			"agent_lisp":      "here; did you mean agent_list? tools/list",
			"mcp__plugin_cordelia_cordelia__agent_list": "did you mean agent_list? tools/list",
			"cordelia.agent_list":                       "did you mean agent_list? tools/list",
			"list_agent":                                "here; did you mean agent_list? tools/list",
			"agent":                                     "here; did you mean agent_list? tools/list",
		} {
			refused := worker(name, obj{})
			require.Contains(t, refused, `"code":-32602`)
			require.Contains(t, refused, answer)
		}
		gone := worker("memory_read_hot", obj{})
		require.Contains(t, gone, `agent_capabilities {\"agent\": \"w\", \"tools\": [\"+memory_read_hot\"]}`)
		for _, args := range []obj{{}, {"nonsense": 1}, {"section": "/none"}} {
			grant("memory_read_hot", "agent_list")
			require.Contains(t, worker("memory_read_hot", obj{}), "structuredContent")
			grant("agent_list")
			for range 2 {
				require.Equal(t, gone, worker("memory_read_hot", args), "%s %v", era, args)
			}
		}
	}
}

// A call of a tool that the caller lacks is refused before it gets to an operation. It counts as any other that
// is refused: it can be looked up, once, and many of them slow the caller down.
func TestCallsOfToolsThatAreLackingCount(t *testing.T) {
	n, err := ops.Open(t.Context(), node.Config{Home: node.Home(filepath.Join(t.TempDir(), "home")),
		Durability: store.Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	_, err = n.Establish(t.Context(), "ann", nil, nil)
	require.NoError(t, err)
	keys := n.Keyring(nil)
	t.Cleanup(keys.Close)
	ann, err := n.Person(t.Context(), keys, "test")
	require.NoError(t, err)
	_, err = ops.Find("agent_register").Call(t.Context(), n, ann,
		[]byte(`{"agent_type": "custom", "name": "w", "display_name": "W"}`))
	require.NoError(t, err)
	key, err := n.OpenIdentity(t.Context(), "w")
	require.NoError(t, err)
	issued, err := n.OwnToken(t.Context(), key)
	require.NoError(t, err)
	server := (&fixture{router: NewServer(t.Context(), n, ServerOptions{})}).http(t, HTTPOptions{Authenticate: Bearer(n)})
	worker := boundClient{server, "Authorization: Bearer " + issued.Token.Reveal()}
	call := func() string {
		return string(encode(t, worker.ask("tools/call", obj{"name": "agent_register", "arguments": obj{}})))
	}
	refused := func() (times int) {
		list, err := n.Refusals(t.Context(), ann.Principal, "w", 0)
		require.NoError(t, err)
		for _, r := range list {
			require.Equal(t, "agent_register", r.Tool)
			require.Equal(t, "tool:"+string(r.Entity), r.Reason)
			times += r.Times
		}
		return times
	}
	const few = 3
	for range few {
		require.Contains(t, call(), "agent_register is not among the tools of this agent; next: ")
	}
	require.Equal(t, few, refused())
	answer := ""
	for i := 0; i < 70 && !strings.Contains(answer, "slowed down"); i++ { // a minute may end meanwhile
		answer = call()
	}
	require.Contains(t, answer, fmt.Sprintf(`"code":%d`, CodeBusy))
	require.Contains(t, answer, "next: wait ")
}

// read is the body of an answer.
func read(t *testing.T, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(b)
}

// What is sent does not depend on how it is encoded.
func TestEncodedIsMarshal(t *testing.T) {
	for _, v := range []any{
		sdk.JSONRPCResponse{JSONRPC: sdk.JSONRPC_VERSION, ID: sdk.NewRequestId(json.RawMessage(`"a<b"`)),
			Result: &sdk.CallToolResult{
				Content: []sdk.Content{sdk.NewTextContent("x < y & z\u2028" + strings.Repeat("é", 9))}, IsError: true,
				Result:            sdk.Result{Meta: sdk.NewMetaFromMap(map[string]any{"k": 1}), ResultType: "complete"},
				StructuredContent: json.RawMessage(`{"b":"<", "a":[1, 2]}`)}},
		sdk.JSONRPCResponse{JSONRPC: sdk.JSONRPC_VERSION, ID: sdk.NewRequestId(int64(7)),
			Result: &sdk.CallToolResult{}},
		sdk.JSONRPCResponse{JSONRPC: sdk.JSONRPC_VERSION, ID: sdk.NewRequestId(int64(7)),
			Result: map[string]any{"a": 1}},
		Errorf(CodeParse, "no").response(nil),
	} {
		want, err := json.Marshal(v)
		require.NoError(t, err)
		got, err := encoded(v)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
	}
	_, err := encoded(sdk.JSONRPCResponse{Result: &sdk.CallToolResult{StructuredContent: json.RawMessage(`{`)}})
	require.Error(t, err)
}
