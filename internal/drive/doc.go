// Package drive runs the cordelia program on a new home and speaks to it as clients do: over
// stdio with a child process for each client, over HTTP with a bearer token. The scenarios and
// the demo use it, because they need real processes.
//
// A Node knows every process it left running and ends them all with Kill; if the driving
// program is killed itself, they end with their input. The package checks no promise; a refusal
// of a tool is an answer like any other. It refuses malformed results, and errors without their
// fields.
package drive
