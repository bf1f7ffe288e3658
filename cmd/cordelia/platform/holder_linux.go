package platform

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// LockHolders lists the processes that hold a lock on the file at path, as far as
// the system tells this user: /proc/locks names them by inode (proc_locks(5)), and
// their open files say whether it is this one.
func LockHolders(path string) (list []LockHolder) {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(locks)) {
		// 1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF; one that waits has "->".
		f := strings.Fields(line)
		if len(f) < 8 || f[1] == "->" || !strings.HasSuffix(f[5], fmt.Sprintf(":%d", st.Ino)) {
			continue
		}
		if pid, err := strconv.Atoi(f[4]); err == nil && hasOpen(pid, info) {
			list = append(list, describe(pid))
		}
	}
	return list
}

// hasOpen reports whether the process has the file open.
func hasOpen(pid int, file os.FileInfo) bool {
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		return false
	}
	for _, link := range links {
		if info, err := os.Stat(link); err == nil && os.SameFile(info, file) {
			return true
		}
	}
	return false
}

// describe looks a process up. Its state is the letter after its name: T stopped,
// t traced (proc_pid_stat(5)).
func describe(pid int) LockHolder {
	h := LockHolder{PID: pid}
	if raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		_, rest, _ := strings.Cut(string(raw[bytes.LastIndexByte(raw, ')')+1:]), " ")
		h.Stopped = strings.HasPrefix(rest, "T") || strings.HasPrefix(rest, "t")
	}
	if raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil {
		h.Command = strings.TrimSpace(strings.ReplaceAll(string(raw), "\x00", " "))
	}
	return h
}
