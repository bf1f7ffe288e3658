//go:build unix

package mcp

import (
	"context"
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// What a client starts reads a pipe that blocks. It is read by the poller, so that
// even a read under way ends with the context, and is left as it was.
func TestStdioPollsItsPipe(t *testing.T) {
	leakFree(t)
	f := newFixture(t)
	var ends [2]int
	require.NoError(t, syscall.Pipe(ends[:]))
	in, feed := os.NewFile(uintptr(ends[0]), "in"), os.NewFile(uintptr(ends[1]), "feed")
	defer in.Close()
	defer feed.Close()
	blocks := func() bool {
		flags, err := unix.FcntlInt(uintptr(ends[0]), unix.F_GETFL, 0)
		require.NoError(t, err)
		return flags&unix.O_NONBLOCK == 0
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- ServeStdio(ctx, f.router, in, io.Discard, StdioOptions{}) }()
	_, err := feed.Write(append(encode(t, callTool(1, "block", "", true)), '\n'))
	require.NoError(t, err)
	f.began(t)
	require.False(t, blocks())
	cancel()
	require.ErrorIs(t, take(t, done), context.Canceled)
	require.True(t, blocks())
}
