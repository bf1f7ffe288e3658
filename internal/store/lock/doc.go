// Package lock is what processes that share a database agree on through locked files.
//
// Write is the lock that a process holds while it writes. SQLite has one writer at a time
// and lets the others poll: of eight processes that write without pause one then commits
// thousands of times while another waits for seconds. The kernel hands flock on in the order
// of the waits, so behind this lock each process writes in its turn. It is about fairness
// alone: without it BEGIN IMMEDIATE still keeps writers apart.
//
// Processes tells which processes live: each holds a file of its own locked. File is
// an exclusive lock for work outside of a database, Try the one all of them are made of.
//
// The kernel frees every lock of a process that ends, however it ends, so nothing here
// has to be repaired. A stopped process keeps its locks: who waits for the write lock gives
// up by itself (store.Write does), and File has a context.
package lock
