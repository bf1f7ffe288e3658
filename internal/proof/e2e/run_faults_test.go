//go:build e2e

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// house is a script of a task that is planned once, done in two worktrees at once, and
// judged by its record; tests change parts of it.
func house() map[string]Actor {
	return map[string]Actor{
		"R1": perceives,
		"R2": func(string, int, []Result) (Call, error) {
			return Answers(plan("both.sh exits 0 on the merged result", "sh keep.sh",
				subtask("keep the rows in keep.sh", 1, "sh keep.sh", "bash"),
				subtask("write notes.txt", 1, "test -s notes.txt", "bash", "write"))), nil
		},
		"R3": func(prompt string, _ int, results []Result) (Call, error) {
			if strings.Contains(prompt, "notes.txt") {
				return works("done", bash("echo kept > notes.txt"), bash("test -s notes.txt"))(results)
			}
			return works("done", bash("echo 'exit 0' > keep.sh"), bash("sh keep.sh"))(results)
		},
		"R4a": passes, "R4b": passes,
	}
}

// taskOf is the task that a run printed.
func taskOf(t testing.TB, out string) string {
	t.Helper()
	m := regexp.MustCompile(`branch: cordelia/([0-9a-f]{8})`).FindStringSubmatch(out)
	require.NotNil(t, m, out)
	return m[1]
}

// accepted demands that both subtasks are on the branch.
func (r *running) accepted(task string) {
	r.Helper()
	require.Equal(r, "exit 0", r.git("show", "cordelia/"+task+":keep.sh"))
	require.Equal(r, "kept", r.git("show", "cordelia/"+task+":notes.txt"))
}

// processes lists the command lines of processes that belong to this run.
func (r *running) processes() (list []string) {
	r.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(r, err)
	for _, dir := range all {
		raw, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err == nil && strings.Contains(string(raw), "HOME="+r.home) {
			line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
			list = append(list, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return list
}

// Two subtasks run at once, each in its worktree, after a first round that failed.
func TestRunReplansAndWorksInParallel(t *testing.T) {
	play := house()
	var plans atomic.Int32
	second := play["R2"]
	play["R2"] = func(prompt string, nth int, results []Result) (Call, error) {
		if plans.Add(1) == 1 {
			return Answers(plan("sh keep.sh exits 0", "sh keep.sh",
				subtask("only look at keep.sh", 1, "sh keep.sh", "bash"))), nil
		}
		return second(prompt, nth, results)
	}
	work := play["R3"]
	play["R3"] = func(prompt string, nth int, results []Result) (Call, error) {
		if strings.Contains(prompt, "only look at") {
			return works("done", bash("sh keep.sh"))(results)
		}
		return work(prompt, nth, results)
	}
	model := NewRoles(play)
	t.Cleanup(model.Close)
	r := newRunning(t, model.URL())
	out, code := r.cordelia("run", "--yes", "rows without a date are kept")
	t.Log(out)
	require.Contains(t, out, "round 1 failed")
	task := taskOf(t, out)
	require.Zero(t, code, "the node looks for itself at what ran beside a change")
	require.Contains(t, out, "the node runs sh keep.sh")
	r.accepted(task)
	require.Empty(t, r.processes())
}

// What an executor claims and the record lacks fails, whatever the judges say.
func TestRunRefusesFabricatedEvidence(t *testing.T) {
	play := house()
	play["R2"] = func(string, int, []Result) (Call, error) {
		return Answers(plan("sh check.sh exits 0", "sh check.sh",
			subtask("keep the rows in keep.sh", 1, "sh check.sh", "bash", "write"))), nil
	}
	play["R3"] = func(_ string, _ int, results []Result) (Call, error) {
		return Answers(map[string]any{"outcome": "done", "result": map[string]any{"text": "all tests pass"},
			"evidence": []any{
				map[string]any{"tool": "bash", "input": "sh check.sh", "exit": 0, "head": "ok"}}}), nil
	}
	model := NewRoles(play)
	t.Cleanup(model.Close)
	r := newRunning(t, model.URL())
	out, code := r.cordelia("run", "--yes", "rows without a date are kept")
	require.Equal(t, 6, code, out)
	require.Contains(t, out, "fail")
	shown, _ := r.cordelia("task", "show", taskOf(t, out), "--detail", "--json")
	require.Contains(t, shown, "the last call that could show it failed: bash:sh check.sh → (exit 1)",
		"the node ran the command itself")
}

// Prose with exit code 0 is a recorded failure, and a limit of the provider is none.
func TestRunTakesNoProseAndWaitsForLimits(t *testing.T) {
	play := house()
	var limited atomic.Int32
	play["R1"] = func(prompt string, nth int, results []Result) (Call, error) {
		if limited.Add(1) <= 1 {
			return Call{}, &HTTPFault{Status: 429, Header: map[string]string{"retry-after": "1",
				"x-should-retry": "false"},
				Body: `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`}
		}
		return perceives(prompt, nth, results)
	}
	play["R2"] = func(string, int, []Result) (Call, error) {
		return Call{Input: map[string]any{"text": "I would plan this in three steps."}}, nil
	}
	model := NewRoles(play)
	t.Cleanup(model.Close)
	r := newRunning(t, model.URL())
	out, code := r.cordelia("run", "--yes", "rows without a date are kept")
	require.Equal(t, 6, code, out)
	require.Contains(t, out, "without a structured answer")
	require.Contains(t, out, "there is no plan (R2)")
}

// A worker that is told to reach for what is not its own gets nothing.
func TestRunConfinesItsWorkers(t *testing.T) {
	play := house()
	var r *running
	var tried []string
	play["R2"] = func(string, int, []Result) (Call, error) {
		return Answers(plan("sh check.sh exits 0", "sh check.sh",
			subtask("keep the rows in keep.sh", 1, "sh check.sh", "bash", "write"))), nil
	}
	play["R3"] = func(_ string, _ int, results []Result) (Call, error) {
		for _, one := range results {
			if strings.Contains(one.Text, "SECRET") {
				tried = append(tried, one.Text)
			}
		}
		home := filepath.Join(r.home, "cordelia")
		return works("done", bash("cat "+r.home+"/secret.txt"), bash("find "+home+" -type f | head"),
			bash("cat "+home+"/keys/*.key "+home+"/*.db"),
			bash("echo SECRET > "+r.repo+"/check.sh"), bash("cp -r "+r.repo+"/.git/config "+r.repo+"/.git/hooks/x"),
			bash("cat /proc/$PPID/../1/environ | grep -a SECRET"),
			Call{Tool: "Read", Input: map[string]any{"file_path": r.home + "/secret.txt"}},
			Call{Tool: "Write", Input: map[string]any{"file_path": r.home + "/x", "content": "x"}},
			bash("setsid sleep 300 > /dev/null 2>&1 &"), bash("echo 'exit 0' > keep.sh"), bash("sh check.sh"))(results)
	}
	model := NewRoles(play)
	t.Cleanup(model.Close)
	r = newRunning(t, model.URL())
	require.NoError(t, os.WriteFile(filepath.Join(r.home, "secret.txt"), []byte("SECRET\n"), 0o600))
	before := r.git("status", "--porcelain")
	out, code := r.cordelia("run", "--yes", "rows without a date are kept")
	require.Zero(t, code, out)
	require.Empty(t, tried, "nothing secret was read")
	require.Equal(t, before, r.git("status", "--porcelain"))
	require.NoFileExists(t, filepath.Join(r.home, "x"))
	require.NoFileExists(t, filepath.Join(r.repo, ".git", "hooks", "x"))
	require.Empty(t, r.processes(), "nothing it started is left")
}

// Ctrl-C gives everything back, and the run goes on where it was.
func TestRunIsInterruptedAndResumed(t *testing.T) {
	play := house()
	var asked atomic.Int32
	work := play["R3"]
	play["R3"] = func(prompt string, nth int, results []Result) (Call, error) {
		if asked.Add(1) <= 2 {
			return bash("sleep 60"), nil
		}
		return work(prompt, nth, results)
	}
	model := NewRoles(play)
	t.Cleanup(model.Close)
	r := newRunning(t, model.URL())
	cmd := r.command("run", "--yes", "rows without a date are kept")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { return asked.Load() >= 2 }, time.Minute, 20*time.Millisecond)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	cmd.Wait() //nolint:errcheck // its exit code says it
	require.Equal(t, 130, cmd.ProcessState.ExitCode(), out.String())
	require.Contains(t, out.String(), "given back")
	require.Empty(t, r.processes())
	again, code := r.cordelia("run", "--resume", taskOf(t, out.String()))
	require.Zero(t, code, again)
	r.accepted(taskOf(t, out.String()))
}

// Killed at any moment, a run is taken up again, ends as it should, and does nothing twice.
func TestRunSurvivesKills(t *testing.T) {
	model := NewRoles(house())
	t.Cleanup(model.Close)
	r := newRunning(t, model.URL())
	task, args := "", []string{"run", "--yes", "rows without a date are kept"}
	for range 3 {
		cmd := r.command(args...)
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		require.NoError(t, cmd.Start())
		time.Sleep(2*time.Second + time.Duration(rand.IntN(4000))*time.Millisecond)
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it may have ended
		cmd.Wait()                                      //nolint:errcheck // killed
		if m := regexp.MustCompile(`branch: cordelia/([0-9a-f]{8})`).FindStringSubmatch(out.String()); m != nil {
			task, args = m[1], []string{"run", "--resume", m[1]}
		}
		require.Eventually(t, func() bool { return len(r.processes()) == 0 }, 30*time.Second, 50*time.Millisecond,
			"nothing outlives the runner")
	}
	out, code := r.cordelia(args...)
	if task == "" {
		task = taskOf(t, out)
	}
	require.Zero(t, code, out)
	r.accepted(task)
	list, err := exec.Command("git", "-C", r.repo, "worktree", "list").Output()
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(list), "\n"), fmt.Sprintf("no worktree is left: %s", list))
}
