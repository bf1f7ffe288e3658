//go:build unix && !linux

package store

import "os"

// reserve makes f that long.
func reserve(f *os.File, size int64) error { return f.Truncate(size) }

// Flush waits for the disk itself; on macOS a plain fsync does not.
func (l osLog) Flush() error { return l.Sync() }
