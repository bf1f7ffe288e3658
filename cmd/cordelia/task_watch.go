package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/platform"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

// Exit codes of a watch and a run, beside those of any command.
const (
	exitAbandoned   cli.Exit = 6 // task submit, task report, task watch, run: the task was abandoned
	exitCancelled   cli.Exit = 7 // task watch, run: the task was cancelled
	exitInterrupted          = cli.ExitInterrupted
)

func taskWatchCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "watch [TASK]",
		Short: "Show a task live, until it ends; without a name, all that run",
		Long: `Show a task of the pipeline as it stands, and again whenever something changes, until
it ends. Elsewhere than at a terminal each change is a line; with --json each state
is. Without TASK: a line for each change of a task or an item of work, until none runs.
Ctrl-C leaves the tasks alone.

Exit codes: 0 accepted, 6 abandoned, 7 cancelled, 130 interrupted.`,
		Example: "  cordelia task watch 1cd21f84 && make release\n  cordelia task watch",
		Args:    cli.Wants(1),
		RunE: func(cmd *cobra.Command, words []string) error {
			return a.Person(cmd.Context(), func(w *cli.Acting) error {
				if len(words) == 0 {
					err := watchAll(cmd.Context(), w)
					if errors.Is(cmd.Context().Err(), context.Canceled) {
						return exitInterrupted
					}
					return err
				}
				t := taskWatch{Acting: w, id: words[0], board: cli.Canvas{Out: a.Out}}
				err := t.follow(cmd.Context())
				if errors.Is(cmd.Context().Err(), context.Canceled) {
					a.Note("the task goes on; see it again with: cordelia task watch %s", cli.Short(t.id))
					return exitInterrupted
				}
				return err
			})
		},
	}
	a.CompleteWords(cmd, []string{"task_id"})
	return cmd
}

// The pace of a watch.
const (
	watchPause = 100 * time.Millisecond // between two looks: commits come in bursts
	watchTick  = time.Second            // between two looks at the terminal's size
)

// taskWatch shows one task as it changes.
type taskWatch struct {
	*cli.Acting
	id     string
	answer []byte     // as it was shown last
	before *taskBoard // what it said, nil = nothing was shown
	board  cli.Canvas
	live   bool // what is drawn is a run's, which goes on
}

// follow shows the task until it is over.
func (t *taskWatch) follow(ctx context.Context) error {
	woken, stop := t.Node.Subscribe(node.Commits)
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
	status, err := cli.Ask[ops.TaskStatusOut](ctx, t.Acting, "task_status",
		map[string]any{"task_id": t.id, "detail": true})
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
			Try("run: cordelia task show %s", cli.Short(t.id))
	}
	now, err := boardOf(t.Acting.App, *status.Task)
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
	if t.AsJSON {
		return t.PrintLine(status)
	}
	if cli.Drawable(t.Out) {
		wide, high := platform.TerminalSize(t.Out)
		t.draw(now, wide, high)
		return nil
	}
	t.board.Drawn = 0
	at := t.Now()
	for _, l := range now.changes(t.before) {
		t.Say("%s  %s", at, l)
	}
	return nil
}

// moved reports whether what is drawn is out of date although the task is as it was: the
// terminal has another width, or seats go on that a run fills.
func (t *taskWatch) moved() bool {
	return t.board.Resized() || cli.Drawable(t.Out) && (t.live || t.before != nil &&
		sharedSeats(t.before.TaskID) != nil)
}

// draw puts the task where it was drawn before.
func (t *taskWatch) draw(now *taskBoard, wide, high int) {
	rest := ""
	if !now.State.Final() {
		now.outcomes = nil // a reader looks at their evidence afterwards
		now.running = sharedSeats(now.TaskID)
		rest = "cordelia task show has it all"
	}
	t.live = now.running != nil
	t.board.Draw(now.board(wide, t.Colours()), wide, high, rest)
}
