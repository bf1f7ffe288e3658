package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cordelia/ops"
	"cordelia/schemas"
)

// Exit codes of a watch, beside those of any command.
const (
	exitAbandoned   exit = 6   // task submit, task report, task watch: the task was abandoned
	exitCancelled   exit = 7   // task watch: the task was cancelled
	exitInterrupted exit = 130 // task watch: interrupted, as a shell says of Ctrl-C
)

func (a *app) taskWatchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "watch [TASK]",
		Short: "Show a task live, until it ends; without a name, all that run",
		Long: `Show a task of the pipeline as it stands, and again whenever something changes, until
it ends. Elsewhere than at a terminal each change is a line; with --json each state
is. Without TASK: a line for each change of a task or an item of work, until none runs.
Ctrl-C leaves the tasks alone.

Exit codes: 0 accepted, 6 abandoned, 7 cancelled, 130 interrupted.`,
		Example: "  cordelia task watch 1cd21f84 && make release\n  cordelia task watch",
		Args:    wants(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.person(cmd.Context(), func(w *acting) error {
				if len(words) == 0 {
					err := w.watchAll(cmd.Context())
					if errors.Is(cmd.Context().Err(), context.Canceled) {
						return exitInterrupted
					}
					return err
				}
				t := taskWatch{acting: w, id: words[0]}
				err := t.follow(cmd.Context())
				if errors.Is(cmd.Context().Err(), context.Canceled) {
					a.note("the task goes on; see it again with: cordelia task watch %s", short(t.id))
					return exitInterrupted
				}
				return err
			})
		},
	}
	a.completeWords(cmd, []string{"task_id"})
	return cmd
}

// The pace of a watch.
const (
	watchPause = 100 * time.Millisecond // between two looks: commits come in bursts
	watchTick  = time.Second            // between two looks at the terminal's size
)

// leastWidth is the width of terminals, in columns, that a task is drawn on: what the
// terminal folds could not be drawn over.
const leastWidth = 60

// taskWatch shows one task as it changes.
type taskWatch struct {
	*acting
	id     string
	answer []byte        // as it was shown last
	before *pipelineView // what it said, nil = nothing was shown
	drawn  int           // lines on the terminal
	width  int           // of the terminal they were drawn for
}

// follow shows the task until it is over.
func (t *taskWatch) follow(ctx context.Context) error {
	woken, stop := t.node.Subscribe(ops.Commits)
	defer stop()
	tick := time.NewTicker(watchTick)
	defer tick.Stop()
	for {
		if err := t.look(ctx); err != nil {
			return err
		}
		switch t.before.State {
		case schemas.TaskAccepted:
			return nil
		case schemas.TaskAbandoned:
			return exitAbandoned
		case schemas.TaskCancelled:
			return exitCancelled
		}
		select {
		case <-time.After(watchPause):
		case <-ctx.Done():
			return ctx.Err()
		}
		for waiting := true; waiting; {
			select {
			case <-woken:
				waiting = false
			case <-tick.C:
				waiting = !t.resized()
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// look reads the task and shows what is new of it.
func (t *taskWatch) look(ctx context.Context) error {
	answer, err := t.call(ctx, "task_status", map[string]any{"task_id": t.id, "detail": true})
	if err != nil {
		return err
	}
	if bytes.Equal(answer, t.answer) && !t.resized() {
		return nil
	}
	now, err := decodeTask(answer)
	if err != nil {
		return err
	}
	if now == nil {
		return schemas.Invalidf("this is plain work, and no task of the pipeline").Expecting(
			"a task submitted with --request").
			Try("run: cordelia task show %s", short(t.id))
	}
	if err := t.show(now, answer); err != nil {
		return err
	}
	t.before, t.answer = now, answer
	return nil
}

func (t *taskWatch) show(now *pipelineView, answer json.RawMessage) error {
	if t.asJSON {
		return t.printLine(answer)
	}
	if wide, high := screen(t.out); wide >= leastWidth && os.Getenv("TERM") != "dumb" {
		t.draw(now, wide, high)
		return nil
	}
	t.drawn = 0
	at := t.now()
	for _, l := range now.changes(t.before) {
		t.say("%s  %s", at, l)
	}
	return nil
}

// resized reports whether the terminal has another width than what is drawn on it.
func (t *taskWatch) resized() bool { return t.drawn > 0 && columns(t.out) != t.width }

// draw puts the task where it was drawn before. What does not fit the terminal is
// left out, as lines that scrolled away could not be drawn over.
func (t *taskWatch) draw(now *pipelineView, wide, high int) {
	if !now.State.Final() {
		now.Outcomes = nil // their evidence is for who reads it afterwards
	}
	list := strings.Split(strings.TrimSuffix(now.board(wide, t.colours()), "\n"), "\n")
	if most := high - 1; len(list) > most && !now.State.Final() {
		left := len(list) - most + 1
		list = append(list[:max(0, most-1)], fmt.Sprintf("… %s more: cordelia task show has it all",
			schemas.Count(left, "line", "lines")))
	}
	over := ""
	if t.drawn > 0 {
		over = fmt.Sprintf("\x1b[%dF\x1b[J", t.drawn)
	}
	fmt.Fprint(t.out, over+strings.Join(list, "\n")+"\n")
	t.drawn, t.width = len(list), wide
}
