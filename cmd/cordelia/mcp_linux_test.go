package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A server whose input and output are one socket, as under socat and systemd, waits for a slow reader.
func TestOneSocketCarriesASession(t *testing.T) {
	t.Parallel()
	s := newStage(t, "ann")
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	const lessThanAnAnswer = 8 << 10
	require.NoError(t, unix.SetsockoptInt(ends[1], unix.SOL_SOCKET, unix.SO_SNDBUF, lessThanAnAnswer))
	ours, theirs := os.NewFile(uintptr(ends[0]), "ours"), os.NewFile(uintptr(ends[1]), "theirs")
	defer ours.Close() //nolint:errcheck // the test is over
	cmd := s.command("exec cordelia mcp")
	var complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, &complaint
	require.NoError(t, cmd.Start())
	require.NoError(t, theirs.Close())
	const lists = 20
	var asked strings.Builder
	asked.WriteString(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":` +
		`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	for i := range lists {
		fmt.Fprintf(&asked, `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`+"\n", i+1)
	}
	_, err = ours.WriteString(asked.String())
	require.NoError(t, err)
	require.NoError(t, syscall.Shutdown(ends[0], syscall.SHUT_WR))
	require.Eventually(t, func() bool { // until the first of them fills it
		held, err := unix.IoctlGetInt(ends[0], unix.SIOCINQ)
		return err == nil && held > 4<<10
	}, time.Minute, 10*time.Millisecond)
	answers, err := io.ReadAll(ours)
	require.NoError(t, err)
	require.NoError(t, cmd.Wait(), complaint.String())
	require.Equal(t, lists+1, bytes.Count(answers, []byte(`"jsonrpc"`)))
}
