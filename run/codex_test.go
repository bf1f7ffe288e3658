//go:build unix

package run

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/work"
)

// codexReads reads a stream of codex exec to its end.
func codexReads(t *testing.T, text string) (seen record, end Event) {
	t.Helper()
	s := &codexStream{payer: "p"}
	for line := range strings.Lines(text) {
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

// Codex ends with exit code 0 whatever its model said: what counts is one JSON object.
func TestCodexIsNotTrusted(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "codex-answered.jsonl"))
	require.NoError(t, err)
	answered := string(raw)
	said := func(text string) string {
		return strings.Replace(answered, `{\"outcome\":\"done\",\"result\":\"x\"}`, text, 1)
	}
	for name, tt := range map[string]struct {
		stream string
		want   FaultKind // "" = it answers
	}{
		"an object":            {answered, ""},
		"an object in a fence": {said("```json\\n{\\\"outcome\\\":\\\"done\\\",\\\"result\\\":\\\"x\\\"}\\n```"), ""},
		"not json":             {said("not json"), NoAnswer},
		"prose around it":      {said("Here: {}"), NoAnswer},
		"a list":               {said("[]"), NoAnswer},
		"null":                 {said("null"), NoAnswer},
		"two objects":          {said("{} {}"), NoAnswer},
		"its turn failed":      {`{"type":"turn.failed","error":{"message":"stream disconnected"}}`, Crashed},
		"a usage limit":        {`{"type":"turn.failed","error":{"message":"You've hit your usage limit."}}`, Limit},
	} {
		_, end := codexReads(t, tt.stream)
		if tt.want == "" {
			require.Nil(t, end.Fault, name)
			require.JSONEq(t, `{"outcome":"done","result":"x"}`, string(end.Answer), name)
			require.Equal(t, work.Usage{Input: 6, Cached: 3, Output: 7, Cost: work.UnknownCost}, end.Usage)
			continue
		}
		require.NotNil(t, end.Fault, name)
		require.Equal(t, tt.want, end.Fault.Kind, name)
		require.Empty(t, end.Answer, name)
	}
}

// Its commands are recorded as the model gave them, with their exit codes, each once.
func TestCodexCallsAreRecorded(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "codex-answered.jsonl"))
	require.NoError(t, err)
	seen, _ := codexReads(t, string(raw))
	require.Len(t, seen.calls, 2)
	require.Equal(t, []any{"bash", "echo hi; exit 3", 3, "hi\n"},
		[]any{seen.calls[0].Tool, seen.calls[0].Input, seen.calls[0].Exit, seen.calls[0].Head})
	require.Equal(t, []any{"edit", "/tmp/w/b.txt", 0}, []any{seen.calls[1].Tool, seen.calls[1].Input,
		seen.calls[1].Exit})
}

// A worker's Codex gets the login and the choice of a model, and no servers or hooks.
func TestCodexSettlesInWithItsLoginAlone(t *testing.T) {
	own, home := t.TempDir(), filepath.Join(t.TempDir(), "codex")
	t.Setenv("CODEX_HOME", own)
	t.Setenv("OPENAI_API_KEY", "")
	require.NoError(t, os.WriteFile(filepath.Join(own, "auth.json"), []byte(`{}`), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(own, "config.toml"),
		[]byte("model = \"m\" # the large one\nmodel_provider = \"l\"\n"+
			"model_providers.p.base_url = \"http://127.0.0.1:3/\"\n"+
			"notify = [\"x\"]\n[mcp_servers.a]\ncommand = \"evil\"\n"+
			"[model_providers.other]\nbase_url = \"http://127.0.0.1:1/v1\"\nexperimental_bearer_token = \"secret\"\n"+
			"[model_providers.'l']\nbase_url = \"http://127.0.0.1:8123/v1\"\n[model_providers.l.query_params]\na = \"b\"\n"+
			"[hooks]\nx = 1\n"), 0o600))
	payer, settings, err := Codex{}.makeHome(home)
	require.NoError(t, err)
	require.Equal(t, "the login of codex", payer)
	raw, err := os.ReadFile(filepath.Join(home, "config.toml"))
	require.NoError(t, err)
	require.Equal(t, "model = \"m\" # the large one\nmodel_provider = \"l\"\n"+
		"[model_providers.'l']\nbase_url = \"http://127.0.0.1:8123/v1\"\n[model_providers.l.query_params]\na = \"b\"\n",
		string(raw), "and nothing of other providers")
	require.Equal(t, string(raw), settings)
	require.Equal(t, []uint16{8123}, configuredPorts(settings), "a worker connects to no other provider")
	require.Equal(t, "m", configuredModel(settings))
	_, err = Codex{Program: "/nonexistent", Self: "/nonexistent"}.Ask(t.Context(), Order{}, func(Event) {})
	f, ok := errors.AsType[*Fault](err)
	require.True(t, ok)
	require.Equal(t, NoStart, f.Kind)
}
