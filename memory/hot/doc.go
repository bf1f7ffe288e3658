// Package hot is the context that each entity has at the start of every session (L1), and the
// sessions that change it.
//
// hot.go reads and writes a context, patch.go merges what is written and keeps the node's own
// fields apart, document.go and digest.go are what a reader gets, row.go is how it is stored.
// session.go begins, notes and ends sessions, chain.go hashes each onto the one before, life.go
// is what happens to a context as its agent is registered, deactivated and removed.
//
// Invariants:
//   - INV-L1-CHAIN: each session end hashes the context onto the hash of the one
//     before; a context changed behind the node's back is an error, not a log line.
//
// It refuses writes of what the node keeps, writes that began from an older version, and
// contexts of more than 64 KiB.
package hot
