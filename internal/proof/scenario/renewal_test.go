package scenario

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// legacyClient is a client of the era of sessions, which gets its headers from a helper.
type legacyClient struct {
	*testing.T
	address string
	session string
	header  map[string]string // what the helper said last
}

// send posts a message and gives the status, the answer's headers and the answer.
func (c *legacyClient) send(message string) (status int, header http.Header, body []byte) {
	c.Helper()
	req, err := http.NewRequestWithContext(c.Context(), http.MethodPost, c.address+"/mcp",
		bytes.NewReader([]byte(message)))
	require.NoError(c, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("MCP-Protocol-Version", "2025-06-18")
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	for name, value := range c.header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(c, err)
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	require.NoError(c, err)
	return resp.StatusCode, resp.Header, body
}

// whoami reads what is the caller's own. The structured result names the caller.
const whoami = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_read_hot","arguments":{},"_meta":{"cordelia/structured":true}}}`

// A client whose token ended is told so in the way that makes it run its helper again;
// with what that gives it goes on in its session. The new token of another agent does not
// get it in there, and neither does the old one.
func TestAClientRenewsItsTokenByItsHelper(t *testing.T) {
	n := newNode(t)
	lead := open(t, n, "")
	ids := map[string]string{}
	for _, name := range []string{"scout", "clerk"} {
		a := must(t, lead, "agent_register", `{"agent_type": "swarm-worker", "display_name": "w", "name": "`+name+`"}`)
		ids[name] = at[string](t, a, "agent_id")
	}
	address, err := n.Serve(t.Context())
	require.NoError(t, err)
	helper := func(name string) map[string]string {
		t.Helper()
		out, said, code, err := n.Run(t.Context(), "agent", "token", name, "--header")
		require.NoError(t, err)
		require.Zero(t, code, said)
		var header map[string]string
		require.NoError(t, json.Unmarshal([]byte(out), &header), out)
		require.Len(t, header, 1)
		return header
	}
	c := &legacyClient{T: t, address: address, header: helper("scout")}
	status, header, body := c.send(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	require.Equal(t, http.StatusOK, status, string(body))
	c.session = header.Get("Mcp-Session-Id")
	require.NotEmpty(t, c.session)
	status, _, body = c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	require.Equal(t, http.StatusAccepted, status, string(body))
	goesOn := func() {
		t.Helper()
		status, _, body := c.send(whoami)
		require.Equal(t, http.StatusOK, status, string(body))
		require.Contains(t, string(body), ids["scout"])
		require.NotContains(t, string(body), `"isError":true`)
	}
	refused := func() {
		t.Helper()
		status, header, body := c.send(whoami)
		require.Equal(t, http.StatusUnauthorized, status, string(body))
		require.Equal(t, `Bearer realm="cordelia", error="invalid_token"`, header.Get("WWW-Authenticate"),
			"RFC 6750, section 3.1")
	}
	goesOn()
	first := c.header

	require.NoError(t, n.MoveClock(15*time.Minute))
	refused()
	refused() // and again, for as long as nobody asks the helper
	c.header = helper("scout")
	require.NotEqual(t, first, c.header)
	goesOn()

	fresh := c.header
	c.header = helper("clerk") // good, but another's: the session is as if it were not there
	status, _, body = c.send(whoami)
	require.Equal(t, http.StatusNotFound, status, string(body))
	made := c.session
	c.session = "made-up"
	again, _, said := c.send(whoami)
	c.session = made
	require.Equal(t, status, again)
	require.Equal(t, string(body), string(said), "a foreign session reads as one that is not there")
	c.header = first
	refused()
	c.header = fresh
	goesOn()
}
