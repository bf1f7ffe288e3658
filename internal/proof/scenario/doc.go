// Package scenario proves what users are promised, against the real binary.
//
// A scenario is a script in testdata, one per promise, read like a story:
// clients are started, call tools, and the answers are held against what was
// promised. Each client is a process of its own over stdio, or a caller with its
// own token over HTTP, and speaks the protocol as any client would. Beside the
// scripts stand the proofs that need more than a story: races between processes,
// kills under load, an adversary with every tool, and wrong input to every tool.
//
// The package serves tests only. It refuses scripts it cannot read to the end.
package scenario
