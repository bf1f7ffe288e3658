package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cordelia/pipeline/controller"
	"cordelia/run/cost"
	"cordelia/schemas"
	"cordelia/work"
)

// Queue is what a worker needs of the node beside what a run does.
type Queue interface {
	Node
	// Next waits for work and claims it, nil if none came.
	Next(ctx context.Context, a Agent, role string, wait time.Duration) (*work.Claimed, error)
	// SeatOf gives the seat that an item is, with its task; ok is false for plain work.
	SeatOf(ctx context.Context, workID string) (v controller.View, s controller.SeatView, ok bool, err error)
	// Hire registers another agent that takes work as the worker does.
	Hire(ctx context.Context) (Agent, error)
}

// Worker serves the queue: what its agents may take is done by its clients, in worktrees of
// one repository, also of other submitters.
type Worker struct {
	Config       // Task is set for each item; Node is the queue
	Queue  Queue // the same node
	Named  func(client string) (Client, error)
	Self   *Agent        // takes work beside those that are hired, nil = none
	Role   string        // the one it takes work of, "" = any
	Idle   time.Duration // ends it after so long without work, 0 = never

	mu     sync.Mutex
	purse  *cost.Purse
	boards *boards
	tasks  map[string]*Runner
	seats  map[string]string // of those tasks: one seat each, by which it is asked for
	served Served
	active int
	last   time.Time // work was there
}

// Served is what a worker did.
type Served struct {
	Filed  int // items whose answer was filed
	Failed int // that could not be done, or were given back
	Spent  work.Usage
	Priced bool
}

// Pace of a worker.
const (
	waitForWork = 20 * time.Second // in one call
	afterMiss   = time.Second      // of what may be there again at once
	afterError  = time.Second / 2  // after the first of items that could not be done, in a row; then doubled
	mostPause   = time.Minute
)

// Serve takes work until ctx ends, nothing came for long enough, or no seat can be filled
// any more. What its agents hold then is given back.
func (w *Worker) Serve(ctx context.Context) (Served, error) {
	w.purse = cost.NewPurse(w.Budget)
	w.boards, w.last = &boards{to: w.Board}, time.Now()
	w.tasks, w.seats = map[string]*Runner{}, map[string]string{}
	serving, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var hands sync.WaitGroup
	for n := range w.Parallel {
		hands.Go(func() {
			if err := w.hand(serving, n == 0 && w.Self != nil); err != nil {
				stop(err)
			}
		})
	}
	if w.Idle > 0 {
		go w.watchIdle(serving, stop)
	}
	hands.Wait()
	w.tidy(context.WithoutCancel(ctx))
	w.served.Spent, w.served.Priced = w.purse.Total()
	err := context.Cause(serving)
	if over, ok := errors.AsType[*errOver](err); ctx.Err() != nil || ok && over.stopped {
		err = nil
	}
	return w.served, err
}

// errIdle ends a worker that found nothing to do.
var errIdle = &errOver{"there was no work", true}

// watchIdle ends the worker once there was no work for long enough.
func (w *Worker) watchIdle(ctx context.Context, stop context.CancelCauseFunc) {
	tick := time.NewTicker(w.Idle / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		w.mu.Lock()
		idle := w.active == 0 && time.Since(w.last) > w.Idle
		w.mu.Unlock()
		if idle {
			stop(errIdle)
			return
		}
	}
}

// hand takes one item after the other, as the worker's own agent or as one that is hired. It
// ends with an error once it cannot go on: by what refuses its agent, or after too many items
// in a row that the node or git kept it from.
func (w *Worker) hand(ctx context.Context, own bool) (err error) {
	var a Agent
	if own {
		a = *w.Self
	}
	defer func() {
		if !own && a.ID != "" {
			err = errors.Join(err, w.dismiss(ctx, a))
		}
	}()
	for failures := 0; ctx.Err() == nil; {
		if !own && a.ID != "" && time.Now().After(a.Renew) {
			gone := a
			a = Agent{}
			if err := w.dismiss(ctx, gone); err != nil {
				return err
			}
		}
		if a.ID == "" {
			if a, err = w.Queue.Hire(ctx); err != nil {
				return err
			}
		}
		claimed, err := w.Queue.Next(ctx, a, w.Role, waitForWork)
		switch code := schemas.CodeOf(err); {
		case ctx.Err() != nil:
			return nil
		case err == nil && claimed != nil:
			err = w.do(ctx, a, claimed)
			if over, ok := errors.AsType[*errOver](err); ok {
				return over
			}
			if failures++; err == nil {
				failures = 0
			}
		case err == nil:
			failures = 0
			w.tidy(ctx)
		case !own && (code == schemas.CodeRevoked || code == schemas.CodeUnauthenticated):
			a = Agent{} // its time is over: another one goes on
			failures++
		case code != schemas.CodeBusy && code != schemas.CodeUnavailable:
			return schemas.Errorf(code, "%s cannot take work: %s", a.Name, schemas.MessageOf(err)).
				Try("see whether it may: cordelia agent list").Because(err)
		default:
			pause(ctx, afterMiss)
		}
		if err := afterFailures(ctx, failures, err); err != nil {
			return err
		}
	}
	return nil
}

// afterFailures waits, longer after each failure in a row, and gives up after too many.
func afterFailures(ctx context.Context, failures int, last error) error {
	switch {
	case failures >= maxFailures:
		e := schemas.Errorf(schemas.CodeUnavailable, "%d items in a row could not be done, the last: %s", failures,
			schemas.MessageOf(last)).Try("mend that, then start the worker again").Because(last)
		if why, ok := errors.AsType[*schemas.Error](last); ok && len(why.Hint) > 0 {
			e.Hint = why.Hint
		}
		return e
	case failures > 0 && last != nil:
		pause(ctx, min(afterError<<(failures-1), mostPause))
	}
	return nil
}

// dismiss ends an agent that was hired, also where the worker is ending.
func (w *Worker) dismiss(ctx context.Context, a Agent) error {
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	return w.Queue.Dismiss(ending, a)
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// do has a client do one item. One that the node or git keeps it from is given back, with an
// error that says why.
func (w *Worker) do(ctx context.Context, a Agent, c *work.Claimed) error {
	w.busy(1)
	defer w.busy(-1)
	phase, err := w.carry(ctx, a, c)
	w.count(phase)
	if _, ok := errors.AsType[*errOver](err); ok || err == nil {
		return err
	}
	w.boards.note(fmt.Sprintf("an item was given back: %v", err))
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	bad := w.Queue.Report(ending, a, Report{WorkID: c.WorkID, Fence: c.Fence, Outcome: work.Released,
		Note: schemas.Shorten(err.Error(), maxClaim)})
	if errors.Is(bad, schemas.ErrConflict) || errors.Is(bad, schemas.ErrNotFound) {
		bad = nil // its lease was over
	}
	return errors.Join(err, bad)
}

// carry has a client do one item, and gives how that stands.
func (w *Worker) carry(ctx context.Context, a Agent, c *work.Claimed) (Phase, error) {
	v, view, seated, err := w.Queue.SeatOf(ctx, c.WorkID)
	if err != nil {
		return Failing, err
	}
	if !seated {
		v.TaskID, view.WorkID = c.WorkID, c.WorkID // with its own branch
	}
	r := w.runner(v.TaskID, c.WorkID)
	if err := r.trunk.gather(ctx, v); err != nil {
		return Failing, err
	}
	s := &seat{Runner: r, view: view, about: firstLine(c.Intent), plain: !seated, agent: a, claimed: c}
	s.of(v)
	if s.client = w.Client(view.Role); !seated {
		s.client = w.Client(schemas.Executor)
	}
	if name := s.means().Client; name != "" {
		if s.client, err = w.Named(name); err != nil {
			return Failing, schemas.Errorf(schemas.CodeOf(err), "the recipe of item %s names a client: %s",
				schemas.ShortID(c.WorkID), schemas.MessageOf(err)).
				Try("the item keeps its recipe: have that client here; or cordelia task cancel %s, mend the recipe, and "+
					"submit it anew", schemas.ShortID(c.TaskID)).Because(err)
		}
	}
	err = s.carry(ctx)
	return s.state.Phase, err
}

// tidy forgets the tasks that are over, with what only their attempts needed.
func (w *Worker) tidy(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for task, seat := range w.seats {
		v, _, seated, err := w.Queue.SeatOf(ctx, seat)
		if err != nil || seated && !v.State.Final() {
			continue
		}
		if err := w.tasks[task].Repo.Forget(ctx, task); err == nil {
			delete(w.tasks, task)
			delete(w.seats, task)
		}
	}
}

// busy notes that an item is begun, or is over.
func (w *Worker) busy(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.active, w.last = w.active+n, time.Now()
}

func (w *Worker) count(p Phase) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p == Filed {
		w.served.Filed++
	} else {
		w.served.Failed++
	}
}

// runner fills the seats of one task.
func (w *Worker) runner(task, seat string) *Runner {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := w.tasks[task]
	if r == nil {
		config := w.Config
		config.Task = task
		r = New(config)
		r.budget, r.board = w.purse, w.boards
		w.tasks[task], w.seats[task] = r, seat
	}
	return r
}
