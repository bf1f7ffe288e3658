package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/work"

	"cordelia/run/git"
	"cordelia/run/git/gittest"
)

// report is R3's schema, as far as the tests need it.
const report = `{"type":"object","required":["outcome","evidence"],"properties":{"outcome":{"enum":["done","failed"]},` +
	`"result":{},"note":{"type":"string"},"evidence":{"type":"array"}}}`

// callOf is a tool call of a scripted model.
func callOf(id, name string, input map[string]any) toolCall {
	raw, err := json.Marshal(input)
	if err != nil {
		panic(err)
	}
	return toolCall{id, name, raw}
}

// worked has an API carry out an order in a worktree behind the shield of workers.
func worked(t *testing.T, a *API, w *git.Worktree, s Shield, tools []string) (Answer, *Fault, record) {
	t.Helper()
	var seen record
	answer, err := a.Ask(t.Context(), Order{System: executing, Prompt: "do it", Schema: json.RawMessage(report),
		Dir: w.Path, Tools: tools, Shield: s, Limits: Limits{First: time.Minute, Idle: time.Minute, Turns: 20}}, seen.note)
	f, _ := errors.AsType[*Fault](err)
	require.Equal(t, err == nil, f == nil, "%v", err)
	return answer, f, seen
}

// workplace is a worktree with the shield of its worker, and a file outside it.
func workplace(t *testing.T) (w *git.Worktree, s Shield, secret string) {
	t.Helper()
	if _, _, err := Shielded(); err != nil {
		t.Skip(err)
	}
	r := gittest.New(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	secret = filepath.Join(home, "secret.txt")
	require.NoError(t, os.WriteFile(secret, []byte("SECRET\n"), 0o600))
	place := filepath.Join(home, ".cache", "run")
	w, err := r.AddWorktree(t.Context(), filepath.Join(place, "tree"), r.Base)
	require.NoError(t, err)
	s, err = WorkerShield(t.Context(), r.Repository, place, w, t.TempDir(), Reach{})
	require.NoError(t, err)
	return w, s, secret
}

// A model that an API gives works with our own tools: each call runs in the sandbox and is
// recorded as it ended, and the model reads what it came to.
func TestAPIWorksInTheSandbox_INV_SHIELD(t *testing.T) {
	for _, kind := range apiKinds {
		t.Run(string(kind), func(t *testing.T) {
			w, shield, secret := workplace(t)
			server, a := serveAPI(t, kind,
				says{text: "I look.", calls: []toolCall{callOf("1", "read", map[string]any{"path": "a.txt"}),
					callOf("2", "write", map[string]any{"path": "new/b.txt", "content": "one\nONE\n"})}},
				says{calls: []toolCall{callOf("3", "edit", map[string]any{"path": "new/b.txt", "old": "ONE", "new": "two"}),
					callOf("4", "bash", map[string]any{"command": "cat new/b.txt; env | grep -c API_TEST; exit 3"})}},
				says{calls: []toolCall{callOf("5", "read", map[string]any{"path": secret}),
					callOf("6", "write", map[string]any{"path": secret, "content": "x"}),
					callOf("7", "bash", map[string]any{"command": "cat " + secret}),
					callOf("8", "grep", map[string]any{"pattern": "SECRET", "path": filepath.Dir(secret)}),
					callOf("9", "fly", map[string]any{"to": "the moon"})}},
				says{text: "Done, I think."},
				says{calls: []toolCall{callOf("10", answerTool, map[string]any{"outcome": "perhaps", "evidence": []any{}})}},
				says{calls: []toolCall{callOf("11", answerTool, map[string]any{"outcome": "done", "evidence": []any{},
					"result": map[string]any{"text": "two lines"}})}})
			answer, f, seen := worked(t, a, w, shield, Tools())
			require.Nil(t, f, "%v", f)
			require.JSONEq(t, `{"outcome":"done","evidence":[],"result":{"text":"two lines"}}`, string(answer.Structured))
			require.Equal(t, int64(66), answer.Usage.Output, "six replies")
			require.Equal(t, int64(30), answer.Usage.Cached)
			var got []string
			for _, c := range seen.calls {
				got = append(got, fmt.Sprintf("%s %s %d", c.Tool, c.Input, c.Exit))
			}
			require.Equal(t, []string{"read a.txt 0", "write new/b.txt 0", "edit new/b.txt 0",
				"bash cat new/b.txt; env | grep -c API_TEST; exit 3 3", "read " + secret + " 1",
				"write " + secret + " 1", "bash cat " + secret + " 1",
				"grep SECRET " + filepath.Dir(secret) + " 0", `fly {"to":"the moon"} 1`}, got)
			require.Equal(t, "one\ntwo\n0\n", seen.calls[3].Head, "what it did is there, and the key is not")
			server.mu.Lock()
			defer server.mu.Unlock()
			all := strings.Join(server.bodies, "\n")
			require.NotContains(t, all, "SECRET\\n", "nothing outside was read")
			require.NotContains(t, all, apiSecret)
			require.Contains(t, all, `one\ntwo\nthree`, "the model reads the file")
			require.Contains(t, all, "exit code 3")
			require.Contains(t, all, "there is no tool fly")
			require.Contains(t, all, "must be one of done, failed", "a report that does not fit is sent back")
			require.Contains(t, all, "end with StructuredOutput")
			require.NotContains(t, server.bodies[0], "json_schema", "servers suppress tool calls under a schema")
			if kind == Messages {
				require.Contains(t, server.bodies[1], `"signature":"sig"`, "thoughts go back as they came")
				require.Contains(t, server.bodies[1], `"cache_control":{"type":"ephemeral"}`)
			}
			raw, err := os.ReadFile(secret)
			require.NoError(t, err)
			require.Equal(t, "SECRET\n", string(raw))
		})
	}
}

// The prefix of a conversation never changes, so that it can be cached.
func TestPrefixesAreStable(t *testing.T) {
	for _, kind := range apiKinds {
		w, shield, _ := workplace(t)
		server, a := serveAPI(t, kind, says{calls: []toolCall{callOf("1", "bash", map[string]any{"command": "true"})}},
			says{calls: []toolCall{callOf("2", "bash", map[string]any{"command": "true"})}},
			says{calls: []toolCall{callOf("3", answerTool, map[string]any{"outcome": "done", "evidence": []any{}})}})
		_, f, _ := worked(t, a, w, shield, []string{toolBash})
		require.Nil(t, f, "%v", f)
		before := []json.RawMessage{}
		for _, body := range server.bodies {
			var all struct {
				Messages, Input []json.RawMessage
			}
			require.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(body,
				`,"cache_control":{"type":"ephemeral"}`, "")), &all))
			now := append(all.Messages, all.Input...)
			require.Greater(t, len(now), len(before))
			require.Equal(t, before, now[:len(before):len(before)], "%s: what was said stays as it was", kind)
			at := strings.Index(body, "do it")
			require.Equal(t, server.bodies[0][:at], body[:at], "%s: what comes before the brief", kind)
			before = now
		}
	}
}

// A model that never reports, or never ends, is a recorded failure; a run that is stopped
// ends what it started.
func TestAPIWorkersEnd(t *testing.T) {
	w, shield, _ := workplace(t)
	_, a := serveAPI(t, Chat, says{text: "All done!"})
	_, f, _ := worked(t, a, w, shield, Tools())
	require.Equal(t, NoAnswer, f.Kind)
	require.Contains(t, f.Msg, "All done!")
	server, a := serveAPI(t, Chat, says{calls: []toolCall{callOf("1", "bash", map[string]any{"command": "true"})}})
	_, f, seen := worked(t, a, w, shield, Tools())
	require.Equal(t, NoAnswer, f.Kind)
	require.Equal(t, []int{20, 20}, []int{server.asked(), len(seen.calls)})
	server, a = serveAPI(t, Chat, says{calls: []toolCall{callOf("1", "bash", map[string]any{"command": "true"}),
		callOf("2", answerTool, map[string]any{"outcome": "perhaps", "evidence": []any{}})}})
	_, f, _ = worked(t, a, w, shield, Tools())
	require.Equal(t, NoAnswer, f.Kind)
	require.Contains(t, f.Msg, "3 answers do not fit, the last does not fit the schema")
	require.Equal(t, 3, server.asked(), "a report is sent back as often as a judgement")
	_, a = serveAPI(t, Chat, says{calls: []toolCall{callOf("1", "bash",
		map[string]any{"command": "sleep 600 & sleep 600", "timeout_seconds": 1})}},
		says{calls: []toolCall{callOf("2", answerTool, map[string]any{"outcome": "failed", "evidence": []any{}})}})
	answer, f, seen := worked(t, a, w, shield, Tools())
	require.Nil(t, f)
	require.Equal(t, -1, seen.calls[0].Exit, "it was not done in time")
	require.Equal(t, work.Usage{Input: 14, Cached: 10, Output: 22, Cost: work.UnknownCost}, answer.Usage)
}

// The tools do what they say, and say what is wrong.
func TestTools(t *testing.T) {
	t.Chdir(t.TempDir())
	use := func(name, input string) (string, error) {
		var out strings.Builder
		err := useTool(name, strings.NewReader(input), &out)
		return out.String(), err
	}
	must := func(name, input string) string {
		t.Helper()
		out, err := use(name, input)
		require.NoError(t, err)
		return out
	}
	must("write", `{"path":"src/x/a.go","content":"package x\n\nfunc A() {}\nfunc A2() {}\n"}`)
	must("write", `{"path":"b.go","content":"package b\n"}`)
	must("write", `{"path":"src/.git/config","content":"func A"}`)
	must("write", `{"path":"bin","content":"\u0000func A"}`)
	require.Equal(t, "src/x/a.go\n", must("glob", `{"pattern":"src/**/*.go"}`))
	require.Equal(t, "b.go\nsrc/x/a.go\n", must("glob", `{"pattern":"**/?*.go"}`))
	require.Equal(t, "src/x/a.go\n", must("glob", `{"pattern":"*.go","path":"src/x"}`))
	require.Equal(t, "src/x/a.go:3:func A() {}\nsrc/x/a.go:4:func A2() {}\n", must("grep", `{"pattern":"^func A"}`))
	require.Equal(t, "nothing matches\n", must("grep", `{"pattern":"nowhere","path":"src"}`))
	require.Equal(t, "func A2() {}\n", must("read", `{"path":"src/x/a.go","offset":4}`))
	must("edit", `{"path":"src/x/a.go","old":"A2","new":"B"}`)
	require.Contains(t, must("edit", `{"path":"src/x/a.go","old":"func","new":"// func","all":true}`), "replaced 2")
	require.Equal(t, "package x\n\n// func A() {}\n// func B() {}\n", must("read", `{"path":"src/x/a.go"}`))
	must("write", fmt.Sprintf(`{"path":"long","content":%q}`, strings.Repeat("0123456789\n", 4000)))
	part := must("read", `{"path":"long"}`)
	require.LessOrEqual(t, len(part), maxRead+100)
	require.Contains(t, part, "read on with offset 2235")
	for input, want := range map[string]string{`read {"path":"none"}`: "no such file", `read {"path":"bin"}`: "no text",
		`read {"path":"src"}`: "is no file", `read {}`: "path is missing", `read {"path":"b.go","offset":9}`: "has 1 lines",
		`edit {"path":"b.go","old":"x","new":"y"}`: "is not in", `edit {"path":"b.go","old":"","new":"y"}`: "is not in",
		`edit {"path":"src/x/a.go","old":"func","new":"y"}`: "2 times", `grep {"pattern":"("}`: "no regular expression",
		`glob {}`: "pattern is none", `write {}`: "path is missing", `read {"path":`: "cannot be read",
		`fly {}`: "there is no tool"} {
		name, rest, _ := strings.Cut(input, " ")
		_, err := use(name, rest)
		require.ErrorContains(t, err, want, input)
	}
}
