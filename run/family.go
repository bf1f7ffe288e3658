package run

import (
	"os/exec"
	"sync"
)

// family is the processes of one seat's client: those that descend from the one that
// supervises it. The seat's door serves no other process.
type family struct {
	mu   sync.Mutex
	root int // pid of the supervisor, 0 = none runs
}

// start starts the supervisor. No process of the family can ask for anything before it is
// known. A nil family is started and not noted.
func (f *family) start(cmd *exec.Cmd) error {
	if f == nil {
		return cmd.Start()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	f.root = cmd.Process.Pid
	return nil
}

// end notes that the supervisor has ended: its number may soon be another process's.
func (f *family) end(pid int) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.root == pid {
		f.root = 0
	}
}

// admits reports whether the process that connected is of the family.
func (f *family) admits(conn connection) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.root > 0 && connectedBy(conn, f.root)
}
