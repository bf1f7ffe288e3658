package drive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Node is a home folder and the processes that serve it.
type Node struct {
	Binary string
	Home   string
	Env    []string // added to every process's environment, before the home
	Flags  []string // added to every command
	Folder string   // where its processes start; "" = where this one did

	mu       sync.Mutex
	children map[*Child]bool
}

// Database is the path of the node's database file.
func (n *Node) Database() string { return filepath.Join(n.Home, "cordelia.db") }

// surround gives a command the node's surroundings.
func (n *Node) surround(cmd *exec.Cmd) {
	cmd.Args = append(cmd.Args, n.Flags...)
	cmd.Env = append(append(os.Environ(), n.Env...), "CORDELIA_HOME="+n.Home)
	cmd.Dir = n.Folder
}

// Run runs a command to its end and returns what it printed and its exit code.
func (n *Node) Run(ctx context.Context, args ...string) (stdout, stderr string, code int, err error) {
	cmd := exec.CommandContext(ctx, n.Binary, args...)
	n.surround(cmd)
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return out.String(), errOut.String(), exit.ExitCode(), nil
	}
	return out.String(), errOut.String(), 0, err
}

// Feed runs a command with this input to its end and returns what it printed.
func (n *Node) Feed(ctx context.Context, input string, args ...string) (stdout string, err error) {
	cmd := exec.CommandContext(ctx, n.Binary, args...)
	n.surround(cmd)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.Output()
	return string(out), err
}

// Child is one running command of a node.
type Child struct {
	node   *Node
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr tail
	ended  chan struct{} // closed when it has been waited for
}

// launch starts a command. Who launches it reads stdout to its end, then reaps.
func (n *Node) launch(args ...string) (*Child, error) {
	c := &Child{node: n, cmd: exec.Command(n.Binary, args...), ended: make(chan struct{})}
	n.surround(c.cmd)
	c.cmd.Stderr = &c.stderr
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if c.stdout, err = c.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock() // a child that Kill does not know of lives on
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %v: %w", args, err)
	}
	if n.children == nil {
		n.children = map[*Child]bool{}
	}
	n.children[c] = true
	return c, nil
}

// Start starts a command and discards its output.
func (n *Node) Start(args ...string) (*Child, error) {
	c, err := n.launch(args...)
	if err != nil {
		return nil, err
	}
	go func() {
		io.Copy(io.Discard, c.stdout) //nolint:errcheck // to its end, however it comes
		c.reap()
	}()
	return c, nil
}

// reap waits for the process once its output has been read to the end.
func (c *Child) reap() {
	c.cmd.Wait() //nolint:errcheck // how it ended is the caller's story
	c.node.mu.Lock()
	delete(c.node.children, c)
	c.node.mu.Unlock()
	close(c.ended)
}

// Kill ends every process of the node at once, as a crash would, and returns
// when they are gone.
func (n *Node) Kill() {
	n.mu.Lock()
	var running []*Child
	for c := range n.children {
		running = append(running, c)
	}
	n.mu.Unlock()
	for _, c := range running {
		c.cmd.Process.Kill() //nolint:errcheck // it may have ended by itself
	}
	for _, c := range running {
		<-c.ended
	}
}

// PID is the process id.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Stderr is what the process wrote there last.
func (c *Child) Stderr() string { return c.stderr.String() }

// Ended is closed when the process is gone.
func (c *Child) Ended() <-chan struct{} { return c.ended }

// Kill ends the process as a crash would, and returns when it is gone.
func (c *Child) Kill() {
	c.cmd.Process.Kill() //nolint:errcheck // it may have ended by itself
	<-c.ended
}

// stop ends the input of the process, as a client that closes its session does.
func (c *Child) stop(limit time.Duration) error {
	c.stdin.Close() //nolint:errcheck // it may have ended by itself
	select {
	case <-c.ended:
		return nil
	case <-time.After(limit):
		c.Kill()
		return fmt.Errorf("the process did not end within %s; stderr: %s", limit, c.Stderr())
	}
}

// tail keeps what a process wrote last.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 16 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if len(t.text) > tailBytes {
		t.text = t.text[len(t.text)-tailBytes:]
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

// Serve starts the node's HTTP face on a free port and returns its address. It ends
// with its input, as the stdio clients' servers do: who drives may be killed.
func (n *Node) Serve(ctx context.Context) (address string, err error) {
	c, err := n.Start("serve", "--listen", "127.0.0.1:0", "--end-with-input")
	if err != nil {
		return "", err
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, rest, ok := strings.Cut(c.Stderr(), "serving MCP on "); ok {
			if url, _, ok := strings.Cut(rest, "/mcp"); ok {
				return url, nil
			}
		}
		select {
		case <-tick.C:
		case <-c.ended:
			return "", fmt.Errorf("the server ended: %s", c.Stderr())
		case <-ctx.Done():
			return "", fmt.Errorf("the server did not start: %w; stderr: %s", ctx.Err(), c.Stderr())
		}
	}
}
