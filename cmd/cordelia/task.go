package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
	"cordelia/work"
)

func taskCommand(a *cli.App) *cobra.Command {
	return cli.Group("task", "Work that agents claim, hold for a time and report",
		cli.Command{
			Op: "task_submit", Use: "submit [INTENT…]",
			Short: "Submit a task, or offer work to a group or to your agents", Takes: []string{"intent?"},
			Hide: []string{"retry", "answers"}, Names: map[string]string{"task_id": "answer"}, Fill: fillSubmit,
			Long: `With --request: submit a task to the pipeline, in the user's words. Agents take its
roles: R1 reads it and may ask (--answer TASK answers; without words it goes on as it
is), R2 plans, R3 does, R4a judges each part, R4b the whole. With INTENT beside the
request R1 does not need to read it. --tools are what a plan may use, with commas.

Else: offer work to the members of a group, or without one to your agents. Each item is
done by one agent. --items is JSON, the name of a file with it, or - for stdin:
  [{"intent", "criteria", "constraints", "inputs", "context", "answer_schema", "role", "needs",
    "assigned_to", "priority", "depends_on", "after_seconds", "within_seconds"}]`,
			Example: `cordelia task submit --request "Make the build fast" --tools bash,edit --group team
  cordelia task submit --answer 1cd21f84 "The one on the server"
  cordelia task submit "Find out why the build is slow" --group team
  cordelia task submit --items plan.json`,
			Show: cli.Shown(showSubmitted), Ends: abandoned,
		}.Command(a),
		cli.Command{
			Op: "task_claim", Use: "claim", Short: "Take the next item, or get back the one you hold",
			Example: "cordelia task claim --as researcher --wait-seconds 30", Show: cli.Shown(showClaimed),
			Hide: []string{"brief_page"}, // here a brief is shown whole
		}.Command(a),
		cli.Command{
			Op: "task_report", Use: "report ID done|failed|released|progress",
			Short:   "Say what became of the item you hold",
			Takes:   []string{"work_id", "outcome"},
			Example: `cordelia task report 1cd21f84 done --fence 1 --as researcher --result '{"answer": 42}'`,
			Show:    cli.Shown(showReported), Ends: abandoned,
		}.Command(a),
		cli.Command{
			Op: "task_status", Use: "show ID", Short: "Show a task as it stands, or an item with its result",
			Takes: []string{"task_id"}, Or: "work_id",
			Only: []string{"detail", "wait_seconds"}, Example: "cordelia task show 1cd21f84 --detail",
			Show: showTask,
		}.Command(a),
		taskWatchCommand(a),
		cli.Command{
			Op: "task_status", Use: "list", Short: "List work you may see, the newest first",
			Hide:  []string{"work_id", "detail"},
			Names: map[string]string{"task_id": "task"}, Example: "cordelia task list --state blocked", Show: showTasks,
		}.Command(a),
		cli.Command{
			Op: "task_cancel", Use: "cancel ID", Short: "End a task with what is open of it, or one item",
			Takes: []string{"task_id"}, Or: "work_id",
			Example: "cordelia task cancel 1cd21f84", Show: cli.Shown(showCancelled),
		}.Command(a),
		cli.Command{
			Op: "task_submit", Use: "retry ID", Short: "Put a blocked item back into the queue",
			Takes: []string{"retry"}, Only: []string{},
			Example: "cordelia task retry 1cd21f84", Show: cli.Shown(showSubmitted),
		}.Command(a),
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

func showSubmitted(a *cli.App, v ops.TaskSubmitOut) {
	if v.State != "" {
		a.Say("Task %s is %s.", cli.Short(v.TaskID), cli.Clean(v.State))
		if v.Reason != "" {
			a.Say("%s", cli.Clean(v.Reason))
			a.Note("all of it: cordelia task show %s --detail", cli.Short(v.TaskID))
			return
		}
		a.Note("%s", a.Advice(v.Next))
		a.Note("to watch it: cordelia task watch %s", cli.Short(v.TaskID))
		return
	}
	if v.TaskID != "" {
		a.Say("Task %s", cli.Short(v.TaskID))
	}
	for _, i := range v.Items {
		a.Say("%s  %s", cli.Short(i.WorkID), cli.Clean(i.State))
	}
}

// abandoned gives a command its exit code for an abandoned task, if the command abandoned its
// task.
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

func showClaimed(a *cli.App, v ops.TaskClaimOut) {
	if v.Work == nil {
		a.Say("%s", a.Advice(v.Next))
		return
	}
	showLease(a, *v.Work)
}

// showLease shows an item that was claimed, and how it is reported.
func showLease(a *cli.App, w work.Claimed) {
	f := cli.Fields{}
	f.Add("item", cli.Short(w.WorkID))
	f.Add("fence", fmt.Sprint(w.Fence))
	f.Add("until", cli.Clock(w.ExpiresAt))
	if w.Deadline != "" {
		f.Add("deadline", cli.Clock(w.Deadline))
	}
	f.Add("today", cli.Clean(w.Today))
	if w.Attempt > 1 {
		f.Add("attempt", fmt.Sprint(w.Attempt))
	}
	paragraphs(&f, "intent", w.Intent)
	brief(&f, w.Brief)
	if len(w.Inputs) > 0 {
		f.Add("results before", cli.Clean(cli.InWords(cli.RawOf(w.Inputs))))
	}
	for _, n := range append([]string{w.Note}, w.Notes...) {
		if n != "" {
			f.Add("note", cli.Clean(n))
		}
	}
	a.List(f)
	if w.Resumed {
		a.Note("it was yours already")
	}
	evidence := ""
	if w.Brief.ReportSchema != nil {
		evidence = " --evidence '[…]'"
	}
	a.Note("when it is done: cordelia task report %s done --fence %d%s --result '{…}'%s", cli.Short(w.WorkID), w.Fence,
		a.AsFlag(), evidence)
}

func showReported(a *cli.App, v ops.TaskReportOut) {
	a.Say("The item is %s.", cli.Clean(v.State))
	if v.Led == node.ChecksRun {
		a.Note("machine checks run now and decide it; what they find: cordelia task show %s", cli.Short(v.WorkID))
	} else if v.Led != "" {
		a.Note("%s", cli.Clean(v.Led))
	}
	switch {
	case v.Work != nil:
		a.Say("")
		showLease(a, *v.Work)
	case len(v.Next) > 0:
		a.Note("%s", a.Advice(v.Next))
	}
}

func showCancelled(a *cli.App, v ops.TaskCancelOut) {
	a.Say("Cancelled: %s that had not ended.", schemas.Count(v.Cancelled, "item of work", "items of work"))
}

// showTask prints a task of the pipeline, or the items that go by an id.
func showTask(a *cli.App, answer any) error { return showStatusOf(a, answer, showWork) }

// showTasks prints a page of items, or the one task of the pipeline that was named.
func showTasks(a *cli.App, answer any) error { return showStatusOf(a, answer, listWork) }

// showStatusOf prints a task of the pipeline; plain is for anything else.
func showStatusOf(a *cli.App, answer any, plain func(*cli.App, ops.TaskStatusOut)) error {
	v, err := cli.OutputOf[ops.TaskStatusOut](answer)
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
	_, err = a.Out.WriteString(t.board(cli.Columns(a.Out), a.Colours()))
	return err
}

func showWork(a *cli.App, v ops.TaskStatusOut) {
	for _, i := range v.Items {
		f := cli.Fields{}
		add := func(name, text string) {
			if text != "" {
				f.Add(name, cli.Clean(text))
			}
		}
		add("item", cli.Short(i.WorkID))
		add("task", cli.Short(i.TaskID))
		add("group", string(i.GroupID))
		f.Styled("state", itemState(i), cli.Bold)
		add("outcome", i.Outcome)
		add("held by", i.Holder)
		if i.State == schemas.WorkLeased {
			f.Add("lease left", fmt.Sprintf("%d s", i.LeaseLeft))
		}
		if i.WaitsFor > 0 {
			f.Add("waits for", ops.WaitsFor(i))
		}
		f.Add("attempts", fmt.Sprint(i.Attempts))
		f.Add("submitted", cli.Clock(i.Created))
		if i.Deadline != "" {
			f.Add("deadline", cli.Clock(i.Deadline))
		}
		if i.Finished != "" {
			f.Add("ended", cli.Clock(i.Finished))
		}
		paragraphs(&f, "intent", i.Intent)
		if i.Brief != nil {
			brief(&f, *i.Brief)
		}
		add("result", cli.InWords(i.Result))
		if len(i.Evidence) > 0 {
			add("evidence", cli.InWords(cli.RawOf(i.Evidence)))
		}
		add("note", i.Note)
		lateReports(&f, i.Late)
		a.List(f)
	}
}

// lateReports appends the reports of an item that did not count.
func lateReports(f *cli.Fields, list []work.LateReport) {
	for _, l := range list {
		f.Add("late report", cli.Clean(fmt.Sprintf("%s, by %s with fence %d, %s", l.Outcome, l.By, l.Fence,
			cli.Clock(l.At))))
		f.Add("its note", cli.Clean(l.Note))
		f.Add("its result", cli.Clean(cli.InWords(l.Result)))
		if len(l.Evidence) > 0 {
			f.Add("its evidence", cli.Clean(cli.InWords(cli.RawOf(l.Evidence))))
		}
	}
}

// itemState words the state of an item: one that is open after its deadline is overdue, too.
func itemState(s work.Status) string {
	if s.Overdue {
		return cli.Clean(s.State) + ", overdue"
	}
	return cli.Clean(s.State)
}

func listWork(a *cli.App, v ops.TaskStatusOut) {
	if len(v.Items)+len(v.Tasks) == 0 {
		a.Say("No work.")
		return
	}
	if len(v.Tasks) > 0 {
		t := cli.Table{Firm: 2, Head: []string{"TASK", "STATE", "ROUND", "INTENT"}}
		for _, i := range v.Tasks {
			t.Add(cli.Text(cli.Short(i.TaskID)), cli.Styled(cli.Clean(i.State), cli.Bold),
				cli.Text(fmt.Sprint(i.Round)),
				cli.Text(cli.Clean(i.Intent)))
		}
		a.Print(t)
		a.Say("")
	}
	t := cli.Table{Firm: 2, Head: []string{"ITEM", "STATE", "HELD BY", "INTENT"}}
	for _, i := range v.Items {
		t.Add(cli.Text(cli.Short(i.WorkID)), cli.Styled(itemState(i), cli.Bold), cli.Text(cli.Clean(i.Holder)),
			cli.Text(cli.Clean(i.Intent)))
	}
	a.Print(t)
	if v.Cursor != "" {
		a.Note("more with: --cursor %s", v.Cursor)
	}
}
