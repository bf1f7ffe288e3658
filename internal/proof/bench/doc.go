//go:build unix

// Command bench measures the node beside its floor: the real command over stdio
// and HTTP, against an empty mcp-go server, bare SQLite transactions and bare
// full-text queries, in the same run and taking turns. Beside them stand other
// memory servers, installed from npm by a lock file. Its other half measures
// recall on conversations with annotated evidence.
//
// Purpose: figures that another machine can repeat, in docs/benchmarks.md.
//
// Invariants: ours and the floor run interleaved, and a ratio is taken run by
// run; nothing is measured inside the process that is measured; one client is
// used for both; times of an open loop count from when a call was due; every
// part works on copies of stores that are grown once; the recall data is read,
// never kept.
//
// It refuses to report a part in which any call failed, but for those that count
// failures. What this machine lacks (npm, the data) is skipped with a line that
// says so.
package main
