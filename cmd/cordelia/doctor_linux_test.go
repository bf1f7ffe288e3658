package main

import (
	"bytes"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/doctor"
	"cordelia/cmd/cordelia/setup"
	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
)

// A process that was stopped while it wrote is named, and let go on by what the
// doctor says.
func TestDoctorNamesAStoppedWriter(t *testing.T) {
	const items = 200
	program := buildProgram(t)
	from := newUser(t, program, nil)
	from.must("setup")
	n, err := ops.Open(t.Context(), node.Config{Home: node.Home(from.path(".cordelia")), Durability: store.Relaxed})
	require.NoError(t, err)
	file, err := n.OpenIdentity(t.Context(), "")
	require.NoError(t, err)
	who, err := n.Caller(t.Context(), file, "test")
	require.NoError(t, err)
	for i := range items {
		_, err := ops.Find("memory_write_warm").Call(t.Context(), n, who,
			fmt.Appendf(nil, `{"type":"learning","data":{"type":"insight","content":"sheep %d jumped"}}`, i))
		require.NoError(t, err)
	}
	require.NoError(t, n.Close())
	from.must("export", "all.jsonl", "--as", "claude-code")

	u := newUser(t, program, nil)
	u.must("setup")
	lock := u.path(".cordelia/cordelia.db.lock")
	// Taking all over is one transaction: it is stopped within.
	writer := u.command("import", from.path("all.jsonl"))
	var said bytes.Buffer
	writer.Stdout, writer.Stderr = &said, &said
	require.NoError(t, writer.Start())
	pid := writer.Process.Pid
	t.Cleanup(func() { writer.Process.Kill() }) //nolint:errcheck // over, or ended here
	held := func() bool {
		free, err := setup.LockFree(lock)
		require.NoError(t, err)
		return !free
	}
	require.Eventually(t, func() bool {
		if !held() {
			return false
		}
		require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
		var now syscall.WaitStatus
		_, err := syscall.Wait4(pid, &now, syscall.WUNTRACED, nil) // until it stands still
		require.NoError(t, err)
		require.True(t, now.Stopped(), "it ended before it could be stopped: %s", &said)
		if held() {
			return true
		}
		require.NoError(t, syscall.Kill(pid, syscall.SIGCONT))
		return false
	}, 20*time.Second, time.Millisecond, &said)

	checks, code := u.diagnosis()
	require.Equal(t, cli.ExitFailed, code)
	f := checks["write lock"][0]
	require.Equal(t, doctor.Problem, f.Verdict)
	require.Contains(t, f.Detail, fmt.Sprintf("by process %d, which is stopped", pid))
	require.Contains(t, f.Detail, "import", "its command line")
	require.Contains(t, f.Fix, fmt.Sprintf("kill -CONT %d", pid))
	require.Contains(t, f.Fix, fmt.Sprintf("kill -KILL %d", pid))

	require.NoError(t, syscall.Kill(pid, syscall.SIGCONT))
	require.NoError(t, writer.Wait(), &said)
	require.Contains(t, said.String(), fmt.Sprintf("new                %d", items))
	checks, _ = u.diagnosis()
	require.Equal(t, doctor.Fine, checks["write lock"][0].Verdict)
}
