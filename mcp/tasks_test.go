package mcp

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	sdk "github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

// takes is what a request declares whose client takes tasks.
func takes() obj {
	return meta(obj{"io.modelcontextprotocol/clientCapabilities": obj{"extensions": obj{tasksExtension: obj{}}}})
}

// crew is a node with an agent that takes work, w, and the one above it, served over
// HTTP and to w over stdio.
type crew struct {
	t       *testing.T
	http    *httpFixture
	pipe    *stdioClient
	bearers map[string]string
}

func newCrew(t *testing.T) *crew {
	n, err := ops.Open(t.Context(), node.Config{Home: node.Home(filepath.Join(t.TempDir(), "home")),
		Durability: store.Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	_, err = n.Establish(t.Context(), "ann", nil, nil)
	require.NoError(t, err)
	router := NewServer(t.Context(), n, ServerOptions{Structured: true})
	f := &fixture{router: router}
	c := &crew{t: t, http: f.http(t, HTTPOptions{Authenticate: Bearer(n)}), bearers: map[string]string{}}
	for _, name := range []string{"", "w"} {
		key, err := n.OpenIdentity(t.Context(), name)
		require.NoError(t, err)
		issued, err := n.OwnToken(t.Context(), key)
		require.NoError(t, err)
		c.bearers[name] = "Authorization: Bearer " + issued.Token.Reveal()
		caller, err := n.Caller(t.Context(), key, "session")
		require.NoError(t, err)
		if name == "" {
			c.ok(c.ask("", "tools/call", obj{"name": "agent_register",
				"arguments": obj{"agent_type": "custom", "name": "w", "display_name": "W",
					"capabilities": obj{"tools": []string{"task_claim", "task_report"}}}}))
			continue
		}
		f.principal = Principal{ID: string(caller.Entity), Caller: caller}
		c.pipe = f.stdio(t, StdioOptions{})
	}
	return c
}

// ask sends one request of the stateless era, of a client that takes tasks.
func (c *crew) ask(as, method string, params obj, headers ...string) obj {
	c.t.Helper()
	if params["_meta"] == nil {
		params["_meta"] = takes()
	}
	if id, ok := params["taskId"].(string); ok {
		headers = append([]string{"Mcp-Name: " + id}, headers...)
	}
	return c.http.body(c.http.post(context.Background(), request(1, method, params), append(headers, c.bearers[as])...))
}

// line sends the same over stdio, as w.
func (c *crew) line(method string, params obj) obj {
	c.t.Helper()
	if params["_meta"] == nil {
		params["_meta"] = takes()
	}
	c.pipe.send(request(method, method, params))
	return c.pipe.next()
}

func (c *crew) ok(frame obj) obj {
	c.t.Helper()
	require.Nil(c.t, frame["error"], "%v", frame)
	require.Nil(c.t, dig(frame, "result", "isError"), "%v", frame)
	result, _ := frame["result"].(obj)
	return result
}

func (c *crew) submit() {
	c.t.Helper()
	c.ok(c.ask("", "tools/call", obj{"name": "task_submit", "arguments": obj{"intent": "Count the boats"}}))
}

func claimCall(wait int) obj {
	return obj{"name": "task_claim", "arguments": obj{"wait_seconds": wait}}
}

// A call that waits is answered with a task at once, and the task with what the call
// would have been answered: over either transport, whichever it began on.
func TestAWaitIsATask(t *testing.T) {
	c := newCrew(t)
	require.NotNil(t, dig(c.ask("w", "server/discover", obj{}), "result", "capabilities", "extensions", tasksExtension))
	require.Nil(t, dig(c.ask("w", "server/discover", obj{}), "result", "capabilities", "tasks"))
	onHTTP := func(method string, params obj) obj { return c.ask("w", method, params) }
	for _, way := range []struct{ begin, poll func(string, obj) obj }{{onHTTP, c.line}, {c.line, onHTTP}} {
		task := c.ok(way.begin("tools/call", claimCall(3000)))
		require.Equal(t, "task", task["resultType"])
		require.Equal(t, "working", task["status"])
		require.EqualValues(t, 3600*1000, task["ttlMs"])
		require.Positive(t, task["pollIntervalMs"])
		require.NotContains(t, task, "content")
		id := obj{"taskId": task["taskId"]}
		got := c.ok(way.poll("tasks/get", id))
		require.Equal(t, "complete", got["resultType"])
		require.Equal(t, "working", got["status"])
		require.NotContains(t, got, "result")

		c.submit()
		got = c.ok(way.poll("tasks/get", id))
		require.Equal(t, "completed", got["status"])
		require.Equal(t, got, c.ok(way.begin("tasks/get", id)))
		work := dig(got, "result", "structuredContent", "work").(obj)
		require.Equal(t, "Count the boats", work["intent"])
		require.Contains(t, said(obj{"result": got["result"]}), "task_report")
		require.Equal(t, "complete", dig(got, "result", "resultType"))
		held := c.ok(way.begin("tools/call", claimCall(3000)))
		require.Equal(t, "complete", held["resultType"], "there is nothing to wait for")
		require.Equal(t, work["fence"], dig(held, "structuredContent", "work", "fence"))

		require.Equal(t, obj{"resultType": "complete"},
			c.ok(way.poll("tasks/update", obj{"taskId": id["taskId"], "inputResponses": obj{"nothing": obj{}}})))
		require.Equal(t, obj{"resultType": "complete"}, c.ok(way.poll("tasks/cancel", id)))
		require.Equal(t, "cancelled", c.ok(way.begin("tasks/get", id))["status"])
		require.Equal(t, obj{"resultType": "complete"}, c.ok(way.begin("tasks/cancel", id)))
		again := c.ok(way.begin("tools/call", claimCall(0)))
		require.Equal(t, work["work_id"], dig(again, "structuredContent", "work", "work_id"), "it was given back")
		require.Nil(t, dig(again, "structuredContent", "work", "resumed"))
		c.ok(way.begin("tools/call", obj{"name": "task_report",
			"arguments": obj{"work_id": work["work_id"], "outcome": "done",
				"fence": dig(again, "structuredContent", "work", "fence")}}))
	}
}

// Whoever does not declare the extension, with this very request, waits in line and
// has no tasks; nor has the era before.
func TestTasksAreForThoseWhoTakeThem(t *testing.T) {
	c := newCrew(t)
	id := c.ok(c.line("tools/call", claimCall(60)))["taskId"]
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		refused := c.ask("w", method, obj{"_meta": meta(), "taskId": id})
		require.EqualValues(t, CodeMissingClientCapability, dig(refused, "error", "code"), method)
		require.NotNil(t, dig(refused, "error", "data", "requiredCapabilities", "extensions", tasksExtension))
		foreign := c.ask("", method, obj{"taskId": id})
		require.EqualValues(t, CodeInvalidParams, dig(foreign, "error", "code"), method)
		require.Equal(t, foreign, c.ask("", method, obj{"taskId": schemas.NewID()}))
		require.EqualValues(t, CodeInvalidParams, dig(c.line(method, obj{"taskId": 7}), "error", "code"), method)
		require.EqualValues(t, CodeHeaderMismatch, dig(c.ask("w", method, obj{"taskId": id}, "Mcp-Name: other"),
			"error", "code"), method)
		require.EqualValues(t, CodeHeaderMismatch, dig(c.ask("w", method, obj{"taskId": id}, "Mcp-Name:"), "error",
			"code"), method)
	}
	require.Equal(t, "working", c.ok(c.line("tasks/get", obj{"taskId": id}))["status"],
		"nobody else's request touched it")
	for _, method := range []string{"tasks/list", "tasks/result"} {
		require.EqualValues(t, CodeMethodNotFound, dig(c.line(method, obj{"taskId": id}), "error", "code"), method)
	}
	watched := c.ask("w", "subscriptions/listen", obj{"_meta": meta(), "notifications": obj{"taskIds": []any{id}}})
	require.EqualValues(t, CodeMissingClientCapability, dig(watched, "error", "code"))

	// In line: at most 50 seconds, and as long as was asked.
	require.Contains(t, said(c.ask("w", "tools/call", with(claimCall(51), meta()))), "0–50")
	begin := time.Now()
	in := c.ask("w", "tools/call", with(claimCall(1), meta()))
	require.GreaterOrEqual(t, time.Since(begin), time.Second)
	require.Equal(t, "complete", dig(in, "result", "resultType"))

	c.pipe.handshake(obj{"extensions": obj{tasksExtension: obj{}}})
	legacy := func(method string, params obj) obj {
		c.pipe.send(request("l", method, params))
		return c.pipe.next()
	}
	require.EqualValues(t, CodeMethodNotFound, dig(legacy("tasks/get", obj{"taskId": id}), "error", "code"))
	require.NotNil(t, dig(legacy("tools/call", claimCall(1)), "result", "structuredContent", "next"))
	require.NotNil(t, dig(legacy("tools/call", obj{"name": "task_claim", "arguments": obj{},
		"task": obj{"ttl": 60000}}), "result", "content"))
	hello := legacy("initialize", obj{"protocolVersion": "2025-11-25", "capabilities": obj{},
		"clientInfo": obj{"name": "t", "version": "1"}})
	require.NotNil(t, dig(hello, "result", "capabilities", "tools"))
	require.Nil(t, dig(hello, "result", "capabilities", "extensions"))
}

func with(params, m obj) obj {
	params["_meta"] = m
	return params
}

// What a refused call says is what its task says.
func TestARefusedWaitIsACompletedTask(t *testing.T) {
	c := newCrew(t)
	id := c.ok(c.line("tools/call", claimCall(60)))["taskId"]
	c.ok(c.ask("", "tools/call", obj{"name": "agent_capabilities",
		"arguments": obj{"agent": "w", "capabilities": obj{"tools": []string{"task_report"}}}}))
	got := c.ok(c.line("tasks/get", obj{"taskId": id}))
	require.Equal(t, "completed", got["status"], "a tool's error is no failure of the protocol")
	require.Equal(t, true, dig(got, "result", "isError"))
	require.Equal(t, "revoked", dig(got, "result", "_meta", "cordelia/error", "code"))
}

// A tool cannot hand a task to a client that does not take it.
func TestAcceptNeedsAClientThatTakesTasks(t *testing.T) {
	f := newFixture(t)
	f.srv.AddTool(sdk.NewTool("later"), func(ctx context.Context, _ sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return Accept(ctx, Task{ID: "t", Status: TaskWorking, Keep: time.Hour, Poll: time.Second})
	})
	_, err := Accept(t.Context(), Task{})
	require.Error(t, err)
	c := f.stdio(t, StdioOptions{})
	c.send(callTool(1, "later", "", true))
	require.EqualValues(t, CodeMissingClientCapability, dig(c.next(), "error", "code"))
	c.send(request(2, "tools/call", obj{"name": "later", "_meta": takes()}))
	require.Equal(t, "t", dig(c.next(), "result", "taskId"))
}
