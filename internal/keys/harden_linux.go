package keys

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// HardenProcess keeps other processes of the same user from reading this one's
// memory and environment, and the kernel from writing either to a core file.
// Call it before the first key is loaded. It costs the ability to attach a
// debugger. On systems other than Linux it does nothing.
func HardenProcess() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("harden process: make undumpable: %w", err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("harden process: forbid core files: %w", err)
	}
	return nil
}
