// Package scenario proves what users are promised, against the real binary.
//
// A scenario is a script in testdata, one per promise, read like a story: clients are started,
// call tools, and the player compares the answers with the promise. Each client is a separate
// process over stdio, or a caller with its own token over HTTP, and speaks the protocol as any
// client would. Some proofs need more than a script: races between processes, kills under load,
// an adversary with every tool, and wrong input to every tool.
//
// The package serves tests only. It refuses scripts with an error in any line.
package scenario
