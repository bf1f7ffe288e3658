// Package mcp is the Model Context Protocol face: it carries messages between
// clients and the registry of tools, prompts and resources.
//
// The registry and the dispatch of standard methods are the SDK's
// (server.MCPServer). The edges are ours: strict reading of messages, stdio,
// Streamable HTTP and, behind a flag, the deprecated HTTP+SSE transport. Both
// protocol eras are served side by side, decided per request: the stateless
// core of 2026-07-28 and the initialize handshake of 2025-11-25 and earlier.
//
// Invariants:
//
//   - A request's notifications are written before its response, and nothing
//     is written for it after its response or its cancellation.
//   - Every accepted request has exactly one response, also at end of input,
//     unless the client cancelled it.
//   - One client can neither cancel, answer nor observe another's requests:
//     requests are known per connection or per principal's session, never by
//     their id alone.
//   - Reading never waits for a handler or for a slow reader of our output.
//   - Over HTTP the bearer token of each request names the caller. A session id proves nothing,
//     and no stream outlives its token.
//   - Broadcasts (list_changed, resources/updated) reach every legacy session
//     and every subscriptions/listen stream which asked for them, there tagged
//     with the subscription and never before its acknowledgement.
//   - When the tools that an agent may call change, by any process, its own clients are
//     notified (tools/list_changed), once for a change: in the earlier eras the clients that
//     listed them, otherwise the streams that asked for it.
//   - INV-ASKED: a client's answer for its user decides nothing: the node checks what the
//     person did with their own key. A refusal is final in its session.
//
// Where the client takes tasks (the Tasks extension of 2026-07-28), a tool may
// answer a call with one and be asked later what became of it; the calls that the
// node keeps are served so. It is offered to no client of the eras before.
//
// One tool is in no list and grants nothing: what the hooks of the client call, which
// tell it what operations read, and tell us which of its agents makes a call.
//
// A tool's result is one complete text. Structured results and their schemas go out
// only where a program asks for them, since clients show them to the model twice.
//
// It refuses: messages two JSON parsers could read differently, batches,
// bodies and lines over the limit, foreign origins and hosts, tokens anywhere
// but in the Authorization header, unknown protocol versions, and headers
// which contradict the body.
package mcp
