package machinecheck

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The tests run this binary as the commands of checks: what it does is its words.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "child" {
		os.Exit(child(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

// child is what a command of a check does.
func child(what string, args []string) int {
	switch what {
	case "exit":
		fmt.Print("done\n")
		code, _ := strconv.Atoi(args[0])
		return code
	case "print": // that many bytes, each line with its number
		n, _ := strconv.Atoi(args[0])
		lines := strings.Builder{}
		for i := 0; lines.Len() < 1<<20; i++ {
			fmt.Fprintf(&lines, "line %d\n", i)
		}
		block := []byte(lines.String())
		for n > 0 {
			wrote, err := os.Stdout.Write(block[:min(n, len(block))])
			if err != nil {
				return 1
			}
			n -= wrote
		}
	case "surroundings":
		dir, _ := os.Getwd()
		left, _ := io.ReadAll(os.Stdin)
		fmt.Printf("in %s\nread %d\n%s\n", dir, len(left), strings.Join(os.Environ(), "\n"))
		fmt.Fprintln(os.Stderr, "said on the other")
		home := os.Getenv("HOME")
		os.MkdirAll(home+"/cache/below", 0o700) //nolint:errcheck // the test looks
		os.WriteFile(home+"/cache/below/file", nil, 0o400)
		os.Chmod(home+"/cache/below", 0o500) //nolint:errcheck // as above
	case "stubborn": // until it is killed, or long after every test
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		fmt.Println("here")
		holdLock(args)
		time.Sleep(20 * time.Minute)
	case "leave": // a child behind that has our output, and end
		return leave(args, nil)
	case "away": // as leave, and it is in no group of ours
		return leave(args, apart())
	}
	return 0
}

// leave starts a child that holds a lock, and ends once it does.
func leave(args []string, how *syscall.SysProcAttr) int {
	c := exec.Command(os.Args[0], append([]string{"child", "stubborn"}, args...)...)
	c.Stdout, c.Stderr, c.SysProcAttr = os.Stdout, os.Stderr, how
	ready, in, err := os.Pipe()
	if err != nil {
		return 1
	}
	c.ExtraFiles = []*os.File{in}
	if err := c.Start(); err != nil {
		return 1
	}
	in.Close() //nolint:errcheck // the child has its own
	word := make([]byte, 2)
	io.ReadFull(ready, word) //nolint:errcheck // compared next
	if !bytes.Equal(word, []byte("ok")) {
		return 1
	}
	fmt.Println("left", c.Process.Pid)
	return 0
}
