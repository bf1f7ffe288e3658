package e2e

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/drive"
)

// The measured session over plain stdio, as a guard beside the run with the real client:
// every tool is called, every call is computed from texts alone, and a model receives at
// most 6 kB.
func TestMeasuredSessionFitsItsBudget(t *testing.T) {
	folder := t.TempDir()
	n := &drive.Node{Binary: filepath.Join(folder, "cordelia"), Home: filepath.Join(folder, "home"),
		Flags: []string{"--durability", "relaxed"}}
	require.NoError(t, drive.Build(n.Binary))
	require.NoError(t, Prepare(t.Context(), n))
	c, err := n.Open(t.Context(), "")
	require.NoError(t, err)
	defer c.Close() //nolint:errcheck // the test is over
	tools, err := c.List(t.Context())
	require.NoError(t, err)
	called := map[string]bool{}
	var results []Result
	for _, step := range Session("") {
		next, err := step(results)
		require.NoError(t, err)
		if next.Tool == "" {
			break
		}
		raw, err := json.Marshal(next.Input)
		require.NoError(t, err)
		a, err := c.Call(t.Context(), next.Tool, raw)
		require.NoError(t, err)
		t.Logf("%s %s: %d bytes\n%s", next.Tool, raw, len(a.Text), a.Text)
		require.Empty(t, a.Code, a.Text)
		called[next.Tool] = true
		results = append(results, Result{Call: next, Text: a.Text})
	}
	for _, tool := range tools {
		require.True(t, called[tool.Name], tool.Name)
	}
	require.GreaterOrEqual(t, len(results), 28)
	all := ""
	for _, r := range results {
		all += r.Text + "\n"
	}
	require.Contains(t, all, MeasuredText)
	require.Contains(t, resultOf(results, "memory_search"), "10 found")
	require.Contains(t, resultOf(results, "events_poll"), "20 of 20 unread events")
	t.Logf("a model receives %d bytes in %d calls", Received(results), len(results))
	require.LessOrEqual(t, Received(results), MaxReceived)
}

// resultOf is the text of the first result of a tool.
func resultOf(results []Result, tool string) string {
	for _, r := range results {
		if r.Tool == tool {
			return r.Text
		}
	}
	return ""
}
