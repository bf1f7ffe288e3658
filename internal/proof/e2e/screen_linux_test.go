//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// screen is a program at a terminal of its own, as a person has it before them.
type screen struct {
	testing.TB
	keys *os.File
	cmd  *exec.Cmd
	gone chan struct{}

	mu  sync.Mutex
	raw strings.Builder
}

// sequences move the cursor and colour what is shown.
var sequences = regexp.MustCompile(
	`\x1b\[[0-9;?<>=]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1bP[^\x1b]*\x1b\\|\x1b[@-Z\\-_=>78]`)

// letters is text without what a terminal does between words: some programs move the
// cursor where others print a space, and lines are cut where the screen ends.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, sequences.ReplaceAllString(text, ""))
}

// patience bounds the wait for what has to appear.
const patience = 60 * time.Second

// at starts a program at a terminal of 50 rows and 160 columns.
func (c *client) at(name string, args ...string) *screen {
	c.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(c, err)
	require.NoError(c, unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	require.NoError(c, err)
	require.NoError(c, unix.IoctlSetWinsize(int(keys.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 160}))
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(c, err)

	s := &screen{TB: c.TB, keys: keys, gone: make(chan struct{})}
	s.cmd = exec.CommandContext(context.WithoutCancel(c.Context()), name, args...)
	s.cmd.Dir, s.cmd.Env = c.home, append(c.environment(), "TERM=xterm-256color", "COLUMNS=160", "LINES=50")
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(c, s.cmd.Start())
	require.NoError(c, tty.Close())
	go s.read()
	c.Cleanup(s.end)
	return s
}

func (s *screen) read() {
	defer close(s.gone)
	part := make([]byte, 32<<10)
	for {
		n, err := s.keys.Read(part)
		s.mu.Lock()
		s.raw.Write(part[:n])
		s.mu.Unlock()
		if err != nil {
			return // the program has ended
		}
	}
}

// text is all that was shown, its letters alone.
func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return letters(s.raw.String())
}

// await waits until the screen has shown what.
func (s *screen) await(what string) {
	s.Helper()
	s.until("the screen shows "+what, func() bool { return strings.Contains(s.text(), letters(what)) })
}

// until waits for something to be so.
func (s *screen) until(what string, so func() bool) {
	s.Helper()
	for deadline := time.Now().Add(patience); !so(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.mu.Lock()
			defer s.mu.Unlock()
			require.Fail(s, "waited for: "+what, "the screen: %s", sequences.ReplaceAllString(s.raw.String(), " "))
		}
	}
}

// press types keys as they are.
func (s *screen) press(keys string) {
	s.Helper()
	if _, err := s.keys.WriteString(keys); err != nil {
		require.ErrorIs(s, err, syscall.EIO, "the program has ended")
	}
}

// insist types keys every second until something is so: a question that has just
// appeared takes no answer yet.
func (s *screen) insist(keys, what string, so func() bool) {
	s.Helper()
	last := time.Time{}
	s.until(what, func() bool {
		if time.Since(last) > time.Second {
			last = time.Now()
			s.press(keys)
		}
		return so()
	})
}

// say types a line and, once it can be seen, sends it.
func (s *screen) say(line string) {
	s.Helper()
	s.press(line)
	s.await(line)
	s.press("\r")
}

// leave ends a session as a person does.
func (s *screen) leave() {
	s.Helper()
	s.insist("/exit\r", "the session ends", func() bool {
		select {
		case <-s.gone:
			return true
		default:
			return false
		}
	})
}

// end ends the program and what it started.
func (s *screen) end() {
	s.cmd.Process.Kill() //nolint:errcheck // it may have ended
	syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	s.cmd.Wait() //nolint:errcheck // killed
	s.keys.Close()
	<-s.gone
}
