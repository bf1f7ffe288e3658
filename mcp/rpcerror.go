package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/ops"
	"cordelia/schemas"

	sdk "github.com/mark3labs/mcp-go/mcp"
	sdkserver "github.com/mark3labs/mcp-go/server"
)

// JSON-RPC error codes. The negative ones are JSON-RPC's and MCP's; our own lie
// outside the reserved range -32768…-32000.
const (
	CodeParse                   = sdk.PARSE_ERROR
	CodeInvalidRequest          = sdk.INVALID_REQUEST
	CodeMethodNotFound          = sdk.METHOD_NOT_FOUND
	CodeInvalidParams           = sdk.INVALID_PARAMS
	CodeInternal                = sdk.INTERNAL_ERROR
	CodeHeaderMismatch          = sdk.HEADER_MISMATCH
	CodeMissingClientCapability = sdk.MISSING_REQUIRED_CLIENT_CAPABILITY
	CodeUnsupportedVersion      = sdk.UNSUPPORTED_PROTOCOL_VERSION
	CodeBusy                    = -31001 // too many requests in flight; try again
	CodeCancelled               = -31002 // ended by the server before it was done
)

// RPCError is a JSON-RPC error. A tool, prompt, resource or custom method
// handler returns one to choose the code and data of its answer; any other Go
// error keeps its detail from the client.
type RPCError struct {
	Code    int
	Message string
	Data    any // encoded as is; nil is left out
}

func (e *RPCError) Error() string { return fmt.Sprintf("%d: %s", e.Code, e.Message) }

// Errorf makes an RPCError without data.
func Errorf(code int, format string, args ...any) *RPCError {
	return &RPCError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// MissingCapability is the answer to a request that needs a capability the
// client did not declare (2026-07-28: -32021). The names are keys of
// ClientCapabilities, such as "elicitation".
func MissingCapability(names ...string) *RPCError {
	required := make(map[string]any, len(names))
	for _, n := range names {
		required[n] = map[string]any{}
	}
	return &RPCError{
		Code:    CodeMissingClientCapability,
		Message: fmt.Sprintf("this request needs client capabilities %q, which were not declared", names),
		Data:    map[string]any{"requiredCapabilities": required},
	}
}

// absent is the answer to a call of a tool that the caller may not call, with who adds it, or
// that does not exist. Then the names that it proposes are ones the caller has.
func absent(ctx context.Context, n *ops.Service, c ops.Caller, tool string, has map[string]bool) *RPCError {
	if ops.Find(tool) != nil {
		if e, ok := errors.AsType[*schemas.Error](n.Auth.Lacks(ctx, c.Principal, tool)); ok {
			return Errorf(CodeInvalidParams, "%s; next: %s", e.Msg, e.Hint)
		}
	}
	bare := tool[strings.LastIndexAny(tool, ".:/")+1:] // clients put the server's name before it
	if _, behind, found := strings.Cut(bare, "cordelia__"); found {
		bare = behind
	}
	meant := ""
	if list := schemas.Meant(bare, slices.Sorted(maps.Keys(has))); list != nil {
		meant = fmt.Sprintf("did you mean %s? ", strings.Join(list, " or "))
	}
	return Errorf(CodeInvalidParams, "there is no tool '%s' here; %stools/list shows those there are",
		ops.Escape(tool), meant)
}

// absentView says what there is instead of a prompt or a resource that is not there, if that is what
// the registry's message says.
func absentView(m message, registry string) (string, bool) {
	var p struct{ Name, URI string }
	switch {
	case json.Unmarshal(m.params, &p) != nil:
	case m.method == string(sdk.MethodPromptsGet) && strings.HasSuffix(registry, sdkserver.ErrPromptNotFound.Error()):
		return fmt.Sprintf("there is no prompt '%s' here; prompts/list shows those there are", ops.Escape(p.Name)), true
	case m.method == string(sdk.MethodResourcesRead) && strings.HasSuffix(registry, sdkserver.ErrResourceNotFound.Error()):
		return fmt.Sprintf("there is no resource '%s' here; resources/list and resources/templates/list show those there are",
			ops.Escape(p.URI)), true
	}
	return "", false
}

// absentTool is absent if that is what the registry says of the tool which m calls.
func (r *Router) absentTool(ctx context.Context, m message, details sdk.JSONRPCErrorDetails) (*RPCError, bool) {
	var p struct {
		Name string `json:"name"`
	}
	if m.method != string(sdk.MethodToolsCall) || json.Unmarshal(m.params, &p) != nil ||
		details.Message != fmt.Sprintf("tool '%s' not found: %v", p.Name, sdkserver.ErrToolNotFound) {
		return nil, false
	}
	c, err := caller(ctx)
	if err != nil || r.watcher == nil {
		return nil, false
	}
	has, err := r.watcher.node.Visible(ctx, c, r.watcher.toolsets)
	if err != nil {
		return nil, false
	}
	n := r.watcher.node
	if ops.Find(p.Name) != nil { // it was refused before it got to the operation, and counts as one that did
		err := n.Auth.Do(ctx, c.Principal, access.Op{Tool: p.Name, Effect: access.Read},
			func(access.Grant) error { return nil })
		if slow, ok := errors.AsType[*schemas.Error](err); ok && slow.Code == schemas.CodeBusy {
			return Errorf(CodeBusy, "%s; next: %s", slow.Msg, slow.Hint), true
		}
	}
	return absent(ctx, n, c, p.Name, has), true
}

// unsupportedVersion fails closed and lists what is spoken here.
func unsupportedVersion(requested string) *RPCError {
	d := sdk.UnsupportedProtocolVersionError{
		Version: requested, Supported: sdk.ValidProtocolVersions,
	}.JSONRPCError().Error
	return &RPCError{Code: d.Code, Message: d.Message, Data: d.Data}
}

// chosen gives the RPCError which err asks for, if it asks for one.
func chosen(err error) (*RPCError, bool) {
	if e, ok := errors.AsType[*RPCError](err); ok {
		return e, true
	}
	if e, ok := errors.AsType[sdk.MissingRequiredClientCapabilityError](err); ok {
		return MissingCapability(e.Capability), true
	}
	if e, ok := errors.AsType[*schemas.Error](err); ok && e.Code != schemas.CodeInternal {
		return fromDomain(e), true
	}
	return nil, false
}

// fromDomain renders a domain error for a request which has no tool result to
// carry it.
func fromDomain(e *schemas.Error) *RPCError {
	e = shown(e)
	out := &RPCError{Code: CodeInternal, Message: e.Msg, Data: map[string]any{
		"code": e.Code, "expected": e.Expected, "next": e.Hint,
	}}
	switch e.Code {
	case schemas.CodeInvalid, schemas.CodeNotFound:
		out.Code = CodeInvalidParams
	case schemas.CodeBusy:
		out.Code = CodeBusy
	}
	return out
}

// status is the HTTP status 2026-07-28 prescribes for a JSON-RPC error.
func (e *RPCError) status() int {
	switch e.Code {
	case CodeMethodNotFound:
		return http.StatusNotFound
	case CodeParse, CodeInvalidRequest, CodeInvalidParams, CodeHeaderMismatch,
		CodeMissingClientCapability, CodeUnsupportedVersion:
		return http.StatusBadRequest
	case CodeBusy:
		return http.StatusServiceUnavailable
	default:
		return http.StatusOK
	}
}

// response is e as the answer to the request id; a nil id means it is unknown.
func (e *RPCError) response(id json.RawMessage) sdk.JSONRPCError {
	var rid any
	if len(id) > 0 {
		rid = id
	}
	return sdk.JSONRPCError{
		JSONRPC: sdk.JSONRPC_VERSION,
		ID:      sdk.NewRequestId(rid),
		Error:   sdk.JSONRPCErrorDetails{Code: e.Code, Message: ops.Escape(e.Message), Data: e.Data},
	}
}
