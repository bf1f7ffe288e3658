package node

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"cordelia/access"
	"cordelia/internal/machinecheck"
	"cordelia/pipeline/controller"
	"cordelia/schemas"
)

const (
	// checkWait is how long a report waits for its machine checks by default.
	checkWait = 5 * time.Second
	// checkSlack is how much longer than its time limit a check may take to be noted.
	checkSlack = 30 * time.Second
	// UntilChecked has a report wait until its checks are made: for a process that ends
	// with its call.
	UntilChecked = 24 * time.Hour

	// ChecksRun is what AwaitChecks says of checks that take longer.
	ChecksRun = "machine checks run now and decide it; task_status shows what they find"
)

// checking are the reports whose checks this process runs. The zero value is ready to use.
type checking struct {
	mu   sync.Mutex
	runs map[int64]*checkRun
}

// checkRun is one of them; led may be read once done is closed.
type checkRun struct {
	done chan struct{}
	led  string
	task schemas.TaskState
}

// AwaitChecks starts the machine checks of a report and gives in words what they led to or, if
// they take longer than a report waits, that they run; task is the state the task came to.
func (n *Node) AwaitChecks(ctx context.Context, item int64) (led string, task schemas.TaskState) {
	run := n.startChecks(item)
	limit := time.NewTimer(n.CheckWait)
	defer limit.Stop()
	select {
	case <-run.done:
		if run.led != "" {
			return run.led, run.task
		}
	case <-limit.C:
	case <-ctx.Done():
	}
	return ChecksRun, ""
}

// startChecks runs the checks of a report in the background, once.
func (n *Node) startChecks(item int64) *checkRun {
	n.checking.mu.Lock()
	defer n.checking.mu.Unlock()
	if run := n.checking.runs[item]; run != nil {
		return run
	}
	if n.checking.runs == nil {
		n.checking.runs = map[int64]*checkRun{}
	}
	run := &checkRun{done: make(chan struct{})}
	n.checking.runs[item] = run
	n.background(func(ctx context.Context) {
		defer func() {
			n.checking.mu.Lock()
			delete(n.checking.runs, item)
			n.checking.mu.Unlock()
			close(run.done)
		}()
		var err error
		if run.led, run.task, err = n.makeChecks(ctx, item); err != nil && ctx.Err() == nil {
			slog.Warn("machine checks", "err", err)
		}
	})
	return run
}

// dueChecks finds reports that no process checks: their process ended.
func (n *Node) dueChecks(g access.Grant) (func(context.Context) error, error) {
	items, err := controller.ToCheck(g)
	if err != nil || len(items) == 0 {
		return nil, err
	}
	return func(context.Context) error {
		for _, item := range items {
			n.startChecks(item)
		}
		return nil
	}, nil
}

// makeChecks runs the checks of a report outside of any transaction and notes what they
// found. A process that is ended in between leaves them to another.
func (n *Node) makeChecks(ctx context.Context, item int64) (led string, task schemas.TaskState, err error) {
	const name = "task_checks"
	until := func() int64 {
		limit := n.checks.Timeout
		if limit == 0 {
			limit = machinecheck.DefaultTimeout
		}
		return n.Now().Add(limit + checkSlack).UnixMicro()
	}
	var need *controller.Unchecked
	if err := n.Routine(ctx, name, func(g access.Grant) (err error) {
		need, err = n.tasks.TakeChecks(g, item, until())
		return err
	}); err != nil || need == nil {
		return "", "", err
	}
	found := []controller.Finding{}
	for i, one := range need.Checks {
		if i > 0 {
			if err := n.Routine(ctx, name,
				func(g access.Grant) error { return n.tasks.KeepChecks(g, item, until()) }); err != nil {
				return "", "", err
			}
		}
		env := n.checks
		env.Before = one.Before
		passed, e, err := machinecheck.Run(ctx, env, one.Check, time.UnixMicro(need.Since))
		if ctx.Err() != nil {
			left, end := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer end()
			return "", "", n.Routine(left, name,
				func(g access.Grant) error { return n.tasks.KeepChecks(g, item, g.Tx().Micros()) })
		}
		found = append(found, controller.Found(one.Criterion, passed, e, err))
	}
	err = n.Routine(ctx, name, func(g access.Grant) (err error) {
		led, task, err = n.tasks.Checked(g, item, found)
		return err
	})
	return led, task, err
}

// SeeFiles notes what the files are like that machine checks of a task look at, before an agent
// that claimed one of its first seats learns of it. What cannot be looked at is left to the
// times of the file.
func (n *Node) SeeFiles(ctx context.Context, workID string) error {
	if len(n.checks.Roots) == 0 {
		return nil
	}
	var task int64
	var paths []string
	if err := n.Look(ctx, "task_files", func(g access.Grant) (err error) {
		task, paths, err = controller.Unseen(g, workID)
		return err
	}); err != nil || len(paths) == 0 {
		return err
	}
	sums := map[string][]string{}
	for _, path := range paths {
		list, err := machinecheck.Sums(ctx, n.checks, path)
		if err != nil {
			slog.Warn("files of machine checks", "err", err)
			continue
		}
		sums[path] = list
	}
	return n.Routine(ctx, "task_files", func(g access.Grant) error { return controller.Seen(g, task, sums) })
}
