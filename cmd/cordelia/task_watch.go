package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/platform"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

// Exit codes of a watch, beside those of any command.
const (
	exitAbandoned   exit = 6   // task submit, task report, task watch: the task was abandoned
	exitCancelled   exit = 7   // task watch: the task was cancelled
	exitInterrupted exit = 130 // task watch: interrupted, as a shell says of Ctrl-C
)

func taskWatchCommand(a *app) *cobra.Command {
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
					err := watchAll(cmd.Context(), w)
					if errors.Is(cmd.Context().Err(), context.Canceled) {
						return exitInterrupted
					}
					return err
				}
				t := taskWatch{acting: w, id: words[0], board: canvas{out: a.out}}
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

// taskWatch shows one task as it changes.
type taskWatch struct {
	*acting
	id     string
	answer []byte     // as it was shown last
	before *taskBoard // what it said, nil = nothing was shown
	board  canvas
	live   bool // what is drawn is a run's, which goes on
}

// follow shows the task until it is over.
func (t *taskWatch) follow(ctx context.Context) error {
	woken, stop := t.node.Subscribe(node.Commits)
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
				waiting = !t.moved()
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// look reads the task and shows what is new of it.
func (t *taskWatch) look(ctx context.Context) error {
	status, err := ask[ops.TaskStatusOut](ctx, t.acting, "task_status", map[string]any{"task_id": t.id, "detail": true})
	if err != nil {
		return err
	}
	answer, err := json.Marshal(status)
	if err != nil {
		return fmt.Errorf("compare the task: %w", err)
	}
	if bytes.Equal(answer, t.answer) && !t.moved() {
		return nil
	}
	if status.Task == nil {
		return schemas.Invalidf("this is plain work, and no task of the pipeline").Expecting(
			"a task submitted with --request").
			Try("run: cordelia task show %s", short(t.id))
	}
	now, err := boardOf(t.acting.app, *status.Task)
	if err != nil {
		return err
	}
	if err := t.show(now, status); err != nil {
		return err
	}
	t.before, t.answer = now, answer
	return nil
}

func (t *taskWatch) show(now *taskBoard, status ops.TaskStatusOut) error {
	if t.asJSON {
		return t.printLine(status)
	}
	if drawable(t.out) {
		wide, high := platform.TerminalSize(t.out)
		t.draw(now, wide, high)
		return nil
	}
	t.board.drawn = 0
	at := t.now()
	for _, l := range now.changes(t.before) {
		t.say("%s  %s", at, l)
	}
	return nil
}

// moved reports whether what is drawn is out of date although the task is as it was: the
// terminal has another width, or seats go on that a run fills.
func (t *taskWatch) moved() bool {
	return t.board.resized() || drawable(t.out) && (t.live || t.before != nil && sharedSeats(t.before.TaskID) != nil)
}

// draw puts the task where it was drawn before.
func (t *taskWatch) draw(now *taskBoard, wide, high int) {
	rest := ""
	if !now.State.Final() {
		now.outcomes = nil // their evidence is for who reads it afterwards
		now.running = sharedSeats(now.TaskID)
		rest = "cordelia task show has it all"
	}
	t.live = now.running != nil
	t.board.draw(now.board(wide, t.colours()), wide, high, rest)
}
