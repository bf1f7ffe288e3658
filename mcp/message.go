package mcp

import (
	"encoding/json"
	"regexp"

	sdk "github.com/mark3labs/mcp-go/mcp"
)

// message is one inbound JSON-RPC message, read strictly.
type message struct {
	raw     json.RawMessage
	id      json.RawMessage // as sent, so that it is echoed exactly; nil for notifications
	method  string          // empty for responses
	params  json.RawMessage
	result  json.RawMessage
	err     json.RawMessage
	version string // protocol version declared in params._meta; empty before 2026-07-28
	// structured: params._meta asks for structured results.
	structured bool
}

// requestID is a JSON string or integer (MCP; JSON-RPC 2.0 section 4).
var requestID = regexp.MustCompile(`^("|-?(0|[1-9][0-9]*)$)`)

// parseMessage checks and splits a message. On error the message still carries
// its id when it could be read.
func parseMessage(data []byte) (message, *RPCError) {
	m := message{raw: data}
	if err := checkMessage(data); err != nil {
		if err.Code == CodeInvalidRequest { // the client that waits for an answer finds it by the id
			var scan idScan
			scan.read(data)
			m.id = scan.id()
		}
		return m, err
	}
	var env struct {
		JSONRPC json.RawMessage `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  *string         `json:"method"`
		Params  json.RawMessage `json:"params"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(data, &env); err != nil {
		return m, Errorf(CodeInvalidRequest, "method must be a string")
	}
	if env.ID != nil {
		if !requestID.Match(env.ID) {
			return m, Errorf(CodeInvalidRequest, "id must be a string or an integer")
		}
		m.id = env.ID
	}
	m.params, m.result, m.err = env.Params, env.Result, env.Error
	if string(env.JSONRPC) != `"2.0"` {
		return m, Errorf(CodeInvalidRequest, `jsonrpc must be "2.0"`)
	}
	answers := m.result != nil || m.err != nil
	switch {
	case env.Method == nil && (m.id == nil || !answers):
		return m, Errorf(CodeInvalidRequest, "neither a request, a notification nor a response")
	case env.Method == nil:
		return m, nil
	case *env.Method == "" || answers:
		return m, Errorf(CodeInvalidRequest, "a request has a method and neither result nor error")
	}
	m.method = *env.Method
	return m, m.readMeta()
}

// readMeta finds what a request declares for itself: its protocol version, and
// whether its answer is to be structured.
func (m *message) readMeta() *RPCError {
	if m.params == nil || string(m.params) == "null" {
		return nil
	}
	var params struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if json.Unmarshal(m.params, &params) != nil {
		return Errorf(CodeInvalidParams, "params must be an object and _meta an object in it")
	}
	m.structured = string(params.Meta[structuredMeta]) == "true"
	v, ok := params.Meta[sdk.MetaKeyProtocolVersion]
	if !ok {
		return nil
	}
	if json.Unmarshal(v, &m.version) != nil || m.version == "" {
		return Errorf(CodeInvalidParams, "_meta field %s must be a string", sdk.MetaKeyProtocolVersion)
	}
	return nil
}

// modern reports whether the message speaks the stateless core of 2026-07-28.
func (m *message) modern() bool { return sdk.IsModernProtocol(m.version) }

// endless reports whether the request is a stream that only the client ends.
func (m *message) endless() bool {
	return m.modern() && m.method == string(sdk.MethodSubscriptionsListen)
}

// cancels gives the id of the request a notifications/cancelled names.
func (m *message) cancels() (id json.RawMessage, ok bool) {
	if m.method != string(sdk.MethodNotificationCancelled) || m.id != nil {
		return nil, false
	}
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	_ = json.Unmarshal(m.params, &p)
	return p.RequestID, true
}

// idKey makes ids comparable: "a" and "\u0061" are one id, 7 and "7" are two.
func idKey(id json.RawMessage) string {
	var s string
	if json.Unmarshal(id, &s) == nil {
		return "s" + s
	}
	return "n" + string(id)
}
