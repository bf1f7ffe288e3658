package run

import (
	"bytes"

	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes this process the parent of descendants whose own parent ends: none
// gets away by leaving its group or session.
func adoptOrphans() {
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) //nolint:errcheck // every kernel since 3.4 can
}

// killDescendants kills every descendant and reports whether there were any.
func killDescendants() bool {
	parents := map[int]int{}
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return reap()
	}
	for _, path := range all {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // it ended
		}
		pid, bad := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if parent, ok := parentIn(raw); ok && bad == nil {
			parents[pid] = parent
		}
	}
	me := os.Getpid()
	for pid := range parents {
		for at, steps := parents[pid], 0; at > 1 && steps < len(parents); at, steps = parents[at], steps+1 {
			if at == me {
				unix.Kill(pid, unix.SIGKILL) //nolint:errcheck // it is over, as it should be
				break
			}
		}
	}
	return reap()
}

// parentIn reads the parent of a process from its /proc/PID/stat.
func parentIn(stat []byte) (pid int, ok bool) {
	// pid (name) state ppid …, and the name may hold anything
	_, rest, ok := bytes.Cut(stat[max(bytes.LastIndexByte(stat, ')'), 0):], []byte(") "))
	fields := bytes.Fields(rest)
	if !ok || len(fields) < 2 {
		return 0, false
	}
	pid, err := strconv.Atoi(string(fields[1]))
	return pid, err == nil
}
