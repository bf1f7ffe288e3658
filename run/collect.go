package run

import (
	"context"
	"errors"
	"os/exec"
	"time"
)

// ends keeps the beginning and the end of what is written to it.
type ends struct {
	most       int // bytes of each
	head, tail []byte
	cut        bool
}

func (e *ends) write(b []byte) {
	room := min(e.most-len(e.head), len(b))
	e.head = append(e.head, b[:room]...)
	e.tail = append(e.tail, b[room:]...)
	if over := len(e.tail) - e.most; over > 0 {
		e.tail, e.cut = append(e.tail[:0], e.tail[over:]...), true
	}
}

func (e *ends) String() string {
	if e.cut {
		return string(e.head) + "\n… (the middle is left out)\n" + string(e.tail)
	}
	return string(e.head) + string(e.tail)
}

// collect runs a command to its end and gives what it came to: its exit code, -1 if it was
// not done in time, and both ends of what it printed. A *Fault says that it could not be
// started, or that ctx ended.
func collect(ctx context.Context, c command, within time.Duration, most int) (exit int, output string, err error) {
	p, err := c.start()
	if err != nil {
		return 0, "", faultf(NoStart, "%s: %v", c.program, err)
	}
	out := ends{most: most}
	late := time.After(within)
	for over := false; !over; {
		select {
		case line, more := <-p.lines:
			over = !more
			out.write(line)
		case <-p.exited:
			over = true
		case <-late:
			p.end(false) //nolint:errcheck // it was not done in time
			return -1, out.String() + "\nit was not done within " + within.String(), nil
		case <-ctx.Done():
			p.end(false) //nolint:errcheck // it was stopped
			return 0, "", ended(ctx)
		}
	}
	for end := time.After(graceKill); ; { // what it printed last, unless a process that it left goes on printing
		select {
		case line, more := <-p.lines:
			if more {
				out.write(line)
				continue
			}
		case <-end:
		case <-ctx.Done():
		}
		break
	}
	if failed, ok := errors.AsType[*exec.ExitError](p.end(true)); ok {
		exit = failed.ExitCode()
	}
	if left := p.left(); left != "" {
		return exit, out.String() + "\n" + left, nil
	}
	return exit, out.String(), nil
}
