package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	sdk "github.com/mark3labs/mcp-go/mcp"
	sdkserver "github.com/mark3labs/mcp-go/server"

	"cordelia/events"
	"cordelia/schemas"
)

// tasksExtension names the Tasks extension of 2026-07-28 (SEP-2663): a tool call is
// answered with a task, and the client asks for what became of it.
const tasksExtension = "io.modelcontextprotocol/tasks"

// TaskStatus is where a task stands. All but the first two are final.
type TaskStatus string

const (
	TaskWorking   TaskStatus = "working"
	TaskAsking    TaskStatus = "input_required"
	TaskCompleted TaskStatus = "completed"
	TaskFailed    TaskStatus = "failed" // with a protocol error; a tool's own error completes a task
	TaskCancelled TaskStatus = "cancelled"
)

// Task is a tool call that was answered before it was done.
type Task struct {
	ID      string
	Status  TaskStatus
	Message string // for people; may be empty
	Created time.Time
	Updated time.Time
	Keep    time.Duration // from Created on it can be asked for
	Poll    time.Duration // between two questions

	Inputs sdk.InputRequests   // what the client is still asked, by TaskAsking
	Result *sdk.CallToolResult // by TaskCompleted
	Err    *RPCError           // by TaskFailed
}

// Tasks keeps tasks for the principals that made them. Each method acts for the principal in
// its context; another's task is CodeNotFound like a missing one.
type Tasks interface {
	Get(ctx context.Context, id string) (Task, error)
	// Answer takes answers to what a task asks. Those to anything else are ignored.
	Answer(ctx context.Context, id string, answers sdk.InputResponses) error
	// Cancel ends a task, or does nothing if it has ended.
	Cancel(ctx context.Context, id string) error
}

// ServeTasks offers the Tasks extension. It must be called before serving starts.
func (r *Router) ServeTasks(tasks Tasks) {
	sdkserver.WithExtensions(map[string]any{tasksExtension: struct{}{}})(r.srv)
	r.HandleMethod(methodTasksGet, taskMethod(func(ctx context.Context, p taskParams) (any, error) {
		t, err := tasks.Get(ctx, p.TaskID)
		if err != nil {
			return nil, err
		}
		return t.detailed(), nil
	}))
	r.HandleMethod(methodTasksUpdate, taskMethod(func(ctx context.Context, p taskParams) (any, error) {
		return struct{}{}, tasks.Answer(ctx, p.TaskID, p.Answers)
	}))
	r.HandleMethod(methodTasksCancel, taskMethod(func(ctx context.Context, p taskParams) (any, error) {
		return struct{}{}, tasks.Cancel(ctx, p.TaskID)
	}))
}

// The methods of the extension. Tasks of 2025-11-25, with tasks/list and
// tasks/result, are another thing and not offered.
const (
	methodTasksGet    = "tasks/get"
	methodTasksUpdate = "tasks/update"
	methodTasksCancel = "tasks/cancel"
)

// namesTask reports whether a method's Mcp-Name header is its task's id.
func namesTask(method string) bool {
	return method == methodTasksGet || method == methodTasksUpdate || method == methodTasksCancel
}

type taskParams struct {
	TaskID  string             `json:"taskId"`
	Answers sdk.InputResponses `json:"inputResponses"`
}

// taskMethod serves a method to clients that declared the extension with the very
// request.
func taskMethod(serve func(context.Context, taskParams) (any, error)) MethodHandler {
	return func(ctx context.Context, params json.RawMessage) (any, error) {
		if c, ok := callFrom(ctx); !ok || !c.msg.modern() {
			return nil, Errorf(CodeMethodNotFound, "the Tasks extension needs protocol version %s",
				sdk.LATEST_PROTOCOL_VERSION)
		}
		if !TakesTasks(ctx) {
			return nil, missingTasks()
		}
		var p taskParams
		if json.Unmarshal(params, &p) != nil || p.TaskID == "" {
			return nil, Errorf(CodeInvalidParams, "taskId must be a string and inputResponses an object")
		}
		out, err := serve(ctx, p)
		if errors.Is(err, schemas.ErrNotFound) {
			return nil, Errorf(CodeInvalidParams, "there is no such task: it has expired, or never was")
		}
		return out, err
	}
}

// TakesTasks reports whether the client of the request being handled comes back for
// a task.
func TakesTasks(ctx context.Context) bool {
	c, ok := callFrom(ctx)
	if !ok || !c.msg.modern() {
		return false
	}
	return declareTasks(c.GetClientCapabilities())
}

func declareTasks(caps sdk.ClientCapabilities) bool {
	_, ok := caps.Extensions[tasksExtension]
	return ok
}

// Accept answers the tool call being handled with t. It is an error for a client
// that does not take tasks (-32021).
func Accept(ctx context.Context, t Task) (*sdk.CallToolResult, error) {
	c, ok := callFrom(ctx)
	if !ok || !TakesTasks(ctx) {
		return nil, missingTasks()
	}
	c.task.Store(&t)
	return &sdk.CallToolResult{}, nil // the task goes out in its place
}

// missingTasks is the answer to a client that did not declare the extension.
func missingTasks() *RPCError {
	return &RPCError{
		Code:    CodeMissingClientCapability,
		Message: "this request needs the client to take tasks (" + tasksExtension + ")",
		Data: map[string]any{"requiredCapabilities": map[string]any{
			"extensions": map[string]any{tasksExtension: struct{}{}}}},
	}
}

// watchesTasks reports whether a subscriptions/listen asks for task notifications. The server
// sends none, and its acknowledgement says so: clients ask for a task's state.
func watchesTasks(m message) bool {
	var p struct {
		Notifications struct {
			IDs json.RawMessage `json:"taskIds"`
		} `json:"notifications"`
	}
	return m.endless() && json.Unmarshal(m.params, &p) == nil && p.Notifications.IDs != nil
}

// taskHead is what every view of a task has.
type taskHead struct {
	Type    sdk.ResultType `json:"resultType"`
	ID      string         `json:"taskId"`
	Status  TaskStatus     `json:"status"`
	Message string         `json:"statusMessage,omitempty"`
	Created string         `json:"createdAt"`
	Updated string         `json:"lastUpdatedAt"`
	Keep    int64          `json:"ttlMs"`
	Poll    int64          `json:"pollIntervalMs"`
}

func (t Task) head(kind sdk.ResultType) taskHead {
	return taskHead{kind, t.ID, t.Status, t.Message, events.Timestamp(t.Created.UnixMicro()),
		events.Timestamp(t.Updated.UnixMicro()),
		t.Keep.Milliseconds(), t.Poll.Milliseconds()}
}

// created is t in place of a tool's result.
func (t Task) created() any { return t.head("task") }

// taskError is a JSON-RPC error inside of a task.
type taskError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// detailed is t as tasks/get shows it.
func (t Task) detailed() any {
	out := struct {
		taskHead
		Inputs sdk.InputRequests   `json:"inputRequests,omitempty"`
		Result *sdk.CallToolResult `json:"result,omitempty"`
		Err    *taskError          `json:"error,omitempty"`
	}{taskHead: t.head(sdk.ResultTypeComplete)}
	switch t.Status {
	case TaskAsking:
		out.Inputs = t.Inputs
	case TaskCompleted:
		result := *t.Result
		result.ResultType = sdk.ResultTypeComplete
		out.Result = &result
	case TaskFailed:
		out.Err = &taskError{t.Err.Code, t.Err.Message, t.Err.Data}
	}
	return out
}
