package run

import (
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

func TestMain(m *testing.M) {
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
	case "orphan": // a child keeps the stream open after its end
		child := exec.Command("sleep", "600")
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			os.Exit(9)
		}
		fmt.Fprintf(os.Stderr, "child %d\n", child.Process.Pid)
		if pids := os.Getenv("CLAUDE_PIDS"); pids != "" {
			os.WriteFile(pids, fmt.Append(nil, child.Process.Pid), 0o600) //nolint:errcheck // the test reads it
		}
	case "long": // a line beyond all bounds
		fmt.Println(`{"type":"assistant","message":{"content":"` + strings.Repeat("x", maxLine) + `"}}`)
	}
	fmt.Print(text)
}
