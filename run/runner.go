package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cordelia/pipeline/controller"
	"cordelia/run/cost"
	"cordelia/run/git"
	"cordelia/schemas"
	"cordelia/work"
)

// Config of a run.
type Config struct {
	Node     Node
	Repo     *git.Repository
	Task     string
	Folder   string // for worktrees
	Self     string // path of this program, which supervises and confines
	Client   func(schemas.PipelineRole) Client
	Models   map[schemas.PipelineRole]string // "" = the client's own choice
	Prepare  string                          // a command that runs in each worktree before it is used, "" = none
	Parallel int                             // seats at once
	PlanOnly bool                            // it stops once there is a plan
	Limits   Limits                          // of one seat
	Budget   cost.Budget
	Prices   cost.Prices // of clients that name none
	Board    Board
	// Shield gives what an executor may reach; place is a folder for it alone.
	Shield func(place string, w *git.Worktree, door string) (Shield, error)
	// Ask asks the user R1's questions; nil goes on without.
	Ask func(ctx context.Context, questions []string) (answers string, err error)
}

// Runner fills the seats of one task.
type Runner struct {
	Config
	trunk  *trunk
	budget *cost.Purse
	board  *boards
	payers sync.Map // client and payer → true: shown already
}

// Ending is how a run ended.
type Ending struct {
	View    controller.View
	Why     string // it ended before the task did
	Planned bool   // it stopped at the plan, as the user asked
	Spent   work.Usage
	Priced  bool // the price of everything is known
	Branch  string
	Base    string
	Tip     string
	Judged  string // the commit that R4b judged, "" if it judged none
}

// New makes a runner.
func New(c Config) *Runner {
	c.Parallel = max(c.Parallel, 1)
	return &Runner{Config: c, trunk: &trunk{repo: c.Repo, task: c.Task},
		budget: cost.NewPurse(c.Budget), board: &boards{to: c.Board}}
}

// Run fills seats until the task is over, or none can be filled. The error is a failure
// of the node or of git; how the task went is in the ending.
func (r *Runner) Run(ctx context.Context) (Ending, error) {
	why := r.run(ctx)
	if _, over := errors.AsType[*errOver](why); why != nil && !over && ctx.Err() != nil {
		why = stopped(ctx) // what fails after the stop says nothing about the work
	}
	return r.ending(context.WithoutCancel(ctx), why)
}

// stopped is the end of a run that was stopped from outside.
func stopped(ctx context.Context) *errOver { return &errOver{context.Cause(ctx).Error(), true} }

// run fills seats until the task is over (nil) or the run is.
func (r *Runner) run(ctx context.Context) error {
	if err := r.Node.DismissAll(ctx, r.Task); err != nil {
		return err
	}
	if _, err := r.Repo.Tip(ctx, r.Task); err != nil {
		return err
	}
	if err := r.Repo.Clear(ctx, r.Folder); err != nil {
		return err
	}
	woken, stop := r.Node.Changes()
	defer stop()
	filling, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f := &filler{Runner: r, busy: map[string]bool{}, done: make(chan filled)}
	why := r.loop(filling, f, woken)
	cancel(why)
	f.await()
	return why
}

// look is how often the task is looked at when nothing wakes the run.
const look = time.Second

// errPlanned ends a run that was to stop at the plan.
var errPlanned = &errOver{"there is a plan", true}

// loop looks at the task and fills seats, until the task is over (nil) or the run is.
func (r *Runner) loop(ctx context.Context, f *filler, woken <-chan struct{}) error {
	tick := time.NewTicker(look)
	defer tick.Stop()
	for {
		v, err := r.Node.View(ctx, r.Task)
		if ctx.Err() != nil {
			return stopped(ctx)
		}
		if err != nil {
			return err
		}
		r.board.task(v)
		if v.State.Final() {
			return nil
		}
		planned := r.PlanOnly && v.State == schemas.TaskRunning
		if planned && len(f.busy) == 0 {
			return errPlanned
		}
		if err := r.trunk.gather(ctx, v); err != nil {
			return err
		}
		if v.State == schemas.TaskClarifying {
			if err := r.clarify(ctx, v); err != nil {
				return err
			}
			continue
		}
		if !planned && f.start(ctx, v) == 0 && len(f.busy) == 0 && waitsForPerson(v) {
			return &errOver{"the task waits for a person", false}
		}
		select {
		case <-ctx.Done():
		case <-woken:
		case <-tick.C:
		case one := <-f.done:
			delete(f.busy, one.workID)
			if over, ok := errors.AsType[*errOver](one.err); ok {
				return over
			}
			if one.err != nil && ctx.Err() == nil {
				r.board.note(fmt.Sprintf("a seat was not filled: %v", one.err))
				f.failures++
			}
			if f.failures > maxFailures {
				return fmt.Errorf("too many seats could not be filled, the last: %w", one.err)
			}
		}
	}
}

// maxFailures is how often a run goes on after the node or git failed it.
const maxFailures = 5

// waitsForPerson reports whether only a person can move the task.
func waitsForPerson(v controller.View) bool {
	for _, s := range v.Seats {
		if s.State != schemas.WorkHeld && s.State != schemas.WorkBlocked {
			return false
		}
	}
	return v.State == schemas.TaskReview || len(v.Seats) > 0
}

// clarify answers R1's questions.
func (r *Runner) clarify(ctx context.Context, v controller.View) error {
	answers := ""
	if r.Ask != nil {
		var err error
		if answers, err = r.Ask(ctx, v.Questions); err != nil {
			return err
		}
	} else {
		for _, q := range v.Questions {
			r.board.note("asked: " + q)
		}
		r.board.note("this run cannot ask you: it goes on without an answer; say more in your words, or run it at a terminal")
	}
	return r.Node.Answer(ctx, r.Task, answers)
}

// filler fills seats, several at once.
type filler struct {
	*Runner
	busy     map[string]bool // seats this run fills, by work id
	done     chan filled
	failures int
}

// filled is how filling a seat ended.
type filled struct {
	workID string
	err    error
}

// start begins to fill what can be filled, and says how many those are.
func (f *filler) start(ctx context.Context, v controller.View) (begun int) {
	for _, one := range v.Seats {
		if one.State != schemas.WorkReady || f.busy[one.WorkID] || len(f.busy) >= f.Parallel {
			continue
		}
		f.busy[one.WorkID] = true
		begun++
		s := &seat{Runner: f.Runner, view: one, client: f.Client(one.Role)}
		s.of(v)
		go func() { f.done <- filled{one.WorkID, s.fill(ctx)} }()
	}
	return begun
}

// await waits for the seats that are still being filled.
func (f *filler) await() {
	for range len(f.busy) {
		<-f.done
	}
}

// ending sums the run up.
func (r *Runner) ending(ctx context.Context, why error) (e Ending, err error) {
	over, isOver := errors.AsType[*errOver](why)
	if why != nil && !isOver {
		return e, why
	}
	if e.View, err = r.Node.View(ctx, r.Task); err != nil {
		return e, err
	}
	if isOver {
		e.Why, e.Planned = over.why, over == errPlanned
	}
	e.Spent, e.Priced = r.budget.Total()
	e.Branch, e.Base = git.Branch(r.Task), r.Repo.Base
	if e.Tip, err = r.Repo.BranchTip(ctx, r.Task); err != nil { // a branch that was deleted is not made again
		return e, err
	}
	e.Tip = cmp.Or(e.Tip, e.Base)
	if e.Judged, err = r.Repo.Kept(ctx, r.Task, judged); err != nil {
		return e, err
	}
	if !e.View.State.Final() {
		return e, nil
	}
	if err := r.Repo.Forget(ctx, r.Task); err != nil {
		r.board.note(fmt.Sprintf("commits that the task kept stay in the repository: %v; "+
			"then run it again with --resume %s", err, schemas.ShortID(r.Task)))
	}
	return e, nil
}

// payer tells once who pays for a client.
func (r *Runner) payer(client, payer string) {
	if _, told := r.payers.LoadOrStore(client+"\x00"+payer, true); !told && payer != "" {
		r.board.note(fmt.Sprintf("%s takes its credentials from: %s", client, payer))
	}
}

// boards tells a board one thing at a time.
type boards struct {
	mu sync.Mutex
	to Board
}

func (b *boards) each(f func(Board)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.to != nil {
		f(b.to)
	}
}

func (b *boards) task(v controller.View) { b.each(func(to Board) { to.Task(v) }) }
func (b *boards) seat(s SeatState)       { b.each(func(to Board) { to.Seat(s) }) }
func (b *boards) note(text string)       { b.each(func(to Board) { to.Note(text) }) }
