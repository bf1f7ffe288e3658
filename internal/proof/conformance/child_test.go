package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be the server, so that a real process is
// tested.
func TestMain(m *testing.M) {
	if os.Getenv("CONFORMANCE_CHILD") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// M15, M16: a child process writes nothing but messages on stdout and ends
// promptly with its stdin, however many calls are in flight.
func TestChildEndsWithItsInput(t *testing.T) {
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), "CONFORMANCE_CHILD=1")
	in, err := child.StdinPipe()
	require.NoError(t, err)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())

	const calls = 20
	for i := range calls {
		_, err = fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"test_tool_with_progress",`+
			`"_meta":{"progressToken":%d,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`+"\n", i, i)
		require.NoError(t, err)
	}
	begin := time.Now()
	require.NoError(t, in.Close())
	answered := map[int]bool{}
	progress := map[int]int{}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var m struct {
			ID     *int
			Params struct{ ProgressToken int }
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &m), lines.Text())
		if m.ID == nil {
			progress[m.Params.ProgressToken]++
			continue
		}
		require.Equal(t, 3, progress[*m.ID], "its notifications come first")
		answered[*m.ID] = true
	}
	require.NoError(t, lines.Err())
	require.NoError(t, child.Wait())
	require.Len(t, answered, calls)
	require.Less(t, time.Since(begin), 2*time.Second)
}
