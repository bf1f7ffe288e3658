package console

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"cordelia/memory"
	"cordelia/ops"
	"cordelia/pipeline/controller"
	"cordelia/review"
	"cordelia/schemas"
	"cordelia/work"
)

// nowPage is what waits for the person, and what their agents do.
type nowPage struct {
	Waiting []review.Entry
	More    bool
	Held    []heldItem
	Asking  []ops.Question
	Relayed []ops.RelayedVerdict
	Doing   []doing
	Given   []work.Status // given up, so that the person has to decide
	Tasks   []controller.Entry
	ops.NodeStatus
}

// heldItem instructs agents and waits for the person's release.
type heldItem struct {
	memory.Item
	By string // a name
}

// doing is an agent at work.
type doing struct {
	work.Status
	For   string // who submitted it: a name
	Stuck string // why it may not go on by itself, "" if it does
	Cost  string // of the agent, today
}

// How much the first page shows of each kind that waits, and of the tasks under way.
const (
	maxShown     = 20
	mostUnderWay = 30
)

// now shows the first page.
func (c *Console) now(ctx context.Context, v *visit) (page view, err error) {
	var p nowPage
	if p.NodeStatus, err = v.node.Status(ctx, v.caller); err != nil {
		return page, err
	}
	p.Tasks = p.NodeStatus.Tasks[:min(len(p.NodeStatus.Tasks), mostUnderWay)]
	list, err := ask[ops.ReviewListOut](ctx, v, "review_list", map[string]any{"limit": maxShown})
	if err != nil {
		return page, err
	}
	p.Waiting, p.More = list.Waiting, list.NextCursor != ""
	held, err := v.node.Held(ctx, v.caller)
	if err != nil {
		return page, err
	}
	for _, item := range held {
		p.Held = append(p.Held, heldItem{item, v.nameOf(ctx, item.Author)})
	}
	if p.Relayed, err = v.node.RelayedVerdicts(ctx, v.caller); err != nil {
		return page, err
	}
	if p.Asking, err = v.node.Questions(ctx, v.caller, maxShown); err != nil {
		return page, err
	}
	if p.NodeStatus.Waiting.Blocked > 0 {
		given, err := ask[ops.TaskStatusOut](ctx, v, "task_status", map[string]any{"state": schemas.WorkBlocked,
			"limit": maxShown})
		if err != nil {
			return page, err
		}
		p.Given = given.Items
	}
	p.Doing, err = c.doings(ctx, v, p.Running)
	return view{template: "now", title: "Now", body: p}, err
}

// doings are the items that agents hold, a row each.
func (c *Console) doings(ctx context.Context, v *visit, running []work.Status) (list []doing, err error) {
	if len(running) == 0 {
		return nil, nil
	}
	costs, err := v.node.Costs(ctx, v.caller, work.ByAgent, time.Now().UTC().Truncate(24*time.Hour), c.price)
	if err != nil {
		return nil, err
	}
	today := map[string]string{}
	for _, one := range costs {
		today[one.Key] = money(one)
	}
	names := map[schemas.EntityID]string{}
	for _, s := range running {
		if names[s.Submitter] == "" {
			names[s.Submitter] = v.nameOf(ctx, s.Submitter)
		}
		list = append(list, doing{Status: s, For: names[s.Submitter], Stuck: stuck(s), Cost: cmp.Or(today[s.Holder], "–")})
	}
	return list, nil
}

// stuck says why an item may not go on by itself: its lease is over, or ran out before.
func stuck(s work.Status) string {
	switch {
	case s.LeaseLeft == 0:
		return "its lease ran out; the item goes to another agent"
	case s.Expiries > 0:
		return "taken over: " + schemas.Count(s.Expiries, "lease", "leases") + " ran out before"
	}
	return ""
}

// Further is how many tasks under way the page does not show, of those that were read.
func (p nowPage) Further() int { return len(p.NodeStatus.Tasks) - len(p.Tasks) }

// Quiet reports whether nothing waits for the person.
func (p nowPage) Quiet() bool { return p.Waits() == 0 }

// Waits is how many things wait for the person, of those that are shown.
func (p nowPage) Waits() int {
	return len(p.Waiting) + len(p.Held) + len(p.Asking) + len(p.Relayed) + len(p.Given)
}

// answer gives a task its user's answers.
func answer(ctx context.Context, v *visit) (string, error) {
	_, err := ask[ops.TaskSubmitOut](ctx, v, "task_submit", map[string]any{
		"task_id": v.r.PostFormValue("of"), "answers": v.r.PostFormValue("answers")})
	return back(v.r, ""), err
}

// release lets an item that instructs take effect, in the version that was shown.
func release(ctx context.Context, v *visit) (string, error) {
	version, err := number(v.r.PostFormValue("version"))
	if err != nil {
		return "", err
	}
	err = v.node.Release(ctx, v.caller, schemas.ItemID(v.r.PostFormValue("of")), version, true)
	return back(v.r, ""), err
}

// decideRelayed confirms that the person said what an agent relayed, or denies it.
func decideRelayed(ctx context.Context, v *visit) (string, error) {
	n, err := strconv.ParseInt(v.r.PostFormValue("number"), 10, 64)
	if err != nil {
		return "", schemas.Invalidf("this names no verdict").Try("go back, and use the page's buttons")
	}
	_, err = v.node.DecideRelayed(ctx, v.caller, []int64{n}, v.r.PostFormValue("decision") == "confirm")
	return back(v.r, ""), err
}

// giveAgain offers an item that agents gave up anew.
func giveAgain(ctx context.Context, v *visit) (string, error) {
	_, err := ask[ops.TaskSubmitOut](ctx, v, "task_submit", map[string]any{"retry": v.r.PostFormValue("of")})
	return back(v.r, ""), err
}
