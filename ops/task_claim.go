package ops

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/roles"
	"cordelia/schemas"
	"cordelia/swarm"
	"cordelia/work"
)

var taskClaim = waits(Define(Spec{
	Name: "task_claim", Title: "Claim work", Toolset: Tasks, Effect: access.Write, Concurrent: true,
	SearchHint: "next task lease take work queue",
	Description: "Take the next work item, or get back yours: held until expires_at; any call extends " +
		"it. Then task_report. If started for one job, name it: work_id, task_id, group or swarm.",
}, claimTask), waiter[taskClaimIn, TaskClaimOut]{ready: workReady, show: shownClaim, undo: release})

type taskClaimIn struct {
	Role         string          `json:"role,omitempty" jsonschema:"of the pipeline or a swarm's slot"`
	WorkID       string          `json:"work_id,omitempty" ref:"work" jsonschema:"only it"`
	TaskID       string          `json:"task_id,omitempty" ref:"task" jsonschema:"only of it"`
	Group        schemas.GroupID `json:"group,omitempty" jsonschema:"only of it"`
	Swarm        schemas.GroupID `json:"swarm,omitempty" jsonschema:"only of it"`
	BriefPage    int             `json:"brief_page,omitempty" jsonschema:"if long"`
	LeaseSeconds int             `json:"lease_seconds,omitempty" jsonschema:"15 to 3600, else 120"`
	WaitSeconds  int             `json:"wait_seconds,omitempty" hint:"timeout,timeout_seconds" jsonschema:"0 to 50, as a task 3600"`
}

func (in taskClaimIn) wanted() work.Wanted {
	return work.Wanted{Role: in.Role, Work: in.WorkID, Task: in.TaskID, Group: in.Group, Swarm: in.Swarm}
}

// TaskClaimOut is the answer of task_claim.
type TaskClaimOut struct {
	Work *work.Claimed `json:"work,omitempty"`
	Page string        `json:"page,omitempty"` // of the brief of the work that the caller holds
	Next schemas.Hint  `json:"next"`
}

// Text says what to do, and all that is needed to do it.
func (o TaskClaimOut) Text() string {
	if o.Work == nil {
		return lines(o.Page, o.Next.String())
	}
	return leaseText(*o.Work) + "\n" + o.Next.String()
}

// noWork says what to do when there is none, and nothing is wrong.
func (in taskClaimIn) noWork() schemas.Hint {
	return schemas.Hintf("there is no work for you now; to wait for some: %s", in.again())
}

// reportWith is the call that ends a lease.
func reportWith(c work.Claimed) schemas.Hint {
	args := []any{"work_id", short(c.WorkID), "fence", c.Fence, "outcome", work.Done, "result", schemas.Blank("{…}")}
	if c.Brief.ReportSchema != nil {
		args = append(args, "evidence", schemas.Blank("[…]"))
	}
	return schemas.Hintf("report with %s", schemas.Tool("task_report", args...))
}

func claimTask(ctx context.Context, c *Call, in taskClaimIn) (TaskClaimOut, error) {
	lease, err := work.CheckLease(time.Duration(in.LeaseSeconds) * time.Second)
	if err != nil {
		return TaskClaimOut{}, err
	}
	wait, err := c.waitOf(in.WaitSeconds)
	if err != nil {
		return TaskClaimOut{}, err
	}
	return awaiting(ctx, c, wait,
		func(left time.Duration) (TaskClaimOut, error) { return c.claimOnce(ctx, in, lease, left) },
		func(limited context.Context, woken <-chan struct{}) error {
			return c.awaitWork(limited, in.wanted(), woken)
		})
}

// errEnded ends a claim that found nothing while seats of tasks had ended: the next step of their
// tasks may offer work.
var errEnded = errors.New("ops: seats have ended")

// claimOnce claims, or says that there is nothing: errNotYet while time is left.
func (c *Call) claimOnce(ctx context.Context, in taskClaimIn, lease, left time.Duration) (TaskClaimOut, error) {
	out, err := c.claimFrom(ctx, in, lease, left, true)
	if errors.Is(err, errEnded) {
		if err := c.Node.ReapWork(ctx); err != nil { // an error of another task must not fail this claim
			slog.Warn("work items", "err", err)
		}
		out, err = c.claimFrom(ctx, in, lease, left, false)
	}
	if err == nil {
		c.seeFiles(ctx, out.Work)
	}
	return out, err
}

// seeFiles records the state of the files of machine checks before an agent learns that it works
// on them.
func (c *Call) seeFiles(ctx context.Context, claimed *work.Claimed) {
	if claimed == nil || claimed.Resumed {
		return
	}
	if err := c.Node.SeeFiles(ctx, claimed.WorkID); err != nil {
		slog.Warn("files of machine checks", "work", claimed.WorkID, "err", err)
	}
}

// claimFrom claims from what there is; ended = true has it stop at seats that ended.
func (c *Call) claimFrom(ctx context.Context, in taskClaimIn, lease, left time.Duration,
	ended bool) (TaskClaimOut, error) {
	return Transact(ctx, c, func(g access.Grant) (out TaskClaimOut, err error) {
		claimed, ok, err := c.claimNear(g, in.wanted(), lease)
		if err == nil && !ok && ended {
			if due, bad := c.Node.WorkDue(g); bad != nil || due {
				return out, cmp.Or(bad, errEnded)
			}
		}
		switch {
		case err != nil:
		case ok && claimed.Resumed && in.BriefPage > 1:
			pages := briefPages(claimed)
			if in.BriefPage > len(pages) {
				id := short(claimed.WorkID)
				return out, schemas.Invalidf("the brief of work %s has no page %d", id, in.BriefPage).
					Expecting("a page from 1 to %d", len(pages)).
					Try("%s", schemas.Do("task_claim", "work_id", id, "brief_page", len(pages)))
			}
			out.Page, out.Next = briefPage(claimed, pages, in.BriefPage), reportWith(claimed)
		case ok: // also for a later page of what another lease was for: its fence is another
			out.Work = leavingOut(claimed)
			out.Next = reportWith(claimed)
		case left > 0:
			err = errNotYet
		default:
			if out.Next, err = nothing(g, in); err != nil {
				return out, err
			}
			if tier, _, err := g.TierOf(g.Actor(), g.Root()); err == nil &&
				(tier == schemas.Low || tier == schemas.Untrusted) {
				out.Next = schemas.Hintf("your accuracy is rated %s, and below medium an agent takes no work of groups; "+
					"%s shows it", tier, schemas.Tool("trust_score"))
			}
		}
		return out, err
	})
}

// leavingOut is a claim without the results before that are too long for an answer.
func leavingOut(c work.Claimed) *work.Claimed {
	for i := range c.Inputs {
		if c.Inputs[i].Left {
			c.Inputs[i].Result = nil
		}
	}
	return &c
}

// again is the call that waits for what was named.
func (in taskClaimIn) again() schemas.Call {
	var args []any
	for _, one := range [][2]string{{"role", in.Role}, {"work_id", in.WorkID}, {"task_id", in.TaskID},
		{"group", string(in.Group)}, {"swarm", string(in.Swarm)}} {
		if one[1] != "" {
			args = append(args, one[0], one[1])
		}
	}
	return schemas.Tool("task_claim", append(args, "wait_seconds", 50)...)
}

// nothing says what to do without work. Of a role it tells only what the caller could take itself, not what
// is offered to other agents.
func nothing(g access.Grant, in taskClaimIn) (schemas.Hint, error) {
	role := in.Role
	if in.Group != "" {
		if err := knownGroup(g, in.Group); err != nil {
			return nil, err
		}
		if hint, err := in.bySwarm(g); err != nil || hint != nil {
			return hint, err
		}
	}
	for _, id := range []string{in.WorkID, in.TaskID} {
		if id != "" && schemas.ShortID(id) == id {
			return nil, notWork(g, "task_claim", in.WorkID, notTask(g, "task_claim", in.TaskID, work.NotKnown()))
		}
	}
	if in.Swarm != "" {
		if _, err := swarm.Maker(g, in.Swarm); err != nil {
			return nil, err
		}
	}
	if !in.wanted().Any() {
		why, never, err := work.WhyNot(g, in.wanted())
		if err != nil {
			return nil, err
		}
		if never {
			return schemas.Hintf("you cannot take what you named: %s; %s takes other work", Line(why),
				schemas.Alone("task_claim")), nil
		}
		if why != "" {
			why = ": " + Line(why)
		}
		return schemas.Hintf("none of the work you named is ready for you now%s; to wait for it: %s", why,
			in.again()), nil
	}
	if role == "" || slices.Contains(strings.Split(seated, ", "), role) {
		return in.noWork(), nil
	}
	known, err := work.Offers(g, role)
	if err != nil || known {
		return in.noWork(), err
	}
	return schemas.Hintf("there is no work for you now, and none of role %q was ever offered to you: the pipeline has "+
		"%s, a swarm its slots; claim without a role for any work",
		schemas.Shorten(role, 64), seated), nil
}

// bySwarm says to an agent with a cell that the work of its swarm does not come in the swarm's own group.
func (in taskClaimIn) bySwarm(g access.Grant) (schemas.Hint, error) {
	scope, err := g.ReadScope()
	if err != nil || !slices.ContainsFunc(scope.Joined, func(id schemas.GroupID) bool {
		return swarm.IsCell(id) && strings.HasPrefix(string(id), string(in.Group)+".")
	}) {
		return nil, err
	}
	in.Swarm, in.Group = in.Group, ""
	return schemas.Hintf("your work in the swarm %s does not come in the swarm's own group; to wait for it: "+
		"%s", in.Swarm, in.again()), nil
}

// seated are the roles of the pipeline that are claimed.
const seated = "R1, R2, R3, R4a, R4b"

// claimNear claims, in the group the caller works in first, unless the caller named
// what it wants.
func (c *Call) claimNear(g access.Grant, want work.Wanted,
	lease time.Duration) (claimed work.Claimed, ok bool, err error) {
	want.Apart = c.Caller.Apart
	if want, err = ownQueue(g, want); err != nil {
		return claimed, false, err
	}
	if want.Any() {
		if want.Near, err = memory.BoundGroup(g, c.Caller.Dir); err != nil {
			return claimed, false, err
		}
	}
	return c.claim(g, want, lease)
}

// ownQueue restricts a role that names nothing to the work that was posted for it: the seats of
// others' tasks it takes by naming them.
func ownQueue(g access.Grant, want work.Wanted) (work.Wanted, error) {
	if !want.Any() || want.Role != "" || g.IsHuman() {
		return want, nil
	}
	role, err := roles.IsRole(g)
	want.Own = role
	return want, err
}

// claim claims an item, and adds the results of earlier stages that a swarm gives with it.
func (c *Call) claim(g access.Grant, want work.Wanted,
	lease time.Duration) (got work.Claimed, ok bool, err error) {
	if got, ok, err = work.Claim(g, want, lease); err != nil || !ok {
		return got, ok, err
	}
	if got.GroupID == "" && len(got.Brief.Inputs) > 0 { // a role's, of an event from outside
		if err := c.markOutside(g, got.WorkID); err != nil {
			return got, ok, err
		}
	}
	if got.Placed && !got.Resumed {
		if err := c.Node.Tasks().Taken(g, got.WorkID); err != nil {
			return got, ok, err
		}
	}
	before := got.Inputs
	if before == nil && swarm.IsCell(got.GroupID) {
		if before, err = c.Node.Tasks().Before(g, got.WorkID); err != nil {
			return got, ok, err
		}
	}
	return got, ok, swarm.Receive(g, &got, before)
}

// awaitWork returns when there is work for the caller, or ctx ends.
func (c *Call) awaitWork(ctx context.Context, want work.Wanted, woken <-chan struct{}) error {
	var w work.Watch
	for {
		if found, err := c.foundWork(ctx, want, &w); err != nil || found {
			return err
		}
		select {
		case <-woken:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// foundWork reports whether there is work for the caller, whose rights are only
// asked for when something has changed since w last looked.
func (c *Call) foundWork(ctx context.Context, want work.Wanted, w *work.Watch) (bool, error) {
	yes := false
	if err := c.Node.Look(ctx, c.Op.Name, func(g access.Grant) (err error) {
		yes, err = w.Stirred(g.Tx())
		return err
	}); err != nil || !yes {
		return false, err
	}
	err := c.do(ctx, c.lookOp(), func(g access.Grant) (err error) {
		want.Apart = c.Caller.Apart
		of, err := ownQueue(g, want)
		if err == nil {
			yes, err = w.Look(g, of)
		}
		return err
	})
	return err == nil && yes, lost(err, "claim work")
}

// workReady reports whether a kept claim would find work.
func workReady(ctx context.Context, c *Call, in taskClaimIn, seen *work.Watch) (bool, error) {
	return c.foundWork(ctx, in.wanted(), seen)
}

// shownClaim is a kept claim for as long as its lease lasts: what it says belongs to
// the holder of the item.
func shownClaim(g access.Grant, _ taskClaimIn, out TaskClaimOut) (TaskClaimOut, error) {
	if out.Work == nil {
		return out, nil
	}
	s, err := work.Show(g, out.Work.WorkID, false)
	if err != nil && !errors.Is(err, schemas.ErrNotFound) {
		return TaskClaimOut{}, err
	}
	if err == nil && s.State == schemas.WorkLeased && s.HolderID == g.Actor() && s.Attempts == out.Work.Attempt {
		return out, nil
	}
	return TaskClaimOut{Next: schemas.Hintf("your lease of %s is over; %s for other work", short(out.Work.WorkID),
		schemas.Do("task_claim"))}, nil
}

// release returns an item that a cancelled call claimed, unless the caller held it
// before, or was done with it.
func release(g access.Grant, out TaskClaimOut) (bool, error) {
	if out.Work == nil || out.Work.Resumed {
		return false, nil
	}
	p, err := work.NewReport(out.Work.WorkID, out.Work.Fence, work.Released, nil, nil,
		"the call that claimed it was cancelled")
	if err != nil {
		return false, err
	}
	r, err := work.File(g, p, reviewed)
	if errors.Is(err, schemas.ErrConflict) || errors.Is(err, schemas.ErrNotFound) {
		return false, nil
	}
	return err == nil && r.Counts(), err
}
