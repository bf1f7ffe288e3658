// Package plugin holds the plugin for Claude Code: its server, hooks, skills and the
// worker sub-agent, as the files that set-up writes.
//
// In the tree they start the cordelia on PATH, so that the folder files works with claude
// --plugin-dir. Files gives them for a program at a fixed place, with its version.
package plugin
