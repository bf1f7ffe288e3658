package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const houseKey = "sk-house-5ec12e7f00d5"

// house is a scripted model behind chat completions, which answers by the role that asks.
type house struct {
	*httptest.Server
	play    replay
	refuses string // a role that the model refuses

	mu     sync.Mutex
	asked  map[string]int // by role
	leaked []string       // what the model read that holds the key
}

// chatAsked is the part of a request that matters here.
type chatAsked struct {
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
	Format json.RawMessage `json:"response_format"`
}

func newHouse(t *testing.T, play replay) *house {
	h := &house{play: play, asked: map[string]int{}}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

// times is how often a role asked.
func (h *house) times(role string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked[role]
}

func (h *house) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+houseKey {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"message":"wrong key: %s"}}`, r.Header.Get("Authorization"))
		return
	}
	var asked chatAsked
	if json.NewDecoder(r.Body).Decode(&asked) != nil || len(asked.Messages) < 2 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	prompt, done := asked.Messages[1].Content, 0
	h.mu.Lock()
	role := ""
	for mark, name := range map[string]string{"Perceiver (R1)": "R1", "Planner (R2)": "R2", "Executor (R3)": "R3",
		"Validator (R4a)": "R4a", "Meta-validator (R4b)": "R4b"} {
		if strings.Contains(prompt, mark) {
			role = name
		}
	}
	h.asked[role]++
	for _, m := range asked.Messages {
		if m.Role == "tool" {
			done++
		}
		if strings.Contains(m.Content, houseKey) {
			h.leaked = append(h.leaked, m.Content)
		}
	}
	h.mu.Unlock()
	answer, tool := h.answer(role, prompt, done)
	raw, err := json.Marshal(answer)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	delta := map[string]any{"content": string(raw)}
	switch {
	case role == h.refuses:
		delta = map[string]any{"refusal": "I will not."}
	case tool != "":
		delta = map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": fmt.Sprint("c", done),
			"function": map[string]any{"name": tool, "arguments": string(raw)}}}}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, chunk := range []any{
		map[string]any{"model": "house-1", "choices": []any{map[string]any{"delta": delta}}},
		map[string]any{"choices": []any{map[string]any{"delta": map[string]any{}, "finish_reason": "stop"}},
			"usage": map[string]any{"prompt_tokens": 1000, "completion_tokens": 100,
				"prompt_tokens_details": map[string]any{"cached_tokens": 400}}},
	} {
		raw, err := json.Marshal(chunk)
		if err != nil {
			return
		}
		fmt.Fprintf(w, "data: %s\n\n", raw)
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// answer is what the model says: a call of a tool, or its answer.
func (h *house) answer(role, prompt string, done int) (answer any, tool string) {
	switch role {
	case "R1":
		return map[string]any{"intent": wish}, ""
	case "R2":
		return h.play.Plan, ""
	case "R3":
		for about, steps := range h.play.Work {
			if strings.Contains(prompt, about) && done < len(steps) {
				return map[string]any{"command": steps[done]}, "bash"
			}
		}
		return map[string]any{"outcome": "done", "result": "it is", "evidence": []any{}}, "StructuredOutput"
	}
	var brief struct {
		Inputs struct {
			Criteria []struct {
				Criterion string `json:"criterion"`
			} `json:"criteria"`
		} `json:"inputs"`
	}
	_, text, _ := strings.Cut(prompt, "brief: ")
	if json.NewDecoder(strings.NewReader(text)).Decode(&brief) != nil {
		return "the brief cannot be read", ""
	}
	verdicts := []any{}
	for _, c := range brief.Inputs.Criteria {
		verdicts = append(verdicts, map[string]any{"criterion": c.Criterion, "verdict": "pass",
			"evidence": "the calls show it"})
	}
	if role == "R4a" {
		return map[string]any{"verdicts": verdicts}, ""
	}
	return map[string]any{"output": "merged", "verdicts": verdicts}, ""
}

// settle writes settings that name the house, and its key.
func (h *house) settle(t *testing.T, s *theater, key string) {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"seats": map[string]any{"apis": []any{map[string]any{"name": "house",
		"kind": "chat", "url": h.URL + "/v1", "model": "house-1", "key_file": "house.key"}}}})
	require.NoError(t, err)
	for name, text := range map[string]string{"config.json": string(raw), "house.key": key,
		"prices.json": `{"house-*": {"input": 1, "output": 10, "cached": 0.5}}`} {
		require.NoError(t, os.WriteFile(filepath.Join(s.home(), name), []byte(text), 0o600))
	}
}

// nowhere demands that a secret is in no file below a folder, but for some.
func nowhere(t *testing.T, secret, dir string, but ...string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		for _, name := range but {
			if d.Name() == name {
				return nil
			}
		}
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NotContains(t, string(raw), secret, path)
		return nil
	}))
}

// An API fills every seat that code does not: a task is planned, done in the sandbox, judged
// and merged. What it took is priced by the user's prices, and the key is in nothing that is
// printed, logged, stored or sent.
func TestAnAPIFillsTheSeats(t *testing.T) {
	t.Parallel()
	play := twoParts()
	h := newTheater(t, play)
	leak := "env; cat /proc/$PPID/environ " + filepath.Join(h.home(), "house.key") + "; true"
	play.Work["keep the rows"] = append([]string{leak}, play.Work["keep the rows"]...)
	model := newHouse(t, play)
	model.settle(t, h, houseKey)
	out, code := h.did("run", "--yes", "--client", "codex,house", "--report", "report.md", wish)
	require.Zero(t, code, out)
	h.accepted(h.taskIn(out))
	require.Contains(t, out, "codex cannot fill a seat, house does: not started: codex is not installed")
	require.Regexp(t, `(?m)^  R4a code +filed`, out, "each criterion of a subtask names a command")
	require.Equal(t, []int{1, 1, 1, 1}, []int{model.times("R1"), model.times("R2"), model.times("R4a"),
		model.times("R4b")}, "a model judges the subtask that changes the file by which it is checked")
	shown, code := h.did("task", "show", h.taskIn(out), "--detail", "--json")
	require.Zero(t, code, shown)
	require.Contains(t, shown, `"by": "recorded_exit"`)
	cost, code := h.did("cost", "--by", "model", "--json")
	require.Zero(t, code, cost)
	var sum struct {
		Costs []struct {
			Key      string `json:"key"`
			Runs     int    `json:"runs"`
			Cached   int64  `json:"cached_tokens"`
			Cost     int64  `json:"cost_micros"`
			Unpriced int    `json:"unpriced"`
		} `json:"costs"`
	}
	require.NoError(t, json.Unmarshal([]byte(cost), &sum))
	replies := int64(model.times("R1") + model.times("R2") + model.times("R3") + model.times("R4a") +
		model.times("R4b"))
	require.Len(t, sum.Costs, 1, "what could not be started took nothing: %s", cost)
	require.Equal(t, []any{"house-1", 400 * replies, (600 + 200 + 1000) * replies, 0},
		[]any{sum.Costs[0].Key, sum.Costs[0].Cached, sum.Costs[0].Cost, sum.Costs[0].Unpriced})

	model.settle(t, h, "sk-another-wrong-key")
	failed, code := h.did("run", "--yes", "--client", "house", wish)
	require.Equal(t, 8, code, failed)
	require.Contains(t, failed, "not logged in: 127.0.0.1")
	require.Contains(t, failed, "[secret]")
	require.Empty(t, model.leaked)
	for _, secret := range []string{houseKey, "sk-another-wrong-key"} {
		require.NotContains(t, out+shown+cost+failed, secret)
		nowhere(t, secret, h.dir, "house.key")
	}
}

// A model that refuses to judge is no verdict on the work: what it should have judged fails
// for a reason outside of it.
func TestRefusedJudgementsAreEnvironmental(t *testing.T) {
	t.Parallel()
	play := twoParts()
	h := newTheater(t, play)
	model := newHouse(t, play)
	model.refuses = "R4b"
	model.settle(t, h, houseKey)
	out, code := h.did("run", "--yes", "--client", "house", wish)
	require.Equal(t, 6, code, out)
	require.Regexp(t, `\n1 +0\.25 +0\.00 `, out, "P: the approach is not to blame")
	require.Contains(t, out, "house refused to judge: the model refused: I will not.")
}

// A bound of money stops an API at once, by the user's prices.
func TestMaxCostStopsAnAPI(t *testing.T) {
	t.Parallel()
	play := twoParts()
	h := newTheater(t, play)
	model := newHouse(t, play)
	model.settle(t, h, houseKey)
	out, code := h.did("run", "--yes", "--client", "house", "--max-cost", "0.003", "--parallel", "1", wish)
	require.Equal(t, 8, code, out)
	require.Contains(t, out, "the budget of $0.0030 is spent")
	require.Equal(t, 2, model.times("R1")+model.times("R2")+model.times("R3"), "1,800 millionths a reply")
}

// Who fills a seat is refused where it cannot be, with the settings that would do.
func TestSeatsThatCannotBeFilled(t *testing.T) {
	t.Parallel()
	h := newTheater(t, twoParts())
	for flags, want := range map[string]string{
		"--client nobody":               `there is no client or API "nobody"`,
		"--seat R1=code":                "R1 cannot be filled by code",
		"--seat R4a=code":               "code comes first, and a client after it",
		"--seat R9=codex":               "names no role",
		"--seat codex":                  "names no role",
		"--client gemini-cli":           "gemini-cli is not installed",
		"--seat R2=codex --seat R2=cod": `there is no client or API "cod"`,
	} {
		out, code := h.did(append(append([]string{"run", "--yes"}, strings.Fields(flags)...), wish)...)
		require.NotZero(t, code, out)
		require.Contains(t, out, want, flags)
	}
	for settings, want := range map[string]string{
		`{"seats":{"client":["nobody"]}}`:                                                                    "there is no client or API",
		`{"seats":{"apis":[{"name":"codex","kind":"chat","model":"m"}]}}`:                                    "no name for an API",
		`{"seats":{"apis":[{"name":"a","kind":"soap","model":"m"}]}}`:                                        `has the kind "soap"`,
		`{"seats":{"apis":[{"name":"a","kind":"chat","model":""}]}}`:                                         "names no model",
		`{"seats":{"apis":[{"name":"a","kind":"chat","model":"m","url":"http://x.org/v1"}]}}`:                "plain http to another machine",
		`{"seats":{"apis":[{"name":"a","kind":"chat","model":"m","key":"sk"}]}}`:                             "there is no setting",
		`{"seats":{"apis":[{"name":"a","kind":"chat","model":"m"},{"name":"a","kind":"chat","model":"n"}]}}`: "two of the name",
		`{"seats":{"client":["a"],"apis":[{"name":"a","kind":"chat","model":"m","key_file":"open.key"}]}}`:   "can be read by other users",
		`{"seats":{"client":["a"],"apis":[{"name":"a","kind":"chat","model":"m","key_env":"NO_KEY"}]}}`:      "NO_KEY holds no usable key",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(h.home(), "config.json"), []byte(settings), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(h.home(), "open.key"), []byte(houseKey), 0o644))
		out, code := h.did("run", "--yes", wish)
		require.NotZero(t, code, out)
		require.Contains(t, out, want, settings)
		require.NotContains(t, out, houseKey)
	}
	require.NoError(t, os.Remove(filepath.Join(h.home(), "config.json")))
	require.NoError(t, os.WriteFile(filepath.Join(h.home(), "prices.json"), []byte(`{"m": 3}`), 0o600))
	out, code := h.did("cost")
	require.NotZero(t, code)
	require.Contains(t, out, "prices.json cannot be used")
}
