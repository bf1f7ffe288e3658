//go:build unix

package run

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/work"
)

// geminiReads reads a stream of Gemini CLI to its end.
func geminiReads(stream string) (seen record, end Event) {
	s := &geminiStream{dir: "/tmp/w", payer: "p"}
	for line := range strings.Lines(stream) {
		events, err := s.read([]byte(line), time.Now())
		if err != nil {
			continue
		}
		for _, e := range events {
			if seen.note(e); e.Kind == Ended {
				end = e
			}
		}
	}
	return seen, end
}

// Gemini CLI says success of whatever its model said: what counts is one JSON object.
func TestGeminiIsNotTrusted(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "gemini-answered.jsonl"))
	require.NoError(t, err)
	answered := string(raw)
	said := func(words string) string {
		out := strings.Replace(answered, `{\"outcome\":\"done\",\"result\":\"x\"}`, words, 1)
		require.NotEqual(t, answered, out)
		return out
	}
	failed := func(message string) string {
		return `{"type":"result","status":"error","error":{"type":"unknown","message":` + text(message) + `}}`
	}
	for name, tt := range map[string]struct {
		stream string
		want   FaultKind // "" = it answers
	}{
		"an object":       {answered, ""},
		"prose":           {said("It is done."), NoAnswer},
		"two objects":     {said("{} {}"), NoAnswer},
		"nothing":         {said(""), NoAnswer},
		"a quota":         {failed("[API Error: You have exhausted your daily quota on this model.]"), Limit},
		"a rate limit":    {failed("[API Error: slow down]\nPlease wait and try again later."), Limit},
		"a wrong key":     {failed(`[API Error: {"error":{"code":401,"message":"API key not valid"}}]`), Unpaid},
		"something else":  {failed("Reached max session turns"), Crashed},
		"a safety filter": {`{"type":"error","severity":"error","message":"The model response was blocked due to safety settings."}` + "\n" + `{"type":"result","status":"error"}`, Refused},
	} {
		_, end := geminiReads(tt.stream)
		if tt.want == "" {
			require.Nil(t, end.Fault, name)
			require.JSONEq(t, `{"outcome":"done","result":"x"}`, string(end.Answer), name)
			require.Equal(t, work.Usage{Input: 66, Cached: 44, Output: 55, Cost: work.UnknownCost}, end.Usage,
				"thoughts are output, too")
			continue
		}
		require.NotNil(t, end.Fault, name)
		require.Equal(t, tt.want, end.Fault.Kind, name)
		require.Empty(t, end.Answer, name)
	}
}

// Each call is recorded as it ended: commands with their exit codes, which Gemini CLI tells
// its model alone unless it debugs, and unknown where it does not tell how they ended.
func TestGeminiCallsAreRecorded(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "gemini-answered.jsonl"))
	require.NoError(t, err)
	seen, _ := geminiReads(string(raw))
	type call struct {
		tool, input string
		exit        int
		head        string
	}
	var got []call
	for _, c := range seen.calls[:7] {
		got = append(got, call{c.Tool, c.Input, c.Exit, c.Head[:min(len(c.Head), 24)]})
	}
	require.Equal(t, []call{{"bash", "echo hi; exit 3", 3, "hi"}, {"bash", "true", 0, ""},
		{"bash", "sleep 100", -1, "Command moved to backgro"}, {"write", "b.txt", 0, ""}, {"edit", "b.txt", 0, ""},
		{"read", "b.txt", 0, ""}, {"read", "/etc/passwd", 1, "Path not in workspace: A"}}, got)
	for output, want := range map[string]int{"hi": -1, "Output: hi\nExit Code: 0x": 0, "Output: x\nSignal: KILL": -1,
		"Output: x\nExit Code: 7\nBackground PIDs: 1, 2\nProcess Group PGID: 3":                   7,
		"Output: x\nExit Code: 7\nmore\nProcess Group PGID: 3":                                    0,
		"Command was cancelled by user before it could complete. There was no output before that": -1} {
		exit, _ := geminiOutcome(toolBash, geminiLine{Status: "success", Output: output})
		require.Equal(t, want, exit, output)
	}
}

// A seat of Gemini CLI gets the login and the choice of a model, and no servers, hooks or
// memory of the user's; its tools are those of the order.
func TestGeminiSettlesInWithItsLoginAlone(t *testing.T) {
	own, home := t.TempDir(), t.TempDir()
	t.Setenv("GEMINI_CLI_HOME", own)
	t.Setenv("GEMINI_API_KEY", "")
	require.NoError(t, os.Mkdir(filepath.Join(own, ".gemini"), 0o700))
	for name, words := range map[string]string{"oauth_creds.json": "{}", "GEMINI.md": "obey", "settings.json": `{
		"security":{"auth":{"selectedType":"oauth-personal"}},"model":{"name":"m"},
		"mcpServers":{"other":{"command":"evil"}},"hooks":{"BeforeTool":[1]}}`} {
		require.NoError(t, os.WriteFile(filepath.Join(own, ".gemini", name), []byte(words), 0o600))
	}
	payer, err := Gemini{Self: "/self"}.makeHome(home, Order{Tools: []string{toolBash, toolRead}, Socket: "/s",
		Limits: Limits{Turns: 9}})
	require.NoError(t, err)
	require.Equal(t, "oauth-personal", payer)
	require.FileExists(t, filepath.Join(home, ".gemini", "oauth_creds.json"))
	require.NoFileExists(t, filepath.Join(home, ".gemini", "GEMINI.md"))
	raw, err := os.ReadFile(filepath.Join(home, ".gemini", "settings.json"))
	require.NoError(t, err)
	require.NotContains(t, string(raw), "evil")
	var got struct {
		Model object
		Tools object
		MCP   object `json:"mcpServers"`
	}
	require.NoError(t, json.Unmarshal(raw, &got))
	require.Equal(t, object{"name": "m", "maxSessionTurns": 9.0}, got.Model)
	require.Equal(t, []any{"run_shell_command", "read_file"}, got.Tools["core"])
	require.Contains(t, got.MCP, "cordelia")
	_, err = Gemini{Program: "/nonexistent", Self: "/nonexistent"}.Ask(t.Context(), Order{}, func(Event) {})
	f, ok := errors.AsType[*Fault](err)
	require.True(t, ok)
	require.Equal(t, NoStart, f.Kind)
}

// Any line is an event, nothing, or an error.
func FuzzGeminiStream(f *testing.F) {
	raw, err := os.ReadFile(filepath.Join("testdata", "gemini-answered.jsonl"))
	require.NoError(f, err)
	for line := range strings.Lines(string(raw)) {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		s := &geminiStream{dir: "/tmp/w", open: map[string]string{"": toolBash}}
		events, err := s.read(line, time.Now())
		if err != nil {
			require.Empty(t, events)
		}
		for _, e := range events {
			require.False(t, e.Kind == Ended && (e.Fault == nil) == (len(e.Answer) == 0),
				"an end is an answer or a fault: %+v", e)
		}
	})
}
