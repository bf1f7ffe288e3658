//go:build unix

package run

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/work"
)

// asked asks a program that replays a stream, with limits short enough for a test.
func asked(t *testing.T, how string) (Answer, *Fault, []Event) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	folder := t.TempDir()
	if way, file, _ := strings.Cut(how, ":"); file != "" { // recorded in /tmp/w
		raw, err := os.ReadFile(filepath.Join("testdata", file))
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), file)
		require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(raw), "/tmp/w", folder)), 0o600))
		how = way + ":" + path
	}
	t.Setenv(replayer, how)
	patience := time.Minute
	if strings.HasPrefix(how, "silent:") || strings.HasPrefix(how, "stalled:") {
		patience = 3 * time.Second // it is not done before that
	}
	var events []Event
	answer, err := ClaudeCode{Program: self, Self: self}.Ask(t.Context(),
		Order{Prompt: "judge", Schema: json.RawMessage(`{"type":"object"}`), Dir: folder,
			Limits: Limits{First: patience, Idle: patience,
				Total: 2 * time.Minute}}, func(e Event) { events = append(events, e) })
	f, _ := errors.AsType[*Fault](err)
	require.Equal(t, err == nil, f == nil, "%v", err)
	return answer, f, events
}

// Whatever a client's process says with its exit code, it answers with a structured
// answer or not at all.
func TestAnswersAreNotTrusted(t *testing.T) {
	for name, tt := range map[string]struct {
		how  string
		want FaultKind // "" = it answers
	}{
		"it answers":                            {"exit0:answered.jsonl", ""},
		"it answers and exits 7":                {"exit7:answered.jsonl", ""},
		"prose, exit 0":                         {"exit0:prose.jsonl", NoAnswer},
		"an error":                              {"exit0:error.jsonl", Crashed},
		"an error beside an answer":             {"exit0:not-an-error-with-answer.jsonl", Crashed},
		"a refusal":                             {"exit0:not-refused.jsonl", Refused},
		"a limit":                               {"exit0:not-limited.jsonl", Limit},
		"its stream breaks off":                 {"truncated:answered.jsonl", Garbled},
		"garbage":                               {"garbage:", Garbled},
		"nothing, exit 0":                       {"exit0:", Garbled},
		"nothing, exit 7":                       {"exit7:", Crashed},
		"nothing ever comes":                    {"silent:", Hung},
		"it stalls":                             {"stalled:answered.jsonl", Hung},
		"a child keeps its stream open":         {"orphan:answered.jsonl", ""},
		"a child keeps its stream open, prose":  {"orphan:prose.jsonl", NoAnswer},
		"a line beyond all bounds comes before": {"long:answered.jsonl", ""},
	} {
		t.Run(name, func(t *testing.T) {
			answer, f, _ := asked(t, tt.how)
			if tt.want == "" {
				require.Nil(t, f, "%v", f)
				require.JSONEq(t, `{"outcome":"done","result":"x"}`, string(answer.Structured))
				return
			}
			require.NotNil(t, f)
			require.Equal(t, tt.want, f.Kind, f.Msg)
			require.Empty(t, answer.Structured, "a fault has no answer")
		})
	}
}

// A program that is not there is a fault, too.
func TestProgramMayBeMissing(t *testing.T) {
	_, err := ClaudeCode{Program: "/nonexistent/claude"}.Ask(t.Context(), Order{Schema: json.RawMessage(`{}`)},
		func(Event) {})
	f, ok := errors.AsType[*Fault](err)
	require.True(t, ok)
	require.Equal(t, NoStart, f.Kind)
}

// A limit says when it ends.
func TestLimitSaysWhenItEnds(t *testing.T) {
	_, f, _ := asked(t, "exit0:not-limited.jsonl")
	require.Equal(t, Limit, f.Kind)
	require.Equal(t, int64(4102444800), f.Until.Unix())
}

// Of two results the first counts.
func TestFirstAnswerCounts(t *testing.T) {
	answer, f, _ := asked(t, "exit0:not-one-answer.jsonl")
	require.Nil(t, f)
	require.JSONEq(t, `{"outcome":"failed"}`, string(answer.Structured))
	require.Equal(t, int64(5), answer.Usage.Input)
}

// What was used, who answered and who pays is told.
func TestUsageIsTold(t *testing.T) {
	answer, f, _ := asked(t, "exit0:answered.jsonl")
	require.Nil(t, f)
	require.Equal(t, work.Usage{Input: 6, Cached: 3, Written: 2, Output: 7, Cost: 144}, answer.Usage)
	require.Equal(t, "claude-opus-5-5", answer.Model)
	require.Equal(t, "ANTHROPIC_API_KEY", answer.Payer)
	_, f, _ = asked(t, "exit0:not-refused.jsonl")
	require.NotNil(t, f)
}

// Each tool call is recorded as it ended: with its exit code, and unknown where the
// result comes before the end. The tool by which the model answers is none of them.
func TestCallsAreRecorded(t *testing.T) {
	var seen record
	_, f, events := asked(t, "exit0:answered.jsonl")
	require.Nil(t, f)
	for _, e := range events {
		seen.note(e)
	}
	type call struct {
		tool, input string
		exit        int
		head        string
	}
	var got []call
	for _, c := range seen.calls {
		got = append(got, call{c.Tool, c.Input, c.Exit, c.Head})
		require.LessOrEqual(t, c.Started, c.Ended)
	}
	require.Equal(t, []call{
		{"bash", "echo hi; exit 3", 3, "hi"},
		{"write", "b.txt", 0, "File created successfully at: b.txt"},
		{"bash", "sleep 100", -1, "Command running in background with ID: b1"},
		{"memory_search", `{"query":"x"}`, 0, "no items"},
	}, got)
	var cut record
	for _, e := range events[:2] { // it broke off after the first call
		cut.note(e)
	}
	require.Equal(t, -1, cut.calls[0].Exit, "a call without a result did not work")
}

// Nothing a client started outlives the order, nor what left its process group.
func TestChildrenEndWithTheirClient(t *testing.T) {
	for _, way := range []string{"orphan", "daemon"} {
		if way == "daemon" && runtime.GOOS != "linux" {
			continue // nobody adopts it there
		}
		pids := filepath.Join(t.TempDir(), "pid")
		t.Setenv("CLAUDE_PIDS", pids)
		_, f, _ := asked(t, way+":answered.jsonl")
		require.Nil(t, f)
		require.False(t, alive(t, pids), "it ended before the answer was given: "+way)
	}
}

// alive reports whether the process whose number is in a file runs.
func alive(t *testing.T, file string) bool {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	pid, err := strconv.Atoi(string(raw))
	require.NoError(t, err)
	return syscall.Kill(pid, 0) == nil
}

// Nothing is left of a client whose runner was killed.
func TestClientsEndWithAKilledRunner(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("nobody adopts daemons here")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	pids := filepath.Join(t.TempDir(), "pid")
	runner := exec.Command(self)
	runner.Env = append(os.Environ(), replayer+"=runner:", "CLAUDE_PIDS="+pids)
	require.NoError(t, runner.Start())
	require.Eventually(t, func() bool { raw, err := os.ReadFile(pids); return err == nil && len(raw) > 0 }, time.Minute,
		10*time.Millisecond)
	require.True(t, alive(t, pids))
	require.NoError(t, runner.Process.Kill())
	runner.Wait() //nolint:errcheck // killed
	require.Eventually(t, func() bool { return !alive(t, pids) }, time.Minute, 10*time.Millisecond)
}

// A stopped run ends its client at once.
func TestStopEndsTheClient(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	t.Setenv(replayer, "silent:")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { cancel(errors.New("enough")) })
	_, err = ClaudeCode{Program: self, Self: self}.Ask(ctx, Order{Schema: json.RawMessage(`{}`)}, func(Event) {})
	f, ok := errors.AsType[*Fault](err)
	require.True(t, ok)
	require.Equal(t, Stopped, f.Kind)
	require.Contains(t, f.Msg, "enough")
}

// The environment is built from a list: no secret of the user's shell is in it.
func TestEnvironmentIsAList(t *testing.T) {
	for name, value := range map[string]string{"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "x",
		"CLAUDE_CODE_USE_BEDROCK": "1", "GITHUB_TOKEN": "s",
		"CORDELIA_HOME": "/h", "ANTHROPIC_API_KEY": "k", "SSH_AUTH_SOCK": "/s", "OPENAI_API_KEY": "o"} {
		t.Setenv(name, value)
	}
	var got []string
	for _, one := range (command{environment: claudeEnvironment}).environ() {
		name, _, _ := strings.Cut(one, "=")
		got = append(got, name)
	}
	for _, name := range []string{"PATH", "CLAUDE_CODE_USE_BEDROCK", "ANTHROPIC_API_KEY"} {
		require.Contains(t, got, name)
	}
	for _, name := range []string{"CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "GITHUB_TOKEN", "CORDELIA_HOME",
		"SSH_AUTH_SOCK", "OPENAI_API_KEY"} {
		require.False(t, slices.Contains(got, name), name)
	}
}

// Any line is an event, nothing, or an error.
func FuzzClaudeStream(f *testing.F) {
	files, err := filepath.Glob("testdata/*.jsonl")
	require.NoError(f, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(f, err)
		for line := range strings.Lines(string(raw)) {
			f.Add([]byte(line))
		}
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		events, err := (&claudeStream{dir: "/tmp/w"}).read(line, time.Now())
		if err != nil {
			require.Empty(t, events)
		}
		for _, e := range events {
			require.False(t, e.Kind == Ended && (e.Fault == nil) == (len(e.Answer) == 0),
				"an end is an answer or a fault: %+v", e)
		}
	})
}
