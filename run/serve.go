package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cordelia/pipeline/controller"
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
	// Elsewhere reports whether a group's tasks are about another repository.
	Elsewhere(group schemas.GroupID, folder string) bool
}

// Worker serves the queue: what its agents may take is done by its clients, in worktrees of
// one repository, also of other submitters.
type Worker struct {
	Config               // Task is set for each item; Node is the queue
	Queue  Queue         // the same node
	Self   *Agent        // takes work beside those that are hired, nil = none
	Role   string        // the one it takes work of, "" = any
	Idle   time.Duration // ends it after so long without work, 0 = never

	mu     sync.Mutex
	purse  *purse
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
)

// Serve takes work until ctx ends, nothing came for long enough, or no seat can be filled
// any more. What its agents hold then is given back.
func (w *Worker) Serve(ctx context.Context) (Served, error) {
	w.purse = &purse{Budget: w.Budget}
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
	w.served.Spent, w.served.Priced = w.purse.total()
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

// hand takes one item after the other, as the worker's own agent or as one that is hired.
func (w *Worker) hand(ctx context.Context, own bool) (err error) {
	var a Agent
	if own {
		a = *w.Self
	}
	defer func() {
		if !own && a.ID != "" {
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
			defer cancel()
			err = errors.Join(err, w.Queue.Dismiss(ending, a))
		}
	}()
	for ctx.Err() == nil {
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
			if err := w.do(ctx, a, claimed); err != nil {
				return err
			}
		case err == nil:
			w.tidy(ctx)
		case !own && (code == schemas.CodeRevoked || code == schemas.CodeUnauthenticated):
			a = Agent{} // its time is over: another one goes on
		case code != schemas.CodeBusy && code != schemas.CodeUnavailable:
			return err
		default:
			pause(ctx, afterMiss)
		}
	}
	return nil
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// do has a client do one item.
func (w *Worker) do(ctx context.Context, a Agent, c *work.Claimed) error {
	w.busy(1)
	defer w.busy(-1)
	v, view, seated, err := w.Queue.SeatOf(ctx, c.WorkID)
	if err != nil {
		return err
	}
	if !seated {
		v.TaskID, view.WorkID = c.WorkID, c.WorkID // a branch of its own
	}
	if w.Queue.Elsewhere(c.GroupID, w.Repo.Top) {
		defer pause(ctx, time.Minute)
		return w.Queue.Report(ctx, a, Report{WorkID: c.WorkID, Fence: c.Fence, Outcome: work.Released,
			Note: "it is about another repository than " + w.Repo.Top})
	}
	r := w.runner(v.TaskID, c.WorkID)
	if err := r.trunk.gather(ctx, v); err != nil {
		return err
	}
	s := &seat{Runner: r, view: view, about: firstLine(c.Intent), plain: !seated, agent: a, claimed: c}
	for _, sub := range v.SubTasks {
		if sub.SubTaskID == view.SubTaskID {
			s.about = sub.Intent
		}
	}
	if s.client = w.Client(view.Role); !seated {
		s.client = w.Client(schemas.Executor)
	}
	err = s.carry(ctx)
	w.count(s.state.Phase)
	if over, ok := errors.AsType[*errOver](err); ok || err == nil {
		if over != nil {
			return over
		}
		return nil
	}
	w.boards.note(fmt.Sprintf("an item was not done: %v", err))
	return nil
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
		if err := w.tasks[task].trunk.forget(ctx); err == nil {
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
