package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The report, and what the end says was spent, are of the whole task, whichever run ends it, also
// one that had nothing more to do. What the user asked for is in it beside what R1 made of it.
func TestTheReportIsOfTheWholeTask(t *testing.T) {
	t.Parallel()
	play := twoParts()
	h := newTheater(t, play)
	model := newHouse(t, play)
	model.settle(t, h, houseKey)
	spent := func() string {
		raw, code := h.did("cost", "--json")
		require.Zero(t, code, raw)
		var sum struct {
			Costs []struct {
				Input  int64 `json:"input_tokens"`
				Cached int64 `json:"cached_tokens"`
				Output int64 `json:"output_tokens"`
			} `json:"costs"`
		}
		require.NoError(t, json.Unmarshal([]byte(raw), &sum))
		return fmt.Sprintf("spent %d tokens in (%d %% cached), %d out", sum.Costs[0].Input+sum.Costs[0].Cached, 40,
			sum.Costs[0].Output)
	}
	report := func() string {
		raw, err := os.ReadFile(filepath.Join(h.dir, "report.md"))
		require.NoError(t, err)
		return string(raw)
	}
	flags := []string{"run", "--yes", "--client", "house", "--report", "../../report.md"}
	run := func(more ...string) string {
		out, code := h.did(append(append([]string{}, flags...), more...)...)
		require.Zero(t, code, out)
		return out
	}
	out := run("--plan-only", "total is 4")
	task := h.taskIn(out)
	require.Contains(t, out, `asked: The task was understood as: "`+wish+`". It shares less than half of your words`)
	require.Contains(t, report(), "- asked for: total is 4")
	require.Contains(t, report(), "; "+spent())
	shown, code := h.did("task", "show", task)
	require.Zero(t, code, shown)
	require.Regexp(t, `(?m)^request +total is 4$`, shown)
	for _, more := range [][]string{{"--resume", task}, {"--resume", task, "--apply"}, {"--resume", task}} {
		out = run(more...)
		require.Contains(t, report(), "; "+spent(), "%v: %s", more, out)
		for _, has := range []string{"| R1 |", "| R2 |", "| R4a |", "| R4b |", "2 files changed", "- asked for: total is 4"} {
			require.Contains(t, report(), has, more)
		}
	}
	require.NotContains(t, out, "nothing was changed")
}

// What cannot be carried out is refused before anything is paid.
func TestRunRefusesBeforeItPays(t *testing.T) {
	t.Parallel()
	play := twoParts()
	h := newTheater(t, play)
	model := newHouse(t, play)
	model.settle(t, h, houseKey)
	for flag, why := range map[string]string{"--report=none/report.md": "the report cannot be written",
		"--parallel=0": "out of range", "--max-cost=-1": "not below 0", "--max-tokens=-1": "not below 0",
		"--patience=0s": "is no time"} {
		out, code := h.did("run", "--yes", "--client", "house", flag, wish)
		require.Equal(t, 2, code, out)
		require.Contains(t, out, why)
	}
	require.Zero(t, model.times("R1"))
	require.Empty(t, h.git("status", "--porcelain"))
}

// Of a task that was thrown away the list says that it has no branch; there is nothing to throw
// away twice. A repository's list goes beyond one page.
func TestRunListsWhatIsThere(t *testing.T) {
	t.Parallel()
	play := twoParts()
	h := newTheater(t, play)
	model := newHouse(t, play)
	model.settle(t, h, houseKey)
	var last string
	for range 6 {
		out, code := h.did("run", "--yes", "--client", "house", "--plan-only", wish)
		require.Zero(t, code, out)
		last = h.taskIn(out)
	}
	out, code := h.did("run", "--list")
	require.Zero(t, code, out)
	require.Regexp(t, `(?m)^`+last+` +running +1 +cordelia/`+last, out)
	require.Equal(t, 6, strings.Count(out, " cordelia/"), out)
	out, _ = h.did("run", "--discard", last)
	require.Contains(t, out, "Thrown away: task "+last)
	out, code = h.did("run", "--discard", last)
	require.Zero(t, code, out)
	require.Contains(t, out, "There is nothing to throw away")
	out, code = h.did("run", "--client", "house", "--resume", last)
	require.Equal(t, 5, code, out)
	require.Contains(t, out, "is cancelled, and its branch is gone")
	out, _ = h.did("run", "--list")
	require.Regexp(t, `(?m)^`+last+` +cancelled +1 +none `, out)
}

// A demo that needs a client which is not there says so before it begins, and what helps.
func TestDemoNeedsItsClient(t *testing.T) {
	t.Parallel()
	h := newTheater(t, twoParts())
	out, code := h.did("demo", "run", "--client", "codex")
	require.NotZero(t, code)
	require.Contains(t, out, "codex is not installed")
	require.Contains(t, out, "name another by --client")
	require.NotContains(t, out, "--keep")
}
