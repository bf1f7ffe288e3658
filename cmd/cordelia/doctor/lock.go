package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/platform"
	"cordelia/cmd/cordelia/setup"
	"cordelia/node"
)

// writeLock checks that the write lock becomes free.
func (x *examination) writeLock(ctx context.Context, home node.Home) {
	const check = "write lock"
	const patience = 2 * time.Second
	file := home.Database() + ".lock"
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		free, err := setup.LockFree(file)
		if err != nil {
			x.refused(check, err)
			return
		}
		if free {
			x.report(check, Fine, "", "free")
			return
		}
		select {
		case <-ctx.Done():
			detail, fix := heldFor(platform.LockHolders(file))
			x.report(check, Problem, fix, "held for over %v %s", patience, detail)
			return
		case <-tick.C:
		}
	}
}

// heldFor words which process holds the lock, and what to do about it. Ending a process
// costs nothing that was acknowledged.
func heldFor(holders []platform.LockHolder) (detail, fix string) {
	if len(holders) == 0 {
		return "by another process", "look for a stopped process and end it: ps -C cordelia -o pid,stat,args"
	}
	var names []string
	stopped := 0
	for _, h := range holders {
		name := fmt.Sprintf("process %d", h.PID)
		if h.Stopped {
			stopped = h.PID
			name += ", which is stopped"
		}
		if h.Command != "" {
			name += " (" + cli.Block(h.Command) + ")"
		}
		names = append(names, name)
	}
	detail = "by " + strings.Join(names, " and ")
	if stopped != 0 {
		return detail, fmt.Sprintf("let it go on: kill -CONT %d; or end it: kill -KILL %d", stopped, stopped)
	}
	return detail, fmt.Sprintf("if it stays so, end it: kill %d", holders[0].PID)
}
