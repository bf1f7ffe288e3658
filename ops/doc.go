// Package ops is the catalogue: every operation once, one file each, whatever
// face it is called from. A file declares the operation's name, description,
// effect, typed input and output, and its handler; MCP, the command line and
// the console render it. A Service serves it on a node.
//
// Invariants:
//   - INV-CATALOGUE: a tool that is not in Catalogue does not exist for anyone,
//     and its name there is the name capabilities grant.
//   - INV-ONCE: a mutating call repeated with its idempotency key changes nothing
//     again and gets the recorded answer, if the caller may still use the tool.
//   - INV-KEPT: a kept call is its caller's alone, and its wait ends once: with what
//     it did, in that transaction, with a refusal, or with its cancellation.
//
// It refuses input that does not match the published schema, naming every
// violation, before anything is opened.
package ops
