package main

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"cordelia/mcp"
	"cordelia/schemas"

	sdk "github.com/mark3labs/mcp-go/mcp"
	sdkserver "github.com/mark3labs/mcp-go/server"
)

// jobs are the tasks of the suite's tools. A job stores its request and its time; its state is
// computed when a client asks.
type jobs struct {
	mu   sync.Mutex
	byID map[string]*job
}

type job struct {
	id         string
	created    time.Time
	lasts      time.Duration
	asks       sdk.InputRequests // before it goes on; without those answered
	cancelled  bool
	result     *sdk.CallToolResult // when it is done
	failure    *mcp.RPCError       // or this
	lastChange time.Time
}

func newJobs() *jobs { return &jobs{byID: map[string]*job{}} }

// begin answers a call with a task that ends as j says.
func (js *jobs) begin(ctx context.Context, j *job) (*sdk.CallToolResult, error) {
	j.id, j.created = schemas.NewID(), time.Now()
	j.lastChange = j.created
	js.mu.Lock()
	defer js.mu.Unlock()
	out, err := mcp.Accept(ctx, j.task())
	if err == nil {
		js.byID[j.id] = j
	}
	return out, err
}

func (j *job) task() mcp.Task {
	t := mcp.Task{ID: j.id, Status: mcp.TaskWorking, Created: j.created, Updated: j.lastChange, Keep: time.Hour,
		Poll: 200 * time.Millisecond}
	switch {
	case j.cancelled:
		t.Status = mcp.TaskCancelled
	case len(j.asks) > 0:
		t.Status, t.Inputs = mcp.TaskAsking, maps.Clone(j.asks)
	case time.Since(j.created) < j.lasts:
	case j.failure != nil:
		t.Status, t.Err, t.Message = mcp.TaskFailed, j.failure, j.failure.Message
	default:
		t.Status, t.Result = mcp.TaskCompleted, j.result
	}
	return t
}

func (js *jobs) find(id string) (*job, error) {
	j, ok := js.byID[id]
	if !ok {
		return nil, schemas.NotFoundf("no such task")
	}
	return j, nil
}

func (js *jobs) Get(_ context.Context, id string) (mcp.Task, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	j, err := js.find(id)
	if err != nil {
		return mcp.Task{}, err
	}
	return j.task(), nil
}

func (js *jobs) Answer(_ context.Context, id string, answers sdk.InputResponses) error {
	js.mu.Lock()
	defer js.mu.Unlock()
	j, err := js.find(id)
	if err != nil {
		return err
	}
	for key := range answers {
		delete(j.asks, key)
	}
	j.lastChange = time.Now()
	return nil
}

func (js *jobs) Cancel(_ context.Context, id string) error {
	js.mu.Lock()
	defer js.mu.Unlock()
	j, err := js.find(id)
	if err == nil && (j.task().Status == mcp.TaskWorking || len(j.asks) > 0) {
		j.cancelled, j.lastChange = true, time.Now()
	}
	return err
}

// addTaskTools adds the tools whose calls become tasks.
func addTaskTools(srv *sdkserver.MCPServer, js *jobs) {
	srv.AddTool(sdk.NewTool("greet", sdk.WithDescription("Greets, at once."),
		sdk.WithString("name", sdk.Description("Whom"))),
		func(_ context.Context, req sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return sdk.NewToolResultText("Hello, " + req.GetString("name", "") + "!"), nil
		})
	srv.AddTool(sdk.NewTool("slow_compute", sdk.WithDescription("Takes its time."),
		sdk.WithNumber("seconds", sdk.Description("How long")),
		sdk.WithString("label", sdk.Description("Repeated in the result"))),
		func(ctx context.Context, req sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			lasts := time.Duration(req.GetFloat("seconds", 0) * float64(time.Second))
			result := sdk.NewToolResultText("computed " + req.GetString("label", ""))
			if mcp.TakesTasks(ctx) && lasts > 0 {
				return js.begin(ctx, &job{lasts: lasts, result: result})
			}
			select {
			case <-time.After(lasts):
				return result, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
	task := func(name, description string, j func() *job) {
		srv.AddTool(sdk.NewTool(name, sdk.WithDescription(description)),
			func(ctx context.Context, _ sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return js.begin(ctx, j())
			})
	}
	task("failing_job", "Fails as a tool does.", func() *job {
		return &job{lasts: time.Second, result: sdk.NewToolResultError("this job always fails")}
	})
	task("protocol_error_job", "Fails as the protocol does.", func() *job {
		return &job{lasts: pause, failure: mcp.Errorf(mcp.CodeInternal, "this job breaks")}
	})
	srv.AddTool(sdk.NewTool("confirm_delete", sdk.WithDescription("Asks once while it runs."),
		sdk.WithString("filename", sdk.Description("What to delete"))),
		func(ctx context.Context, req sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			name := req.GetString("filename", "")
			question, result := form("Delete "+name+"?", "confirm"), sdk.NewToolResultText("answered for "+name)
			switch {
			case mcp.TakesTasks(ctx):
				return js.begin(ctx, &job{asks: sdk.InputRequests{"confirm": sdk.NewElicitationInputRequest(question)},
					result: result})
			case sdkserver.ElicitationResponse(req.Params.InputResponses, "confirm") != nil:
				return result, nil
			default:
				return sdkserver.NewInputRequestBuilder("").Elicit("confirm", question).ToolResult(), nil
			}
		})
	task("multi_input", "Asks two things at once while it runs.", func() *job {
		return &job{asks: sdk.InputRequests{"first": sdk.NewElicitationInputRequest(form("The first?", "name")),
			"second": sdk.NewElicitationInputRequest(form("The second?", "name"))},
			result: sdk.NewToolResultText("both answered")}
	})
	srv.AddTool(sdk.NewTool("test_tool_with_task", sdk.WithDescription("Asks first, then takes its time.")),
		func(ctx context.Context, req sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if name, ok := field(req.Params.InputResponses, "user_name", "name"); ok {
				return js.begin(ctx, &job{lasts: pause,
					result: sdk.NewToolResultText(fmt.Sprintf("Hello, %s!", strings.TrimSpace(name)))})
			}
			return sdkserver.NewInputRequestBuilder("").Elicit("user_name",
				form("What is your name?", "name")).ToolResult(), nil
		})
}
