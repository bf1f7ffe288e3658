// Package ops is the catalogue: every operation once, one file each, for all faces. A file
// declares the operation's name, description, effect, typed input and output, and its handler;
// MCP, the command line and the console render it. A Service serves it on a node.
//
// Invariants:
//   - INV-CATALOGUE: a tool that is not in Catalogue does not exist, and its name there is the
//     name capabilities grant.
//   - INV-ONCE: a mutating call repeated with its idempotency key changes nothing
//     again and gets the recorded answer, if the caller may still use the tool.
//   - INV-PENDING: only its caller sees a pending call, and its wait ends once: with its effect,
//     in the same transaction, with a refusal, or with its cancellation.
//
// It refuses input that does not match the published schema, naming every
// violation, before anything is opened.
package ops
