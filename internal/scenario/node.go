package scenario

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Build compiles the command into folder, with the movable clock, and returns
// the path of the binary.
func Build(folder string) (string, error) {
	binary := filepath.Join(folder, "cordelia")
	out, err := exec.Command("go", "build", "-tags", "testclock", "-o", binary, "cordelia/cmd/cordelia").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return binary, nil
}

// Node is a home folder and the processes that serve it.
type Node struct {
	Binary string
	Home   string
	Env    []string // added to every process's environment
	Folder string   // where its processes start; "" = where the test runs

	mu    sync.Mutex
	procs map[*process]bool
	moved time.Duration
}

// NewNode makes a node with an empty home in folder. Kill it at the end.
func NewNode(binary, folder string) *Node {
	n := &Node{Binary: binary, Home: filepath.Join(folder, "home"), procs: map[*process]bool{}}
	n.Env = []string{"CORDELIA_HOME=" + n.Home, "CORDELIA_TEST_CLOCK=" + filepath.Join(folder, "clock"), "USER=tester", "HOME=" + folder}
	return n
}

// Database is the path of the node's database file.
func (n *Node) Database() string { return filepath.Join(n.Home, "cordelia.db") }

// MoveClock moves the clocks of all its processes, running ones too.
func (n *Node) MoveClock(by time.Duration) error {
	n.moved += by
	path := strings.TrimPrefix(n.Env[1], "CORDELIA_TEST_CLOCK=")
	// Renamed into place: a process never reads half of it.
	if err := os.WriteFile(path+".new", []byte(n.moved.String()), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Run runs a command to its end and returns what it printed and its exit code.
func (n *Node) Run(ctx context.Context, args ...string) (stdout, stderr string, code int, err error) {
	cmd := exec.CommandContext(ctx, n.Binary, args...)
	cmd.Env, cmd.Dir = append(os.Environ(), n.Env...), n.Folder
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return out.String(), errOut.String(), exit.ExitCode(), nil
	}
	return out.String(), errOut.String(), 0, err
}

// process is one running command of a node.
type process struct {
	node   *Node
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr tail
	ended  chan struct{} // closed when it has been waited for
}

func (n *Node) start(args ...string) (*process, error) {
	p := &process{node: n, cmd: exec.Command(n.Binary, args...), ended: make(chan struct{})}
	p.cmd.Env, p.cmd.Dir = append(os.Environ(), n.Env...), n.Folder
	p.cmd.Stderr = &p.stderr
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.stdout, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %v: %w", args, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.procs[p] = true
	return p, nil
}

// reap waits for the process once its output has been read to the end.
func (p *process) reap() {
	p.cmd.Wait() //nolint:errcheck // how it ended is the caller's story
	p.node.mu.Lock()
	delete(p.node.procs, p)
	p.node.mu.Unlock()
	close(p.ended)
}

// Kill ends every process of the node at once, as a crash would, and returns
// when they are gone.
func (n *Node) Kill() {
	n.mu.Lock()
	var running []*process
	for p := range n.procs {
		running = append(running, p)
	}
	n.mu.Unlock()
	for _, p := range running {
		p.kill()
	}
}

func (p *process) kill() {
	p.cmd.Process.Kill() //nolint:errcheck // it may have ended by itself
	<-p.ended
}

// stop asks the process to end, as a client that closes its session does.
func (p *process) stop(limit time.Duration) error {
	p.stdin.Close()                         //nolint:errcheck // it may have ended by itself
	if p.cmd.Process != nil && p.isHTTP() { // a server has no input to end
		p.cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // as above
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(limit):
		p.kill()
		return fmt.Errorf("the process did not end within %s; stderr: %s", limit, p.stderr.String())
	}
}

func (p *process) isHTTP() bool { return len(p.cmd.Args) > 1 && p.cmd.Args[1] == "serve" }

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

// Serve starts the node's HTTP face on a free port and returns its address.
func (n *Node) Serve(ctx context.Context) (address string, err error) {
	p, err := n.start("serve", "--listen", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() {
		io.Copy(io.Discard, bufio.NewReader(p.stdout)) //nolint:errcheck // it prints nothing there
		p.reap()
	}()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, rest, ok := strings.Cut(p.stderr.String(), "serving MCP on "); ok {
			if url, _, ok := strings.Cut(rest, "/mcp"); ok {
				return url, nil
			}
		}
		select {
		case <-tick.C:
		case <-p.ended:
			return "", fmt.Errorf("the server ended: %s", p.stderr.String())
		case <-ctx.Done():
			return "", fmt.Errorf("the server did not start: %s", p.stderr.String())
		}
	}
}
