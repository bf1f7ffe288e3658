package run

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// connectedBy reports whether the process that made a connection descends from another one,
// as the kernel says. Orphans count: their supervisor adopts them.
func connectedBy(conn connection, root int) bool {
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		return false
	}
	raw, err := unixConn.SyscallConn()
	if err != nil {
		return false
	}
	pid := 0
	if err := raw.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(peer.Pid)
		}
	}); err != nil {
		return false
	}
	for steps := 0; pid > 1 && steps < maxAncestors; steps++ {
		if pid == root {
			return true
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return false
		}
		if pid, ok = parentIn(stat); !ok {
			return false
		}
	}
	return false
}

// maxAncestors is how far up the parents of a process are looked at.
const maxAncestors = 1000
