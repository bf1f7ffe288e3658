// Package e2e proves that real clients work with the real binary: Claude Code, headless
// and at a terminal, Codex and Gemini CLI, each with a scripted model behind it.
//
// The models are endpoints on loopback (Model, Responses, Generate). They play a script, but
// like a model they know only what their client sends: each call is computed from the tools
// offered and the results so far. Nothing leaves the machine, no key is needed, and every run
// has a new home folder.
//
// The proof itself is behind the build tag e2e, because it needs installed
// clients: run it with make e2e.
package e2e
