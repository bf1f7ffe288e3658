// Package demo plays a story that shows what the program is for: a swarm is made, its
// workers race for work, one is killed, one claims what is not so, a task is planned
// anew, a returning agent is reviewed, trust moves, and the record is tampered with.
//
// The agents are scripts, and everything else is real: each is an MCP client of the
// same program, most over stdio with a process of their own, one over HTTP with a
// token; what a person does is the command a person would give. Nothing is waited for
// but the lease of the worker that was killed.
//
// Each step asks for what it shows and checks that against what was promised; what it
// tells is taken from the answers. It refuses to go on where a promise does not hold:
// the story ends there, with an error that says which.
package demo
