package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/cmd/cordelia/cli"
	"cordelia/schemas"
)

// newPipeline is a stage with a task whose plan is waited for; its id is in the file
// task.
func newPipeline(t *testing.T, flags string) *stage {
	s := newStage(t, "ann")
	s.run(`cordelia agent register --type autonomous --name maker --capabilities '{"tools": ["task_claim", "task_report"], "memory_read": {"layers": ["l1"], "groups": [], "visibility": []}, "memory_write": {"layers": ["l1"], "groups": [], "visibility": []}, "max_parallel_ops": 2, "ttl_seconds": 3600, "autonomous": true}'`)
	s.run(`cordelia task submit "say hello" --request "Say hello, please" ` + flags +
		` --json | sed -n 's/^  "task_id": "\([^"]*\)".*/\1/p' >task`)
	return s
}

// plan takes R2's seat and fills it.
func (s *stage) plan() {
	s.T.Helper()
	s.run(`cordelia task claim --as maker --role R2 | sed -n 's/^item *//p' >item`)
	require.Contains(s.T, s.run(
		`cordelia task report $(cat item) done --fence 1 --as maker --result '{"subtasks": [{"intent": "greet ann", "sequence": 1, "tools": ["bash"], "success_criteria": ["it says hello"]}], "task_criteria": ["ann is greeted"]}'`), "done")
}

// ended is the exit code of a command.
func ended(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	if err := cmd.Wait(); cmd.ProcessState == nil {
		require.NoError(t, err)
	}
	return cmd.ProcessState.ExitCode()
}

// The third answer that cannot be taken fails as those before it, and names who may go on; where it ends
// the task, it says so.
func TestTheLastAnswerIsNoSuccess(t *testing.T) {
	s := newPipeline(t, "")
	for _, who := range []string{"other", "third"} {
		s.run(`cordelia agent register --type autonomous --name ` + who +
			` --capabilities '{"autonomous": true, "tools": ["task_claim", "task_report"]}'`)
	}
	for i, who := range []string{"maker", "other", "third"} {
		s.run(`cordelia task claim --as ` + who + ` --role R2 | sed -n 's/^item *//p' >item`)
		for n := range 3 {
			out := s.run(fmt.Sprintf(`cordelia task report $(cat item) done --fence %d --as %s --result '{"subtasks": [%d]}'`,
				i+1, who, n))
			want, says := "[exit 2]", "2 more answers are taken"
			switch {
			case n == 1:
				says = "1 more answer is taken"
			case n == 2 && i < 2:
				says = "another agent has to take it"
			case n == 2:
				want, says = "[exit 6]", "the item failed; the task is abandoned"
			}
			require.Contains(t, out, want)
			require.Contains(t, out, says)
			require.NotContains(t, out, "The item is")
		}
	}
}

// A watch that nobody looks at prints what changes, and its exit code says how the
// task ended.
func TestWatchPrintsChanges(t *testing.T) {
	for _, format := range []string{"", " --json"} {
		t.Run("as"+format, func(t *testing.T) {
			t.Parallel()
			s := newPipeline(t, "")
			cmd := s.command("exec cordelia task watch $(cat task)" + format)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			lines := bufio.NewScanner(out)
			lines.Buffer(nil, 1<<20)
			heard := func(what string) {
				t.Helper()
				for lines.Scan() {
					if strings.Contains(lines.Text(), what) {
						return
					}
				}
				require.Fail(t, "the watch ended before "+what)
			}
			if format == "" {
				heard("R2: waits")
				s.plan()
				heard("the task is running, round 1")
				heard("greet ann: executing")
				s.run("cordelia task cancel $(cat task)")
				heard("the task is cancelled")
			} else {
				heard(`"state":"planning"`)
				s.plan()
				heard(`"state":"running"`)
				s.run("cordelia task cancel $(cat task)")
				heard(`"state":"cancelled"`)
			}
			_, err = io.Copy(io.Discard, out)
			require.NoError(t, err)
			require.Equal(t, int(exitCancelled), ended(t, cmd))
		})
	}
}

// The node that watches makes what time makes due, when nobody else is at work.
func TestWatchEndsWithTheDeadline(t *testing.T) {
	t.Parallel()
	s := newPipeline(t, "--within-seconds 1")
	cmd := s.command("exec cordelia task watch $(cat task)")
	var out bytes.Buffer
	cmd.Stdout = &out
	require.NoError(t, cmd.Start())
	require.Equal(t, int(exitAbandoned), ended(t, cmd))
	require.Contains(t, out.String(), "the task is abandoned")
}

// drawnOver is what moves a terminal back to where the task was drawn.
var drawnOver = regexp.MustCompile(`\x1b\[(\d+)F\x1b\[J`)

// At a terminal the task is drawn over itself: each picture begins where the one
// before it began, and none is larger than the terminal. An interrupt leaves the task
// alone.
func TestWatchDrawsAtATerminal(t *testing.T) {
	s := newPipeline(t, "")
	keys, screen := terminal(t)
	defer keys.Close()
	cmd := s.command("NO_COLOR=1 exec cordelia task watch $(cat task)")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	require.NoError(t, cmd.Start())
	require.NoError(t, screen.Close())
	var shown strings.Builder
	heard := func(what string) {
		t.Helper()
		part := make([]byte, 4096)
		for !strings.Contains(shown.String(), what) {
			n, err := keys.Read(part)
			shown.Write(part[:n])
			require.NoError(t, err, "the watch ended before %s", what)
		}
	}
	heard("R2")
	s.plan()
	heard("open  ") // the matrix of criteria
	heard("R3 greet ann")
	require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
	heard("the task goes on")
	require.Equal(t, int(exitInterrupted), ended(t, cmd))
	require.Contains(t, s.run("cordelia task show $(cat task)"), "running, round 1")

	text, _, _ := strings.Cut(strings.ReplaceAll(shown.String(), "\r\n", "\n"), "cordelia: the task goes on")
	marks := drawnOver.FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, marks, "it was drawn again")
	for i, picture := range drawnOver.Split(text, -1) {
		require.NotContains(t, picture, "\x1b", "no colour was wanted")
		require.True(t, strings.HasPrefix(picture, "task "), "each picture begins anew: %q", picture)
		high := strings.Count(picture, "\n")
		require.Less(t, high, 24)
		for l := range strings.SplitSeq(picture, "\n") {
			require.LessOrEqual(t, cli.Measure(l), 80)
		}
		if i < len(marks) {
			require.Equal(t, strconv.Itoa(high), marks[i][1], "the next picture begins where this one did")
		}
	}
}

// What is higher than the terminal is cut, so that the next picture can cover it; the
// last one is whole.
func TestWatchFitsTheTerminal(t *testing.T) {
	draw := func(v *taskBoard, high int) (string, int) {
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		require.NoError(t, err)
		w := taskWatch{Acting: &cli.Acting{App: &cli.App{Out: out}}, board: cli.Canvas{Out: out}}
		w.draw(v, 80, high)
		raw, err := os.ReadFile(out.Name())
		require.NoError(t, errors.Join(err, out.Close()))
		return string(raw), w.board.Drawn
	}
	v := sampleView(t)
	v.outcomes = nil
	whole := strings.Count(v.board(80, false), "\n")
	for _, high := range []int{2, 10, 24, whole, whole + 1, 200} {
		text, drawn := draw(v, high)
		require.Equal(t, min(whole, high-1), strings.Count(text, "\n"), "%d rows", high)
		require.Equal(t, min(whole, high-1), drawn)
		require.Equal(t, high <= whole, strings.Contains(text, "lines more"))
	}
	v.State = schemas.TaskAccepted
	text, _ := draw(v, 10)
	require.Equal(t, whole, strings.Count(text, "\n"))
}
