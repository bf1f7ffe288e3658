//go:build unix

package store

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// flushes says that the flusher and not SQLite brings commits to the disk.
const flushes = true

// mapMarks lays the marks over the beginning of f, which all processes map. The file
// may be deleted when no process runs: what the log then holds is on disk, but for a
// commit whose process was killed before its flush, of which nobody knows any more.
func mapMarks(f *os.File) (*marks, error) {
	size := os.Getpagesize()
	fi, err := f.Stat()
	if err == nil && fi.Size() < int64(size) {
		err = reserve(f, int64(size)) // a newcomer may have been first; nothing is overwritten
	}
	if err != nil {
		return nil, fmt.Errorf("make room for the marks of the log: %w", err)
	}
	page, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("share the marks of the log: %w", err)
	}
	m := (*marks)(unsafe.Pointer(&page[0]))
	if m.begun.CompareAndSwap(0, 1) {
		m.done.CompareAndSwap(0, 1)
	}
	return m, nil
}

func unmap(m *marks) error {
	return syscall.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(m)), os.Getpagesize()))
}
