// Package hooks answers a client's own hooks: it gives the text to add to a conversation, and
// decides as which agent each of the client's sub-agents acts. It reads all of it through
// operations of the catalogue, as the caller and with the caller's rights.
//
// Invariants:
//   - INV-SEAT: each sub-agent of a client acts as a separate agent. The client, and never a
//     model's text, says which sub-agent makes a call.
//   - INV-BLIND: while an agent holds a lease of R1, R3 or R4a, no hook shows it
//     memory that it did not ask for.
//
// It refuses a call that no hook announced, once the client has run one. It reports no errors:
// a client does not wait for its hooks.
package hooks
