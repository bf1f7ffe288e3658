package machinecheck

import (
	"io/fs"
	"syscall"
	"time"
)

// changed is when a file, or its times, were changed last: no program can set that, while
// any sets the time it was written.
func changed(info fs.FileInfo) time.Time {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}
	}
	return time.Unix(stat.Ctim.Unix())
}
