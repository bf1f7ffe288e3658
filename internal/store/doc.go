// Package store keeps the node's state in one SQLite file that several
// processes of the same user share.
//
// Invariants:
//   - INV-DURABLE: Write returns nil only after the transaction is on disk, and no
//     reader sees it before (unless the operator chose relaxed durability). What fails
//     is undone.
//   - INV-IMMEDIATE: every write transaction begins IMMEDIATE, on the one writer
//     goroutine of this process, behind an flock that makes processes take
//     fair turns; every read runs on a query_only connection.
//   - INV-SOVEREIGN: triggers of the writing connection refuse changes to the L1 entries and
//     private items of an entity for which Tx.Act was not called.
//
// Because writers are serial across processes, what a write transaction reads
// is what holds when it commits: checks made inside it cannot race. On a server
// WriteConcurrent lets some run beside each other, and says what they rest on.
//
// Durability is SQLite's own: with synchronous=FULL it flushes the log within the
// commit and shows the commit to readers after that. A commit whose flush failed is
// undone for all processes that run; if all of them end before another commit, SQLite
// may still find it whole in the log. It is never half there.
//
// Beside the database n.db lie SQLite's n.db-wal and n.db-shm; n.db.lock, the queue for
// writing; n.db.inuse, locked by every process that has it open, so that Restore replaces no
// file in use; n.db.alive, a file that each process which waited holds locked while it lives;
// and n.db.bells, the sockets that wake processes waiting for news. n.db and n.db-wal belong
// together; the others may be deleted when no process runs. Backup, VerifyFile and Restore
// never leave half a file under its final name.
//
// It refuses network file systems, files written by a newer schema, and SQLite
// older than 3.51.3 (a WAL corruption bug was fixed there).
//
// Three small packages below it do what SQLite leaves to its users, and say why: lock
// (the write lock, and which processes live), notify (waking readers of other processes)
// and migrate (the schema).
//
// Only access opens transactions; the domain packages receive them through a
// Grant. Package storetest is the contract a second engine has to pass.
package store
