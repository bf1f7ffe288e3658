package ops

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"cordelia/access"
	"cordelia/pipeline/controller"
	"cordelia/run"
	spending "cordelia/run/cost"
	"cordelia/schemas"
	"cordelia/work"
)

// Seats is what a run asks of the node, in the name of a person and of the agents that
// it registers for single seats. It calls operations of the catalogue, so each call is
// decided as any other. The keys of those agents never leave this process.
type Seats struct {
	Node   *Service
	Person Caller
	Repo   string   // a worker's folder: it leaves the tasks of others alone; "" = a run's
	Lease  int      // seconds that a seat stays taken without a word of its runner, 0 = seatLease
	hands  sync.Map // id of an agent → its Caller
}

// seatLease is how long a seat stays taken after its run was killed, in seconds.
const seatLease = 300

func (s *Seats) lease() int { return cmp.Or(s.Lease, seatLease) }

// seatLife is how long an agent for one seat lives at most, in seconds.
const seatLife = 24 * 3600

// Submit begins a task in the group of the repository, so that only the agents of
// runs in it are offered the seats, and lessons of one task reach the next.
func (s *Seats) Submit(ctx context.Context, words, folder string) (task string, err error) {
	group := RunGroup(folder)
	known, err := s.Knows(ctx, folder)
	if err == nil && !known {
		_, err = ask[MemoryGroupOut](ctx, s.Node, s.Person, memoryGroup,
			map[string]any{"action": "create", "group": group,
				"description": "tasks that cordelia run works on in " + folder})
	}
	if err != nil {
		return "", err
	}
	out, err := ask[TaskSubmitOut](ctx, s.Node, s.Person, taskSubmit,
		map[string]any{"request": words, "group": group, "tools": run.Tools()})
	return out.TaskID, err
}

// RunGroup is the group of the tasks of a repository.
func RunGroup(folder string) schemas.GroupID {
	var slug strings.Builder
	for _, c := range strings.ToLower(filepath.Base(folder)) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			slug.WriteRune(c)
		}
	}
	sum := sha256.Sum256([]byte(folder))
	return schemas.GroupID(fmt.Sprintf(runGroups+"%.20s-%s", slug.String(), hex.EncodeToString(sum[:4])))
}

// runGroups begins the names of the groups of repositories.
const runGroups = "run-"

// apart leaves the tasks of other repositories out of what a worker claims: it cannot do
// them here, and each time it gave one back would count against that.
func (s *Seats) apart() work.Apart {
	if s.Repo == "" {
		return work.Apart{}
	}
	return work.Apart{Prefix: runGroups, But: RunGroup(s.Repo)}
}

// Belongs reports whether a task is one of a repository.
func (s *Seats) Belongs(v controller.View, folder string) bool { return v.GroupID == RunGroup(folder) }

// Knows reports whether a task was begun in a repository before.
func (s *Seats) Knows(ctx context.Context, folder string) (bool, error) {
	_, err := ask[MemoryGroupOut](ctx, s.Node, s.Person, memoryGroup,
		map[string]any{"action": "read", "group": RunGroup(folder)})
	if errors.Is(err, schemas.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Answer answers R1's questions.
func (s *Seats) Answer(ctx context.Context, task, answers string) error {
	_, err := ask[TaskSubmitOut](ctx, s.Node, s.Person, taskSubmit, map[string]any{"task_id": task, "answers": answers})
	return err
}

// View is the task with its outcomes.
func (s *Seats) View(ctx context.Context, task string) (controller.View, error) {
	out, err := ask[TaskStatusOut](ctx, s.Node, s.Person, taskStatus, map[string]any{"task_id": task, "detail": true})
	if err != nil {
		return controller.View{}, err
	}
	if out.Task == nil {
		return controller.View{}, schemas.Invalidf("%s is plain work, and no task of the pipeline", task).
			Expecting("a task that cordelia run began")
	}
	return *out.Task, nil
}

// Served is what the record has of who filled the seats of a task, in all its runs: each seat, what
// all took together, and whether the price of everything is known.
func (s *Seats) Served(ctx context.Context, task string, price work.Pricing) (list []run.SeatState,
	sum work.Usage, priced bool, err error) {
	var all []controller.Sitting
	op := access.Op{Tool: taskStatus.Name, Effect: access.Read}
	err = s.Node.Auth.Do(ctx, s.Person.Principal, op, func(g access.Grant) (err error) {
		all, err = controller.Sittings(g, task, price)
		return err
	})
	priced = true
	for _, one := range all {
		list = append(list, seatState(one))
		sum, priced = spending.Sum(sum, one.Usage), priced && !one.Unpriced
	}
	return list, sum, priced, err
}

// seatState is a lease of a seat as a run shows it.
func seatState(one controller.Sitting) run.SeatState {
	state := run.SeatState{WorkID: one.WorkID, Role: one.Role, About: one.About, Agent: one.Agent,
		Client: cmp.Or(one.Client, run.CodeName), Calls: one.Calls, Usage: one.Usage,
		Began: time.UnixMicro(one.Claimed), Phase: run.Working}
	if one.Unpriced && one.Usage.Cost == 0 {
		state.Usage.Cost = work.UnknownCost
	}
	if one.Ended != 0 {
		state.Ended, state.Phase = time.UnixMicro(one.Ended), run.GivenBack
	}
	switch one.Outcome {
	case work.Done:
		state.Phase = run.Filed
	case work.Failed:
		state.Phase = run.Failing
	}
	if state.Phase != run.Filed {
		state.Doing = one.Reason
	}
	return state
}

// Changes wakes its reader after commits.
func (s *Seats) Changes() (<-chan struct{}, func()) { return s.Node.Store.Watch() }

// handName begins the names of all agents that a task's seats were filled by.
func handName(task string) string { return "run-" + schemas.ShortID(task) + "-" }

// Enlist registers an agent that can do what one seat takes, for a day at most. Its key
// is made here and kept in memory alone.
func (s *Seats) Enlist(ctx context.Context, task string, seat controller.SeatView) (a run.Agent, err error) {
	v, err := s.View(ctx, task)
	if err != nil {
		return a, err
	}
	tools := []string{taskClaim.Name, taskReport.Name}
	if seat.Role == schemas.Executor {
		tools = append(tools, taskStatus.Name, memorySearch.Name, memoryReadWarm.Name)
	}
	return s.register(ctx, seatAgent{
		name:    fmt.Sprintf("%s%s-%s", handName(task), strings.ToLower(string(seat.Role)), schemas.NewID()[32:]),
		display: fmt.Sprintf("%s of %s", seat.Role, schemas.ShortID(task)), groups: []schemas.GroupID{v.GroupID},
		tools: tools, life: seatLife, autonomous: true, session: "run-" + schemas.ShortID(task)})
}

// Hand is the caller that acts as an agent of this run.
func (s *Seats) Hand(a run.Agent) (Caller, error) {
	hand, ok := s.hands.Load(a.ID)
	if !ok {
		return Caller{}, schemas.NotFoundf("%s fills no seat of this run", a.Name)
	}
	return hand.(Caller), nil
}

// Dismiss ends an agent with its lease.
func (s *Seats) Dismiss(ctx context.Context, a run.Agent) error {
	if hand, ok := s.hands.LoadAndDelete(a.ID); ok {
		defer hand.(Caller).key.Erase()
	}
	_, err := ask[AgentMoveOut](ctx, s.Node, s.Person, agentDeactivate,
		map[string]any{"agent": a.ID, "reason": "its seat is over"})
	return err
}

// DismissAll ends the agents that earlier runs of a task left when they were killed: what
// they held can be taken again.
func (s *Seats) DismissAll(ctx context.Context, task string) error {
	for cursor := ""; ; {
		in := map[string]any{"limit": 100}
		if cursor != "" {
			in["cursor"] = cursor
		}
		out, err := ask[AgentListOut](ctx, s.Node, s.Person, agentList, in)
		if err != nil {
			return err
		}
		for _, a := range out.Agents {
			if strings.HasPrefix(a.Name, handName(task)) && a.Parent == s.Person.Entity {
				if err := s.Dismiss(ctx, run.Agent{ID: a.AgentID, Name: a.Name}); err != nil {
					return err
				}
			}
		}
		if cursor = out.Cursor; cursor == "" {
			return nil
		}
	}
}

// Claim takes one seat for an agent of this run, nil if it cannot be taken.
func (s *Seats) Claim(ctx context.Context, a run.Agent, workID string) (*work.Claimed, error) {
	hand, err := s.Hand(a)
	if err != nil {
		return nil, err
	}
	out, err := ask[TaskClaimOut](ctx, s.Node, hand, taskClaim,
		map[string]any{"work_id": workID, "lease_seconds": s.lease()})
	return out.Work, err
}

// Report files what became of a seat.
func (s *Seats) Report(ctx context.Context, a run.Agent, r run.Report) error {
	hand, err := s.Hand(a)
	if err != nil {
		return err
	}
	in := map[string]any{"work_id": r.WorkID, "fence": r.Fence, "outcome": r.Outcome}
	if len(r.Result) > 0 {
		in["result"] = r.Result
	}
	if r.Evidence != nil {
		in["evidence"] = r.Evidence
	}
	if r.Note != "" {
		in["note"] = r.Note
	}
	_, err = ask[TaskReportOut](ctx, s.Node, hand, taskReport, in)
	return err
}

// Record keeps what a client really did. It is the node's own doing: no agent reaches it.
func (s *Seats) Record(ctx context.Context, r work.Run) error {
	return s.Node.Routine(ctx, "task_record", func(g access.Grant) error { return work.Record(g, r) })
}
