//go:build testclock

package cli

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"cordelia/agents"
	"cordelia/node"
)

// clockFile is the environment variable with the path of a file that says how far all clocks are
// moved, as a Go duration ("30m"). An instant after it (RFC 3339) slows them down since then. It is
// read at each look at a clock, so a running process follows.
const clockFile = "CORDELIA_TEST_CLOCK"

// wrongClock is the environment variable that says how far this machine's clock is ahead of
// the right time, as a Go duration.
const wrongClock = "CORDELIA_TEST_CLOCK_WRONG"

// Adjust makes the clocks movable. Released binaries are built without this tag.
func Adjust(c *node.Config) {
	if wrong := os.Getenv(wrongClock); wrong != "" {
		by, err := time.ParseDuration(wrong)
		if err != nil {
			panic(wrongClock + " holds no duration: " + err.Error())
		}
		c.WrongClock(by)
		return
	}
	path := os.Getenv(clockFile)
	if path == "" {
		return
	}
	clock := movedClock(path)
	c.Clock = clock
	c.Monotonic = func() agents.Monotonic {
		return agents.Monotonic{Boot: "test", Micros: clock.Now().UnixMicro()}
	}
}

// slow is how many seconds of the machine a slow clock takes for one, so that what ends with time
// ends when a script says so, not when a busy machine is late.
const slow = 100

// movedClock is the system clock, changed by what the file of this name says.
type movedClock string

// Now is the changed time; without the file nothing is changed.
func (c movedClock) Now() time.Time {
	now := time.Now()
	raw, err := os.ReadFile(string(c))
	if errors.Is(err, fs.ErrNotExist) {
		return now
	}
	must := func(err error) {
		if err != nil {
			panic("the file of " + clockFile + ": " + err.Error())
		}
	}
	must(err)
	moved, since, slowed := strings.Cut(strings.TrimSpace(string(raw)), " ")
	if slowed {
		begun, err := time.Parse(time.RFC3339Nano, since)
		must(err)
		now = begun.Add(now.Sub(begun) / slow)
	}
	by, err := time.ParseDuration(moved)
	must(err)
	return now.Add(by)
}
