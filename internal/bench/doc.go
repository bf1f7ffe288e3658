//go:build unix

// Command bench measures the node beside its floor: the real command over
// stdio, against an empty mcp-go server, bare SQLite transactions and bare
// full-text queries, in the same run and taking turns. Its other half measures
// recall on conversations with annotated evidence.
//
// Purpose: figures that another machine can repeat, in docs/benchmarks.md.
//
// Invariants: ours and the floor run interleaved, and a ratio is taken run by
// run; nothing is measured inside the process that is measured; the recall data
// is read, never kept.
//
// It refuses to report a run in which any call failed.
package main
