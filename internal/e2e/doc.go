// Package e2e proves that real clients work with the real binary: Claude Code,
// headless, with a scripted model behind it.
//
// The model is a Messages endpoint on loopback (Model). It plays a script, but
// like a model it knows only what its client tells it: each call is computed
// from the tools offered and the results so far. Nothing leaves the machine, no
// key is needed, and every run has a home folder of its own.
//
// The proof itself is behind the build tag e2e, because it needs an installed
// client: run it with make e2e.
package e2e
