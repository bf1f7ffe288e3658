package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/ops"
	"cordelia/schemas"
	"cordelia/work"
)

func taskCommand(a *app) *cobra.Command {
	return group("task", "Work that agents claim, hold for a time and report",
		command{
			op: "task_submit", use: "submit [INTENT…]",
			short: "Submit a task, or offer work to a group or to your agents", takes: []string{"intent?"},
			hide: []string{"retry", "answers"}, names: map[string]string{"task_id": "answer"}, fill: fillSubmit,
			long: `With --request: submit a task to the pipeline, in the user's words. Agents take its
roles: R1 reads it and may ask (--answer TASK answers; without words it goes on as it
is), R2 plans, R3 does, R4a judges each part, R4b the whole. With INTENT beside the
request nobody needs to read it. --tools are what a plan may use, with commas.

Else: offer work to the members of a group, or without one to your agents. Each item is
done by one agent. --items is JSON, the name of a file with it, or - for stdin:
  [{"intent", "criteria", "constraints", "inputs", "context", "answer_schema", "role", "needs",
    "assigned_to", "priority", "depends_on", "after_seconds", "within_seconds"}]`,
			example: `cordelia task submit --request "Make the build fast" --tools bash,edit --group team
  cordelia task submit --answer 1cd21f84 "The one on the server"
  cordelia task submit "Find out why the build is slow" --group team
  cordelia task submit --items plan.json`,
			show: shown(showSubmitted), ends: abandoned,
		}.command(a),
		command{
			op: "task_claim", use: "claim", short: "Take the next item, or get back the one you hold",
			example: "cordelia task claim --as researcher --wait-seconds 30", show: shown(showClaimed),
		}.command(a),
		command{
			op: "task_report", use: "report ID done|failed|released|progress",
			short:   "Say what became of the item you hold",
			takes:   []string{"work_id", "outcome"},
			example: `cordelia task report 1cd21f84 done --fence 1 --as researcher --result '{"answer": 42}'`,
			show:    shown(showReported), ends: abandoned,
		}.command(a),
		command{
			op: "task_status", use: "show ID", short: "Show a task as it stands, or an item with its result",
			takes: []string{"task_id"}, or: "work_id",
			hide: []string{"group", "state", "limit", "cursor"}, example: "cordelia task show 1cd21f84 --detail",
			show: showTask,
		}.command(a),
		taskWatchCommand(a),
		command{
			op: "task_status", use: "list", short: "List work you may see, the newest first",
			hide:  []string{"work_id", "detail"},
			names: map[string]string{"task_id": "task"}, example: "cordelia task list --state blocked", show: showTasks,
		}.command(a),
		command{
			op: "task_cancel", use: "cancel ID", short: "End a task with what is open of it, or one item",
			takes: []string{"task_id"}, or: "work_id",
			example: "cordelia task cancel 1cd21f84", show: shown(showCancelled),
		}.command(a),
		command{
			op: "task_submit", use: "retry ID", short: "Put a blocked item back into the queue",
			takes: []string{"retry"},
			hide: []string{"intent", "group", "items", "request", "tools", "budget_seconds", "replans",
				"within_seconds", "hold", "task_id", "answers"},
			example: "cordelia task retry 1cd21f84", show: shown(showSubmitted),
		}.command(a),
	)
}

// fillSubmit takes the words beside --answer as the answer, and commas between tools.
func fillSubmit(in map[string]any) {
	if _, answers := in["task_id"]; answers && in["intent"] != nil {
		in["answers"] = in["intent"]
		delete(in, "intent")
	}
	if tools, ok := in["tools"].([]string); ok {
		in["tools"] = strings.Split(strings.Join(tools, ","), ",")
	}
}

func showSubmitted(a *app, v ops.TaskSubmitOut) {
	if v.State != "" {
		a.say("Task %s is %s.", short(v.TaskID), clean(v.State))
		if v.Reason != "" {
			a.say("%s", clean(v.Reason))
			a.note("all of it: cordelia task show %s --detail", short(v.TaskID))
			return
		}
		a.note("%s", a.advice(v.Next))
		a.note("to watch it: cordelia task watch %s", short(v.TaskID))
		return
	}
	if v.TaskID != "" {
		a.say("Task %s", short(v.TaskID))
	}
	for _, i := range v.Items {
		a.say("%s  %s", short(i.WorkID), clean(i.State))
	}
}

// abandoned ends a command with an exit code of its own if the task it was about was
// abandoned by it.
func abandoned(answer any) error {
	var state schemas.TaskState
	switch out := answer.(type) {
	case ops.TaskSubmitOut:
		state = out.State
	case ops.TaskReportOut:
		state = out.Task
	}
	if state == schemas.TaskAbandoned {
		return exitAbandoned
	}
	return nil
}

func showClaimed(a *app, v ops.TaskClaimOut) {
	if v.Work == nil {
		a.say("%s", a.advice(v.Next))
		return
	}
	showLease(a, *v.Work)
}

// showLease shows an item that was claimed, and how it is reported.
func showLease(a *app, w work.Claimed) {
	f := fields{}
	f.add("item", short(w.WorkID))
	f.add("fence", fmt.Sprint(w.Fence))
	f.add("until", clock(w.ExpiresAt))
	f.add("today", clean(w.Today))
	if w.Attempt > 1 {
		f.add("attempt", fmt.Sprint(w.Attempt))
	}
	paragraphs(&f, "intent", w.Intent)
	brief(&f, w.Brief)
	if len(w.Inputs) > 0 {
		f.add("results before", clean(inWords(rawOf(w.Inputs))))
	}
	for _, n := range append([]string{w.Note}, w.Notes...) {
		if n != "" {
			f.add("note", clean(n))
		}
	}
	a.list(f)
	if w.Resumed {
		a.note("it was yours already")
	}
	a.note("when it is done: cordelia task report %s done --fence %d%s --result '{…}'", short(w.WorkID), w.Fence,
		a.asFlag())
}

func showReported(a *app, v ops.TaskReportOut) {
	a.say("The item is %s.", clean(v.State))
	if v.Led != "" {
		a.note("%s", clean(v.Led))
	}
	switch {
	case v.Work != nil:
		a.say("")
		showLease(a, *v.Work)
	case len(v.Next) > 0:
		a.note("%s", a.advice(v.Next))
	}
}

func showCancelled(a *app, v ops.TaskCancelOut) {
	a.say("Cancelled: %s that had not ended.", schemas.Count(v.Cancelled, "item of work", "items of work"))
}

// showTask prints a task of the pipeline, or the items that go by an id.
func showTask(a *app, answer any) error { return showStatusOf(a, answer, showWork) }

// showTasks prints a page of items, or the one task of the pipeline that was named.
func showTasks(a *app, answer any) error { return showStatusOf(a, answer, listWork) }

// showStatusOf prints a task of the pipeline; plain is for anything else.
func showStatusOf(a *app, answer any, plain func(*app, ops.TaskStatusOut)) error {
	v, err := outputOf[ops.TaskStatusOut](answer)
	if err != nil {
		return err
	}
	if v.Task == nil {
		plain(a, v)
		return nil
	}
	t, err := boardOf(a, *v.Task)
	if err != nil {
		return err
	}
	_, err = a.out.WriteString(t.board(columns(a.out), a.colours()))
	return err
}

func showWork(a *app, v ops.TaskStatusOut) {
	for _, i := range v.Items {
		f := fields{}
		add := func(name, text string) {
			if text != "" {
				f.add(name, clean(text))
			}
		}
		add("item", short(i.WorkID))
		add("task", short(i.TaskID))
		add("group", string(i.GroupID))
		f.styled("state", clean(i.State), bold)
		add("outcome", i.Outcome)
		add("held by", i.Holder)
		if i.State == schemas.WorkLeased {
			f.add("lease left", fmt.Sprintf("%d s", i.LeaseLeft))
		}
		if i.WaitsFor > 0 {
			f.add("waits for", fmt.Sprint(i.WaitsFor))
		}
		f.add("attempts", fmt.Sprint(i.Attempts))
		f.add("submitted", clock(i.Created))
		if i.Finished != "" {
			f.add("ended", clock(i.Finished))
		}
		paragraphs(&f, "intent", i.Intent)
		if i.Brief != nil {
			brief(&f, *i.Brief)
		}
		add("result", inWords(i.Result))
		if len(i.Evidence) > 0 {
			add("evidence", inWords(rawOf(i.Evidence)))
		}
		add("note", i.Note)
		a.list(f)
	}
}

func listWork(a *app, v ops.TaskStatusOut) {
	if len(v.Items)+len(v.Tasks) == 0 {
		a.say("No work.")
		return
	}
	if len(v.Tasks) > 0 {
		t := table{firm: 2, head: []string{"TASK", "STATE", "ROUND", "INTENT"}}
		for _, i := range v.Tasks {
			t.add(cell{text: short(i.TaskID)}, cell{clean(i.State), bold}, cell{text: fmt.Sprint(i.Round)},
				cell{text: clean(i.Intent)})
		}
		a.print(t)
		a.say("")
	}
	t := table{firm: 2, head: []string{"ITEM", "STATE", "HELD BY", "INTENT"}}
	for _, i := range v.Items {
		t.add(cell{text: short(i.WorkID)}, cell{clean(i.State), bold}, cell{text: clean(i.Holder)},
			cell{text: clean(i.Intent)})
	}
	a.print(t)
	if v.Cursor != "" {
		a.note("more with: --cursor %s", v.Cursor)
	}
}
