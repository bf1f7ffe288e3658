//go:build e2e

package e2e

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fails has a role go wrong the first times that it is asked, in one conversation, and then do
// as it did.
func fails(play map[string]Actor, role string, times int32, wrong Actor) {
	var asked atomic.Int32
	right := play[role]
	play[role] = func(prompt string, nth int, results []Result) (Call, error) {
		if nth == 0 && asked.Add(1) <= times {
			return wrong(prompt, nth, results)
		}
		return right(prompt, nth, results)
	}
}

// sabotages has an executor run commands before its work, as if nothing were.
func sabotages(commands ...string) Actor {
	return func(prompt string, _ int, results []Result) (Call, error) {
		var steps []Call
		for _, command := range commands {
			steps = append(steps, bash(command))
		}
		if strings.Contains(prompt, "notes.txt") {
			return works("done", append(steps, bash("echo kept > notes.txt"), bash("test -s notes.txt"))...)(results)
		}
		return works("done", append(steps, bash("echo 'exit 0' > keep.sh"), bash("sh keep.sh"))...)(results)
	}
}

// What the real client can be brought to by its model or its endpoint costs no work: nothing
// outside is changed, nothing is left over, and the task is accepted in the end.
func TestRunOutlivesItsClientsFaults(t *testing.T) {
	const whole = 1000 // requests: all of the conversation
	var sawEdit atomic.Bool
	for name, tt := range map[string]struct {
		role  string
		times int32 // requests that go wrong
		wrong Actor
		says  string // in what is printed
	}{
		"asks the user": {"R4b", 4, func(string, int, []Result) (Call, error) { // two calls, each asked twice
			return Call{Input: map[string]any{"text": "Which of the two do you mean?"}}, nil
		}, ""},
		"wrong type": {"R2", 1, func(string, int, []Result) (Call, error) {
			return Answers(map[string]any{"subtasks": 5}), nil
		}, ""},
		"hangs": {"R1", 1, func(string, int, []Result) (Call, error) {
			time.Sleep(30 * time.Second)
			return Call{Input: map[string]any{"text": "late"}}, nil
		}, ""},
		// By scripts: the client itself refuses a command that removes such files.
		"plants a repository": {"R3", whole, sabotages("echo 'rm -f .git; git init -q .' > plant.sh", "bash plant.sh"),
			"its .git is not the file"},
		"nests a repository": {"R3", whole, sabotages("mkdir lib && git init -q lib"), "a nested repository"},
		"links outside":      {"R3", whole, sabotages("ln -s /etc link"), "a symbolic link is new"},
		"deletes its worktree": {"R3", whole, sabotages(`echo 'rm -rf "$PWD"' > gone.sh`, "bash gone.sh"),
			"the worktree is refused"},
		"fills a disk":         {"R3", whole, sabotages("echo x > /dev/full"), ""},
		"leaves a child":       {"R3", whole, sabotages("setsid sleep 600 > /dev/null 2>&1 &"), ""},
		"edits what judges it": {"R3", whole, sabotages("printf 'exit 0\\n' > check.sh"), ""},
		"claims without a call": {"R3", whole, func(string, int, []Result) (Call, error) {
			return Answers(map[string]any{"outcome": "done", "result": map[string]any{"text": "all tests pass"},
				"evidence": []any{map[string]any{"tool": "bash", "input": "sh keep.sh", "exit": 0, "head": "ok"}}}), nil
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			play := house()
			judge := play["R4a"]
			play["R4a"] = func(prompt string, nth int, results []Result) (Call, error) {
				if strings.Contains(prompt, "The work changed what was there to check it: check.sh") {
					sawEdit.Store(true)
				}
				return judge(prompt, nth, results)
			}
			fails(play, tt.role, tt.times, tt.wrong)
			model := NewRoles(play)
			t.Cleanup(model.Close)
			r := newRunning(t, model.URL())
			before := r.git("status", "--porcelain") + r.git("rev-parse", "HEAD")
			out, code := r.cordelia("run", "--yes", "--parallel", "1", "--patience", "10s", "rows without a date are kept")
			require.Zero(t, code, out)
			require.Contains(t, out, tt.says)
			r.accepted(taskOf(t, out))
			if name == "asks the user" || name == "hangs" {
				cost, _ := r.cordelia("cost", "--by", "role", "--json")
				require.Regexp(t, `"key": "`+tt.role+`",\s+"runs": \d+,\s+"failed": [1-9]`, cost,
					"the call that failed is on record")
			}
			require.Equal(t, before, r.git("status", "--porcelain")+r.git("rev-parse", "HEAD"))
			require.Empty(t, r.processes())
			require.Len(t, strings.Split(r.git("worktree", "list"), "\n"), 1, "no worktree is left")
			require.Equal(t, name == "edits what judges it", sawEdit.Swap(false), "the judge is told of it")
		})
	}
}
