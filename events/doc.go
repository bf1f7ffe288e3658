// Package events keeps what happened: an append-only log of events in streams,
// each reader's place in it, and the audit record with its signed checkpoints.
//
// Invariants:
//   - INV-OUTBOX: an event or audit entry is written in the transaction of the
//     change it reports; neither exists without the other.
//   - INV-STREAM: within a stream, seq is 1, 2, 3 … in commit order, without gaps; what was removed
//     is its beginning, and the stream says how far.
//   - INV-DELIVERY: whether a reader may read a stream is asked when its events
//     are delivered, not only when they were written or subscribed to; what may be
//     read is delivered at least once, until the reader acknowledges it. If the operator bounds how
//     long unread events are kept, a reader is told of those that are gone.
//   - INV-AUDIT: audit entry n holds a hash over its own fields and the hash of
//     entry n−1; if it cannot be written the change fails.
//   - INV-CHECKPOINT: the tree of a checkpoint is grown from the one before it in
//     its file, or the checkpoint says that the record departed from that and, if
//     the record tells of it, by which restore.
//
// A mailbox is a cursor per reader over the streams it may read, not a copy per reader: reading
// moves nothing, acknowledging does. The caller gives the streams a reader may read; the
// package decides nothing about access.
//
// The audit entries are the leaves of a Merkle tree (RFC 6962). Its root is signed
// from time to time and kept in files outside the database. The tree is computed
// when it is needed: the newest checkpoint holds its right edge.
//
// It refuses unknown event types, payloads too large to be ids and enums, and
// cursors that it did not make for the reader.
package events
