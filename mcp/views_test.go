package mcp

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/roles"
)

// bound is the real catalogue behind the real transport, for the person's agent; prepare does
// something to the node before.
func bound(t *testing.T, opts ServerOptions, prepare ...func(*ops.Service)) boundClient {
	n, err := ops.Open(t.Context(), node.Config{Home: node.Home(filepath.Join(t.TempDir(), "home")),
		Durability: store.Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	_, err = n.Establish(t.Context(), "ann", nil, nil)
	require.NoError(t, err)
	for _, f := range prepare {
		f(n)
	}
	key, err := n.OpenIdentity(t.Context(), "")
	require.NoError(t, err)
	issued, err := n.OwnToken(t.Context(), key)
	require.NoError(t, err)
	router := NewServer(t.Context(), n, opts)
	return boundClient{(&fixture{router: router}).http(t, HTTPOptions{Authenticate: Bearer(n)}),
		"Authorization: Bearer " + issued.Token.Reveal()}
}

type boundClient struct {
	*httpFixture
	token string
}

// ask sends one request of the stateless era.
func (c boundClient) ask(method string, params obj) obj {
	params["_meta"] = meta()
	return c.body(c.post(context.Background(), request(1, method, params), c.token))
}

// Every view answers as the tool it shows, and every prompt is worded with its
// arguments.
func TestViewsAndPrompts(t *testing.T) {
	c := bound(t, ServerOptions{Structured: true})
	listed := dig(c.ask("resources/list", obj{}), "result", "resources").([]any)
	require.Len(t, listed, len(views()))
	for _, v := range views() {
		content := dig(c.ask("resources/read", obj{"uri": v.uri}), "result", "contents").([]any)[0].(map[string]any)
		require.Equal(t, v.uri, content["uri"])
		require.NotEmpty(t, content["text"], v.uri)
	}
	offered := dig(c.ask("resources/templates/list", obj{}), "result", "resourceTemplates").([]any)
	require.Len(t, offered, len(templates()))
	task := dig(c.ask("tools/call", obj{"name": "task_submit", "arguments": obj{"request": "Count the penguins"}}),
		"result", "structuredContent", "task_id").(string)
	content := dig(c.ask("resources/read", obj{"uri": "cordelia://tasks/" + task}), "result",
		"contents").([]any)[0].(map[string]any)
	require.Contains(t, content["text"], "Count the penguins")
	for _, absent := range []string{"cordelia://tasks/none", "cordelia://swarms/none"} {
		require.NotNil(t, dig(c.ask("resources/read", obj{"uri": absent}), "error"), absent)
	}
	require.Contains(t, dig(c.ask("resources/read", obj{"uri": "cordelia://harbours"}), "error", "message"),
		"there is no resource 'cordelia://harbours' here; resources/list and resources/templates/list show")
	require.Contains(t, dig(c.ask("prompts/get", obj{"name": "recal"}), "error", "message"),
		"there is no prompt 'recal' here; prompts/list shows")
	require.Len(t, dig(c.ask("prompts/list", obj{}), "result", "prompts").([]any), len(flows()))
	for _, f := range flows() {
		args := obj{}
		for _, a := range f.args {
			args[a.name] = "penguins-" + a.name
		}
		answer := c.ask("prompts/get", obj{"name": f.name, "arguments": args})
		text := dig(answer, "result", "messages").([]any)[0].(map[string]any)["content"].(map[string]any)["text"]
		for _, a := range f.args {
			require.Contains(t, text, "penguins-"+a.name, f.name)
		}
		if len(f.args) > 0 {
			refused := dig(c.ask("prompts/get", obj{"name": f.name}), "error")
			first := f.args[0]
			require.Equal(t, fmt.Sprintf("the prompt %s needs %s", f.name, first.name), dig(refused, "message"))
			require.Equal(t, first.description, dig(refused, "data", "expected"), f.name)
			require.Equal(t, fmt.Sprintf("prompts/get %s again with %s", f.name, first.name), dig(refused, "data", "next"))
		}
	}
}

func TestToolsets(t *testing.T) {
	c := bound(t, ServerOptions{Toolsets: []ops.Toolset{ops.Events}})
	tools := dig(c.ask("tools/list", obj{}), "result", "tools").([]any)
	require.Len(t, tools, 2)
	for _, tool := range tools {
		require.Contains(t, tool.(map[string]any)["name"], "events_")
	}
	hidden := c.ask("tools/call", obj{"name": "agent_list", "arguments": obj{}})
	absent := c.ask("tools/call", obj{"name": "agent_lisp", "arguments": obj{}})
	require.NotNil(t, dig(hidden, "error"))
	require.Equal(t, dig(absent, "error", "code"), dig(hidden, "error", "code"), "what is not offered is not callable")
	require.Empty(t, dig(c.ask("prompts/list", obj{}), "result", "prompts"), "each names a tool that is not offered")
	require.NotNil(t, dig(c.ask("prompts/get", obj{"name": "worker"}), "error"))
	refused := c.ask("tools/call", obj{"name": "events_subscribe", "arguments": obj{"action": "add",
		"events": []any{obj{"event": "memory.written", "group": "none"}}}})
	require.Contains(t, said(refused), `memory_group {"action": "list"} (not a tool of yours`, "nor named as if it were")
}

// The roles of a workspace, and one of them, are there to read, of no other workspace.
func TestViewsOfRoles(t *testing.T) {
	c := bound(t, ServerOptions{Structured: true}, func(n *ops.Service) {
		keyring := n.Keyring(nil)
		t.Cleanup(keyring.Close)
		person, err := n.Person(t.Context(), keyring, "")
		require.NoError(t, err)
		w, err := roles.Parse([]byte("workspace: port\nroles:\n  - {role_id: pilot, soul: You bring ships in.}"))
		require.NoError(t, err)
		_, err = n.ApplyWorkspace(t.Context(), person, w, false)
		require.NoError(t, err)
	})
	read := func(uri string) any {
		return dig(c.ask("resources/read", obj{"uri": uri}), "result", "contents").([]any)[0].(map[string]any)["text"]
	}
	require.Contains(t, read("cordelia://roles"), `"role":"pilot"`)
	require.Contains(t, read("cordelia://roles/pilot"), "You bring ships in.")
	require.NotNil(t, dig(c.ask("resources/read", obj{"uri": "cordelia://roles/nobody"}), "error"))
}
