// Package git works in the user's git repository for the tasks of a run: worktrees for executors, commits
// of what they leave, the branch of a task, merges into it and into the user's branch, and what killed runs
// left behind.
//
// git runs nothing that a worker could have put there: no hook, no filter, no monitor, no merge driver.
// The user's working tree, index and branches change on their demand alone (Apply).
//
// It refuses worktrees with a .git that is not the node's, new symbolic links, and new nested
// repositories.
package git
