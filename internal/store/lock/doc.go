// Package lock is what processes that share a database agree on through locked files.
//
// Write is the lock that a process holds while it writes. SQLite has one writer at a time
// and lets the others poll: of eight processes that write without pause one then commits
// thousands of times while another waits for seconds. The kernel hands flock on in the order
// of the waits, so behind this lock each process writes in its turn. It is about fairness
// alone: without it BEGIN IMMEDIATE still keeps writers apart.
//
// Processes finds which processes live: each holds one file locked. File is an exclusive lock
// for work outside of a database, and Try the operation that all of them use.
//
// The kernel frees every lock of a process that ends, however it ends, so nothing here has to
// be repaired. A stopped process keeps its locks: store.Write gives up its wait for the write
// lock after a time, and File has a context.
package lock
