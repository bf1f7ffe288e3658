// Package run fills the seats of a task with coding clients the user already has: it asks a
// client for each role's answer, gives each executor a git worktree, commits what it changed,
// and puts accepted work on a branch.
//
// A client's answer is not trusted. With any exit code of its process, a seat ends with a
// structured answer, with a recorded failure, or postponed by a limit of the provider. What an
// executor did is read from the events of its client and recorded by the node, apart from what
// it claims.
//
// The package decides nothing about a task and nothing about access: it claims and
// reports as agents do, each seat as an agent that was registered for it.
//
// Invariants:
//   - INV-SHIELD: a client that works behind a shield reads, writes and connects to what the
//     shield lists, or is not started.
//   - INV-DOOR: the MCP server of a worker serves the processes of that worker's client alone.
//
// It refuses what package git refuses of a worktree, and a result that names a commit which the node did
// not make for its task.
package run
