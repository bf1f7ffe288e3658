package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cordelia/pipeline/controller"
	"cordelia/run/cost"
	"cordelia/schemas"
	"cordelia/work"
)

// Pace of a seat.
const (
	keptWithin   = 5                // calls that keep a lease, in its time: some may fail
	farewell     = 20 * time.Second // to give a seat back after the run was stopped
	maxAsks      = 3                // of a client, for one judgement, until the seat failed
	firstBackoff = time.Minute      // after a limit that does not say when it ends
	mostBackoff  = 30 * time.Minute
)

// zoned is how the time of a day is shown.
const zoned = "15:04:05 -0700"

// errOver ends a run: no seat can be filled any more.
type errOver struct {
	why     string
	stopped bool // by the user or a budget
}

func (e *errOver) Error() string { return e.why }

// seat is a seat that the run fills.
type seat struct {
	*Runner
	view    controller.SeatView
	about   string // the intent of its subtask
	named   string // commit that the result names which it judges
	plain   bool   // it is plain work, and no seat of a task
	client  Client
	agent   Agent
	claimed *work.Claimed
	state   SeatState
	fell    string // why the work that was reported has failed, "" if it has not
}

// of notes what the seat is about, if that is a subtask of the view.
func (s *seat) of(v controller.View) {
	for _, sub := range v.SubTasks {
		if sub.SubTaskID == s.view.SubTaskID {
			s.about, s.named = sub.Intent, sub.Commit
		}
	}
}

// fill fills the seat: it registers an agent, claims, has the client answer and reports.
// What goes wrong with the client is reported too. An *errOver ends the run.
func (s *seat) fill(ctx context.Context) (err error) {
	if s.agent, err = s.Node.Enlist(ctx, s.Task, s.view); err != nil {
		return err
	}
	last := context.WithoutCancel(ctx)
	defer func() {
		ending, cancel := context.WithTimeout(last, farewell)
		defer cancel()
		err = errors.Join(err, s.Node.Dismiss(ending, s.agent))
	}()
	if s.claimed, err = s.Node.Claim(ctx, s.agent, s.view.WorkID); err != nil || s.claimed == nil {
		return err
	}
	return s.carry(ctx)
}

// carry fills the seat once it is claimed.
func (s *seat) carry(ctx context.Context) (err error) {
	last := context.WithoutCancel(ctx)
	s.state = SeatState{WorkID: s.view.WorkID, Role: s.view.Role, About: s.about, Agent: s.agent.Name,
		Client: s.client.Name(), Phase: Starting, Began: time.Now(),
		Usage: work.Usage{Cost: work.UnknownCost}}
	s.show(Starting, "")
	kept, release := context.WithCancelCause(ctx)
	defer release(nil)
	go s.keep(kept, release)
	if s.view.Role == schemas.Executor || s.plain {
		err = s.execute(kept)
	} else {
		err = s.judge(kept)
	}
	switch {
	case err != nil:
	case s.fell != "":
		s.show(Failing, s.fell)
		return nil
	default:
		s.show(Filed, "")
		return nil
	}
	return s.unfilled(kept, last, err)
}

// errLeaseLost is why a seat is stopped that others may have by now.
var errLeaseLost = errors.New("the lease of the seat was lost")

// unfilled does what follows from err, which kept the seat from being filled while kept
// lasted. Of a lost lease there is nothing to report, and the run goes on without it.
func (s *seat) unfilled(kept, last context.Context, err error) error {
	if lost := context.Cause(kept); errors.Is(lost, errLeaseLost) {
		s.show(GivenBack, lost.Error())
		return nil
	}
	if kept.Err() != nil { // what fails after the stop says nothing about the work
		return s.failed(last, faultf(Stopped, "%v", context.Cause(kept)))
	}
	if f, ok := errors.AsType[*Fault](err); ok {
		return s.failed(last, f)
	}
	s.show(Failing, err.Error())
	return err
}

// keep keeps the lease until ctx ends. One that is lost ends the seat.
func (s *seat) keep(ctx context.Context, lost context.CancelCauseFunc) {
	tick := time.NewTicker(max(time.Duration(s.claimed.Lease)*time.Second/keptWithin, time.Second))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		c, err := s.Node.Claim(ctx, s.agent, s.view.WorkID)
		switch code := schemas.CodeOf(err); {
		case ctx.Err() != nil:
			return
		case err == nil && (c == nil || c.Fence != s.claimed.Fence):
			lost(errLeaseLost)
			return
		case err != nil && code != schemas.CodeBusy && code != schemas.CodeUnavailable:
			lost(fmt.Errorf("%w: %w", errLeaseLost, err))
			return
		}
	}
}

// show tells the board how the seat stands.
func (s *seat) show(p Phase, doing string) {
	s.state.Phase = p
	if doing != "" || p != Working {
		s.state.Doing = doing
	}
	if p.Over() {
		s.state.Ended = time.Now()
	}
	s.board.seat(s.state)
}

// failed reports that the seat could not be filled, or gives it back if the run is over.
func (s *seat) failed(ctx context.Context, f *Fault) error {
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	r := Report{WorkID: s.view.WorkID, Fence: s.claimed.Fence, Outcome: work.Failed,
		Note: fmt.Sprintf("%s: %s", s.client.Name(), f)}
	var over error
	switch f.Kind {
	case Stopped, Limit:
		over = &errOver{f.Msg, f.Kind == Stopped}
	case NoStart, Unpaid:
		over = &errOver{fmt.Sprintf("%s cannot fill a seat: %s", s.client.Name(), f), false}
	}
	phase := Failing
	if over != nil {
		r.Outcome, phase = work.Released, GivenBack
	}
	err := s.Node.Report(ctx, s.agent, r)
	s.show(phase, f.Error())
	if over != nil {
		return over
	}
	return err
}

// judge has the client give the answer of its role, again if it was not taken.
func (s *seat) judge(ctx context.Context) error {
	files := ""
	if s.view.Role == schemas.Planner {
		tip, err := s.Repo.Tip(ctx, s.Task)
		if err != nil {
			return err
		}
		files = s.Repo.Files(ctx, tip)
	}
	if s.view.Role == schemas.MetaValidator {
		if done, err := s.conflicted(ctx); done || err != nil {
			return err
		}
	}
	commit, err := s.judged(ctx)
	if err != nil {
		return err
	}
	if s.view.Role == schemas.AgentValidator && commit != "" {
		if made, err := s.trunk.made(ctx, commit); err != nil {
			return err
		} else if !made {
			return s.allFail(ctx, notMade(commit))
		}
	}
	var seen []work.Evidence
	var edited []string
	if s.validates() {
		if edited, err = s.edited(ctx, commit); err != nil {
			return err
		}
		if seen, err = s.verify(ctx, commit); err != nil {
			return err
		}
		if len(edited) == 0 { // code cannot tell whether a check that was changed still checks
			if done, err := s.byCode(ctx, commit, seen); done || err != nil {
				return err
			}
		}
	}
	return s.askUntilTaken(ctx, commit, files, seen, edited)
}

// validates reports whether the seat is one of a validator.
func (s *seat) validates() bool {
	return s.view.Role == schemas.AgentValidator || s.view.Role == schemas.MetaValidator
}

// askUntilTaken asks the client for an answer and files it, up to maxAsks times.
func (s *seat) askUntilTaken(ctx context.Context, commit, files string, seen []work.Evidence,
	edited []string) error {
	refused := ""
	limits := s.Limits
	limits.Turns = judgingTurns
	for asked := 1; ; asked++ {
		text, err := prompt(s.claimed, files, refused, seen, edited)
		if err != nil {
			return err
		}
		answer, err := s.ask(ctx, Order{System: system(s.view.Role), Prompt: text, Schema: schemaOf(s.claimed),
			Model: s.Models[s.view.Role], Limits: limits})
		f, ok := errors.AsType[*Fault](err)
		if ok && asked < maxAsks && f.Kind.again() {
			continue
		}
		if ok && f.Kind == Refused && s.validates() {
			why := s.client.Name() + " refused to judge: " + f.Msg
			s.board.note(why)
			return s.allFail(ctx, why)
		}
		if err != nil {
			return err
		}
		err = s.file(ctx, commit, Report{WorkID: s.view.WorkID, Fence: s.claimed.Fence, Outcome: work.Done,
			Result: answer.Structured, Evidence: seen})
		if errors.Is(err, schemas.ErrSpent) { // the node has ended the lease
			s.fell = words(err)
			return nil
		}
		if !errors.Is(err, schemas.ErrInvalid) {
			return err
		}
		if refused = words(err); asked >= maxAsks {
			return faultf(NoAnswer, "%d answers were not taken, the last: %s", asked, refused)
		}
	}
}

// judgingTurns bounds a judgement: its answer, and what the client sends back of it.
const judgingTurns = 6

// again reports whether the same question may well be answered another time.
func (k FaultKind) again() bool {
	return k == NoAnswer || k == Garbled || k == Crashed || k == Hung
}

// words are those of a refusal, with each violation.
func words(err error) string {
	e, ok := errors.AsType[*schemas.Error](err)
	if !ok {
		return err.Error()
	}
	text := e.Msg
	for _, v := range e.Violations {
		text += "\n- " + v.Path + " " + v.Msg
	}
	if e.Expected != "" {
		text += "\nexpected: " + e.Expected
	}
	return text
}

// ask asks the client, keeps on record what it did, and asks again when a limit of its
// provider is over.
func (s *seat) ask(ctx context.Context, o Order) (Answer, error) {
	for wait := firstBackoff; ; wait = min(2*wait, mostBackoff) {
		if err := s.budget.Left(work.Usage{}); err != nil {
			return Answer{}, faultf(Stopped, "%v", err)
		}
		answer, err := s.once(ctx, o)
		f, ok := errors.AsType[*Fault](err)
		if !ok || f.Kind != Limit {
			return answer, err
		}
		until := f.Until
		if until.IsZero() || until.Before(time.Now()) {
			until = time.Now().Add(wait)
		}
		if end, ok := ctx.Deadline(); ok && until.After(end) {
			return answer, faultf(Limit, "%s; it ends %s, after the time this run has", f.Msg, until.Local().Format(zoned))
		}
		s.show(Postponed, fmt.Sprintf("%s; asked again at %s", f.Msg, until.Local().Format(zoned)))
		select {
		case <-time.After(time.Until(until)):
		case <-ctx.Done():
			return answer, faultf(Stopped, "%v", context.Cause(ctx))
		}
	}
}

// once asks the client once and has the node record what it did. A budget that is spent
// meanwhile stops a client that tells what it takes.
func (s *seat) once(ctx context.Context, o Order) (Answer, error) {
	var seen record
	began, before, model := time.Now(), s.state.Usage, ""
	o.held = s.Repo.Held()
	asking, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	answer, err := s.client.Ask(asking, o, func(e Event) {
		seen.note(e)
		switch e.Kind {
		case Used:
			e.Usage.Cost = s.Prices.Cost(s.client.Name(), model, e.Usage)
			s.state.Usage = cost.Sum(before, e.Usage)
			s.show(s.state.Phase, s.state.Doing)
			if err := s.budget.Left(e.Usage); err != nil {
				stop(err)
			}
		case Called:
			s.state.Calls++
			s.show(Working, e.Tool+" "+e.Input)
		case Began:
			model = e.Model
			s.payer(s.client.Name(), e.Payer)
			s.state.Doing = "" // what the node did before
			s.show(Working, "")
		case Left:
			s.board.note(s.client.Name() + ": " + e.Text)
		case Passed:
			s.board.note(fmt.Sprintf("%s cannot fill a seat, %s does: %v", e.Text, s.client.Name(), e.Fault))
			s.state.Client = s.client.Name()
		}
	})
	answer.Usage.Cost = s.Prices.Cost(s.client.Name(), answer.Model, answer.Usage)
	s.state.Usage = cost.Sum(before, answer.Usage)
	s.budget.Spend(answer.Usage)
	r := work.Run{WorkID: s.view.WorkID, Fence: s.claimed.Fence, Client: s.client.Name(), Model: answer.Model,
		Payer: answer.Payer, Outcome: work.RunAnswered,
		Records: s.view.Role == schemas.Executor, Calls: seen.calls, Usage: answer.Usage,
		Started: began.UnixMicro(), Ended: time.Now().UnixMicro()}
	if f, ok := errors.AsType[*Fault](err); ok {
		switch r.Outcome, r.Reason = work.RunFailed, f.Error(); f.Kind {
		case Limit:
			r.Outcome = work.RunPostponed
		case Stopped:
			r.Outcome = work.RunStopped
		}
	}
	keeping, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	return answer, errors.Join(err, s.Node.Record(keeping, r))
}

// conflicted answers for R4b where the accepted work does not fit together: what code
// decides is not asked of a model.
func (s *seat) conflicted(ctx context.Context) (bool, error) {
	hunks := s.trunk.conflict()
	if hunks == "" {
		return false, nil
	}
	return true, s.allFail(ctx, "subtasks that matched change the same places, so they cannot be merged:\n"+hunks)
}
