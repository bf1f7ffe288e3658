package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/config"
	"cordelia/ops"
	runner "cordelia/run"
	"cordelia/run/cost"
	"cordelia/run/git"
	"cordelia/schemas"
)

// workerFlags are the flags of worker, beside those it has in common with run.
type workerFlags struct {
	runFlags
	as   string
	role string
	idle time.Duration
}

func workerCommand(a *cli.App) *cobra.Command {
	var f workerFlags
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Serve the queue: have your coding client do work that others submitted",
		Long: `Take work that the agent of --as may take, without a task of your own, and have your
coding client do it: roles of tasks, and plain work. Executors work in git worktrees of
the repository you are in, confined and recorded as in cordelia run; what they change
lies on branches cordelia/…. Without --as it works for you: its agents take what your
groups are offered.

With --parallel it registers agents below that one, which needs the right to. Ctrl-C
gives back what is held and ends; a second one ends at once.

Exit codes: 0 ended as it was told to, 8 it cannot go on.`,
		Example: "  cordelia worker --as build-1 --client claude-code\n  cordelia worker --as judge-1 --role R4a " +
			"--idle 10m",
		Args: cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return worker(cmd.Context(), a, f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.as, "as", "", "act as this agent of yours; default: agents below you")
	fs.StringVar(&f.role, "role", "", "take work of this role alone, such as R3")
	fs.DurationVar(&f.idle, "idle", 0, "end after so long without work, such as 10m; 0 never does")
	f.fillers(fs, 1)
	return cmd
}

// worker serves the queue until it is stopped.
func worker(ctx context.Context, a *cli.App, f workerFlags) error {
	if err := f.bounds(); err != nil {
		return err
	}
	repo, err := git.Open(ctx, ".")
	if err != nil {
		return err
	}
	e, err := equip(ctx, a, f.runFlags, repo)
	if err != nil {
		return err
	}
	if err := agreePrepare(ctx, a, e, f.yes); err != nil {
		return err
	}
	a.Tune = recordedOnly
	return a.Act(ctx, f.as, func(w *cli.Acting) error {
		if w.As != "" {
			return schemas.NotFoundf("the key of %s is not on this machine", f.as).
				Expecting("an agent that was registered here").Try("run: cordelia agent list")
		}
		return serveQueue(ctx, w, f, e)
	})
}

// serveQueue takes work and has it done.
func serveQueue(ctx context.Context, w *cli.Acting, f workerFlags, e equipment) error {
	seats := &ops.Seats{Node: w.Node, Person: w.Caller, Repo: e.repo.Top}
	runs, err := runsFolder()
	if err != nil {
		return err
	}
	folder := filepath.Join(runs, "worker-"+schemas.NewID()[24:])
	free, err := e.repo.Occupy(folder)
	if err != nil {
		return err
	}
	defer free()
	var list seatList
	var board runner.Board = &runLines{App: w.App, seats: &list}
	if w.AsJSON {
		board = &runEvents{App: w.App, seats: &list}
	}
	if err := git.Sweep(runs, time.Now()); err != nil {
		board.Note(fmt.Sprintf("old folders of runs could not be removed: %v", err))
	}
	queue := servedSeats{seats, w}
	serves := &runner.Worker{Config: runner.Config{Node: queue, Repo: e.repo, Folder: folder, Self: e.self,
		Prepare: e.project.Prepare, Models: e.models, Parallel: f.parallel, Limits: f.seatLimits(), Board: board,
		Client: func(role schemas.PipelineRole) runner.Client { return e.seating[role] }, Shield: e.shield,
		Prices: e.prices,
		Budget: cost.Budget{Cost: int64(f.maxCost * 1e6), Tokens: f.maxTokens}},
		Queue: queue, Self: seats.Self(), Role: f.role, Idle: f.idle,
		Named: func(client string) (runner.Client, error) { return config.Client(client, e.home, e.self) }}
	limited := ctx
	if f.maxTime > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, f.maxTime)
		defer cancel()
	}
	board.Note(fmt.Sprintf("waits for work, %d at once; executors work in %s", f.parallel, cli.Clean(e.repo.Top)))
	served, err := serves.Serve(limited)
	if w.AsJSON {
		if bad := w.PrintLine(map[string]any{"event": "end", "filed": served.Filed, "failed": served.Failed,
			"usage": served.Spent, "priced": served.Priced}); bad != nil {
			return bad
		}
	} else {
		w.Say("Served: %s, %d not; %s.", schemas.Count(served.Filed, "item", "items"), served.Failed,
			cli.SpentWords(served.Spent))
	}
	return err
}
