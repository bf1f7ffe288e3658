//go:build testclock

package cli

import (
	"os"
	"strings"
	"time"

	"cordelia/agents"
	"cordelia/node"
)

// clockFile is the environment variable with the path of a file that holds how
// far all clocks are moved, as a Go duration ("30m"). It is read at each look at
// a clock, so a running process follows.
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

// movedClock is the system clock, moved by what the file of this name says.
type movedClock string

// Now is the moved time; a file that cannot be read moves nothing.
func (c movedClock) Now() time.Time {
	raw, err := os.ReadFile(string(c))
	if err != nil {
		return time.Now()
	}
	by, err := time.ParseDuration(strings.TrimSpace(string(raw)))
	if err != nil {
		panic("the file of " + clockFile + " holds no duration: " + err.Error())
	}
	return time.Now().Add(by)
}
