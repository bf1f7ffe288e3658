package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"cordelia/mcp"

	"github.com/stretchr/testify/require"
)

// The suite reports what lacks a description as a failure of the server; here
// it is found without Node.
func TestFixturesAreDescribed(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	in := strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"method":"prompts/list","params":{` + meta + `}}` + "\n")
	var out bytes.Buffer
	require.NoError(t, mcp.ServeStdio(t.Context(), newRouter(nil), in, &out, mcp.StdioOptions{}))
	found := 0
	for line := range strings.Lines(out.String()) {
		var m struct {
			Result struct {
				Tools, Prompts []struct{ Name, Description string }
			}
		}
		require.NoError(t, json.Unmarshal([]byte(line), &m))
		for _, item := range append(m.Result.Tools, m.Result.Prompts...) {
			require.NotEmpty(t, item.Description, item.Name)
			found++
		}
	}
	require.Equal(t, 39, found, "34 tools and 5 prompts")
}

func TestOnlyLoopbackIsServed(t *testing.T) {
	require.ErrorContains(t, run(t.Context(), "0.0.0.0:0"), "not a loopback address")
}
