// Package drive runs the cordelia program on a home of its own and speaks to it as
// clients do: over stdio with a child process for each client, over HTTP with a
// bearer token. Whoever needs real processes uses it: the scenarios and the demo.
//
// A Node knows every process it left running and ends them all with Kill; if the
// program that drives is killed itself, they end with their input. The package
// decides nothing and holds no answer against a promise; a refusal of a tool is an
// answer like any other. It refuses what it cannot read: a result that is none, an
// error without its fields.
package drive
