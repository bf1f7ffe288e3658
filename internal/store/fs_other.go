//go:build !linux && !darwin && !freebsd

package store

// networkFileSystem cannot be told portably; the journal mode check remains.
func networkFileSystem(string) (string, bool) { return "", false }
