package run

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// replayer is the variable that has this test binary stand in for a client: a scripted
// program that replays a recorded stream, in the way the variable says.
const replayer = "CLAUDE_REPLAYS"

// knocker is the variable that has this test binary connect to a door and print what comes.
const knocker = "CLAUDE_KNOCKS"

func TestMain(m *testing.M) {
	if code, ours := Enter(os.Args[1:]); ours {
		os.Exit(code)
	}
	if path := os.Getenv(knocker); path != "" && len(os.Args) == 1 {
		Knock(context.Background(), path, os.Stdin, os.Stdout) //nolint:errcheck // the test sees what is missing
		return
	}
	if how := os.Getenv(replayer); how != "" {
		replay(how)
		return
	}
	os.Exit(m.Run())
}

// replay prints a stream: WAY:FILE. The ways are those in which clients go wrong.
func replay(how string) {
	way, file, _ := strings.Cut(how, ":")
	io.Copy(io.Discard, os.Stdin) //nolint:errcheck // the prompt
	raw, err := os.ReadFile(file)
	if err != nil && file != "" {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(9)
	}
	text := string(raw)
	switch way {
	case "exit0":
	case "exit7":
		fmt.Print(text)
		fmt.Fprintln(os.Stderr, "it broke")
		os.Exit(7)
	case "truncated": // in the middle of its last line
		fmt.Print(text[:len(text)-40])
		return
	case "garbage":
		text = "Loading…\n{\"type\":\n\x00\x01\xff\n"
	case "silent":
		time.Sleep(time.Hour)
	case "stalled":
		fmt.Println(strings.SplitN(text, "\n", 2)[0])
		time.Sleep(time.Hour)
	case "orphan", "daemon": // a child keeps the stream open after its end, or leaves its session, too
		child := exec.Command("sleep", "600")
		if child.Stdout = os.Stdout; way == "daemon" {
			child = exec.Command("sh", "-c",
				"setsid sleep 600 & echo -n $! > $CLAUDE_PIDS.next; mv $CLAUDE_PIDS.next $CLAUDE_PIDS")
		}
		if err := child.Start(); err != nil {
			os.Exit(9)
		}
		if way == "daemon" {
			child.Wait() //nolint:errcheck // the test sees what is missing
		} else {
			os.WriteFile(os.Getenv("CLAUDE_PIDS"), fmt.Append(nil, child.Process.Pid),
				0o600) //nolint:errcheck // the test reads it
		}
	case "runner": // that runs a client, which never ends
		self, _ := os.Executable()
		os.Setenv(replayer, "hanging:")
		claudeAsk(self)
	case "hanging":
		os.WriteFile(os.Getenv("CLAUDE_PIDS"), fmt.Append(nil, os.Getpid()),
			0o600) //nolint:errcheck // the test reads it
		time.Sleep(time.Hour)
	case "long": // a line beyond all bounds
		fmt.Println(`{"type":"assistant","message":{"content":"` + strings.Repeat("x", maxLine) + `"}}`)
	}
	fmt.Print(text)
}

// claudeAsk asks the program that stands in for a client, without limits.
func claudeAsk(self string) {
	command{program: self, self: self, environment: func(name string) bool {
		return name == replayer ||
			name == "CLAUDE_PIDS"
	}}.must()
}

func (c command) must() {
	p, err := c.start()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(9)
	}
	<-p.exited
}
