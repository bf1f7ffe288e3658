//go:build !linux

package keys

// HardenProcess does nothing here: only Linux offers what it does without
// privileges.
func HardenProcess() error { return nil }
