// Package hooks answers what a client's own hooks ask: what to add to a conversation, and
// as whom the client's sub-agents act. All that it says was read by operations of the
// catalogue, as the caller and with the caller's rights.
//
// Invariants:
//   - INV-SEAT: a sub-agent of a client acts as an agent of its own; which call is whose
//     comes from the client, never from what a model wrote.
//   - INV-UNAIDED: while an agent holds a lease of R1, R3 or R4a, no hook shows it
//     memory that it did not ask for.
//
// It refuses a call that no hook announced, once the client has run one, and says
// nothing where something goes wrong: a client does not wait for its hooks.
package hooks
