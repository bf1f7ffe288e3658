//go:build !linux && !darwin && !freebsd

package store

// NetworkFileSystem cannot be told portably; the journal mode check remains.
func NetworkFileSystem(string) (string, bool) { return "", false }
