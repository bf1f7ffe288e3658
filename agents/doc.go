// Package agents keeps who exists: people, their agents, keys, capabilities,
// lifecycle, and the proofs of identity that turn into bearer tokens.
//
// Invariants:
//   - INV-LEAST: an agent is registered, and its capabilities changed, only
//     inside those of every agent above it.
//   - INV-EDGE: a status changes only along schemas.AgentEdges, by whom the edge
//     belongs to; removed is final.
//   - INV-NONCE: the transaction that acts on a proof of identity notes that its
//     challenge was answered, so a nonce is worth one token, or one return.
//   - Every change that takes a right away moves the epoch in its transaction.
//
// It refuses private keys: they reach it only sealed to the parent.
package agents
