package scenario

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
)

// servedFrom lists the processes whose environment names a folder.
func servedFrom(t testing.TB, folder string) (list []string) {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	for _, path := range paths {
		if raw, err := os.ReadFile(path); err == nil && bytes.Contains(raw, []byte("CORDELIA_HOME="+folder)) {
			list = append(list, path)
		}
	}
	return list
}

// awaitServed waits until so many processes are served from a folder: one starts, and is
// gone, some time after what leads to it.
func awaitServed(t testing.TB, folder string, n int, why string) {
	t.Helper()
	require.Eventually(t, func() bool { return len(servedFrom(t, folder)) == n }, 2*time.Minute, 50*time.Millisecond,
		why)
}

// watched is a demo that somebody reads along.
type watched struct {
	*exec.Cmd
	out       io.ReadCloser
	lines     *bufio.Scanner
	complaint bytes.Buffer
}

// watchUntil starts a demo and reads until it begins a step.
func watchUntil(t *testing.T, n *Node, step int) *watched {
	t.Helper()
	d := &watched{Cmd: exec.CommandContext(t.Context(), binary, "demo", "--durability", "relaxed")}
	d.Env = append(append(os.Environ(), "CORDELIA_HOME="+n.Home), n.Env...)
	d.Stderr = &d.complaint
	var err error
	d.out, err = d.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, d.Start())
	d.lines = bufio.NewScanner(d.out)
	at := fmt.Sprintf("%d  ", step)
	for d.lines.Scan() && !strings.HasPrefix(d.lines.Text(), at) {
	}
	if !strings.HasPrefix(d.lines.Text(), at) {
		err := d.Wait() // what it complains of is whole then
		require.Fail(t, "the demo ended early", "before step %d: %v: %s", step, err, d.complaint.String())
	}
	return d
}

// Whoever kills the demo leaves its folder, but no process: each ends with its input.
func TestDemoIsKilled(t *testing.T) {
	t.Parallel()
	n, scratch := newAudience(t)
	d := watchUntil(t, n, 2)
	awaitServed(t, scratch, 4, "three sessions and the server of the fourth")
	require.NoError(t, d.Process.Kill())
	require.Error(t, d.Wait())
	awaitServed(t, scratch, 0, "each ends with its input")
}

// A demo can be kept, whatever the folder is called; it and a session of the user's
// take no notice of each other.
func TestDemoIsKept(t *testing.T) {
	t.Parallel()
	n, scratch := newAudience(t)
	const odd = "it's 100%41 of #1"
	require.NoError(t, os.Mkdir(filepath.Join(scratch, odd), 0o700))
	n.Folder = scratch
	n.Env = append(n.Env, "TMPDIR="+odd)
	session, err := n.Open(t.Context(), "")
	require.NoError(t, err)
	out, errOut, code, err := n.Run(t.Context(), "demo", "--keep", "--durability", "relaxed")
	require.NoError(t, err)
	require.Zero(t, code, errOut)
	_, err = session.List(t.Context())
	require.NoError(t, err)
	_, errOut, code, err = n.Run(t.Context(), "swarm", "status", "swarm-harbour")
	require.NoError(t, err)
	require.Equal(t, 4, code, "not in the user's home: %s", errOut)
	_, rest, _ := strings.Cut(out, "It is kept: ")
	line, _, _ := strings.Cut(rest, "\n")
	look := exec.CommandContext(t.Context(), "sh", "-c", line)
	look.Env = append(append(os.Environ(), "CORDELIA_HOME="+n.Home), n.Env...)
	look.Dir = t.TempDir()
	shown, err := look.CombinedOutput()
	require.NoError(t, err, "%s: %s", line, shown)
	require.Contains(t, string(shown), "Chart the harbour")
}

// Whoever interrupts the demo, closes its terminal or what it prints to, at any step,
// leaves no process and no file.
func TestDemoIsInterrupted(t *testing.T) {
	t.Parallel()
	ends := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, 0} // 0 = nobody reads on
	rounds, running := soak.Count(t, 4, 40), 0
	for i := range rounds {
		n, scratch := newAudience(t)
		at := 1 + i%9
		d := watchUntil(t, n, at)
		running += len(servedFrom(t, scratch))
		if end := ends[i%len(ends)]; end != 0 {
			require.NoError(t, d.Process.Signal(end))
			for d.lines.Scan() {
			}
		} else {
			require.NoError(t, d.out.Close())
		}
		require.Error(t, d.Wait())
		require.Equal(t, 1, d.ProcessState.ExitCode(), "%v at %d: %s", ends[i%len(ends)], at, d.complaint.String())
		require.Contains(t, d.complaint.String(), "the demo was interrupted")
		awaitServed(t, scratch, 0, "no process is left")
		empty(t, scratch)
	}
	require.Positive(t, running, "there were processes to be ended")
	t.Logf("%d demos ended early while %d processes ran, 0 processes and 0 files left", rounds, running)
}
