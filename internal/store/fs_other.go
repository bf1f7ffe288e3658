//go:build !linux && !darwin && !freebsd

package store

// NetworkFileSystem has no portable way to find out; the journal mode check remains.
func NetworkFileSystem(string) (string, bool) { return "", false }
