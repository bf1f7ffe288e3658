package audit

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/node"
	"cordelia/schemas"
)

func reportCommand(a *cli.App) *cobra.Command {
	var since, until string
	var role, detection string
	var kept int
	var q schemas.AuditQuery
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Sum up who did what, and what you should know of",
		Long: `Sum the audit record up: who did how much of what, what was refused, who lost
rights, whose key changed, restores, clocks that went back; and what the auditor found
in the messages between the roles of tasks, with who is accountable for it: corrections
without end, roles that behave otherwise than in the 30 days before, a rising loss,
breaches of a role's bounds, ids that are there twice, rounds decided on too early,
late reports, and work judged by who did it. For the person alone.

With --task, --role or --detection, show those findings alone. The node makes a report
of each day by itself; --kept shows the newest of them.`,
		Example: "  cordelia audit report --since 168h\n  cordelia audit report --task ID --detection boundary\n  " +
			"cordelia audit report --kept 7",
		Args: cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if kept < 0 || kept > node.MaxReports {
				return schemas.Invalidf("--kept is %d", kept).Expecting("1 to %d",
					node.MaxReports).Try("say how many reports to show")
			}
			var err error
			if q.Since, err = stampSince(since); err != nil {
				return err
			}
			if q.Until, err = stampSince(until); err != nil {
				return err
			}
			q.Role, q.Detection = schemas.PipelineRole(role), schemas.Detection(detection)
			return a.Person(cmd.Context(), func(w *cli.Acting) error {
				if kept > 0 {
					return showKept(cmd.Context(), w, kept)
				}
				return report(cmd.Context(), a, w, q)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&q.TaskID, "task", "", "only findings about the task with this `id`")
	f.StringVar(&role, "role", "", "only findings this role is accountable for: "+schemas.Joined(schemas.PipelineRoles()))
	f.StringVar(&detection, "detection", "", "only findings of this kind: "+schemas.Joined(schemas.Detections()))
	f.StringVar(&until, "until", "", "only what was before then: written like --since")
	f.IntVar(&kept, "kept", 0, "show the newest `n` of the reports that the node made by itself")
	cli.SinceFlag(cmd, &since, "720h")
	a.CompleteFlags(cmd, map[string]string{"task": "task_id"})
	return cmd
}

// report makes a report and shows it.
func report(ctx context.Context, a *cli.App, w *cli.Acting, q schemas.AuditQuery) error {
	r, err := w.Node.AuditReport(ctx, w.Caller.Principal, q)
	if err != nil {
		return err
	}
	if a.AsJSON {
		return a.PrintJSON(r)
	}
	if err := w.LearnFrom(ctx, r); err != nil {
		return err
	}
	showReport(a, r)
	return nil
}

// stampSince is cli.ParseSince, as queries take it.
func stampSince(text string) (string, error) {
	at, err := cli.ParseSince(text)
	if err != nil || at == 0 {
		return "", err
	}
	return time.UnixMicro(at).UTC().Format(time.RFC3339Nano), nil
}

// showKept shows reports the node made by itself, newest first.
func showKept(ctx context.Context, w *cli.Acting, n int) error {
	list, err := w.Node.AuditKept(ctx, w.Caller.Principal, n)
	if err != nil {
		return err
	}
	if w.AsJSON {
		return w.PrintJSON(list)
	}
	for i, r := range list {
		if i > 0 {
			w.Say("")
		}
		showReport(w.App, r)
	}
	if len(list) == 0 {
		w.Note("the node made none yet: it makes the first a day after it was set up, while one of its processes runs")
	}
	return nil
}

func showReport(a *cli.App, r node.AuditSummary) {
	f := cli.Fields{}
	f.Add("from", cli.Clock(r.From))
	f.Add("until", cli.Clock(r.Until))
	if r.Events > 0 {
		f.Add("entries", fmt.Sprintf("%d, %d of them refused", r.Events, r.Refused))
	}
	if r.Messages > 0 {
		f.Add("messages", fmt.Sprintf("%d between the roles of tasks", r.Messages))
	}
	a.List(f)
	for _, part := range []struct {
		head string
		list []node.Tally
	}{{"WHO", r.Actors}, {"WHAT", r.Actions}} {
		if len(part.list) == 0 {
			continue
		}
		a.Say("")
		t := cli.Table{Head: []string{part.head, "ENTRIES"}}
		for _, c := range part.list {
			name := c.As
			if name == "" {
				name = c.Name
			}
			t.Add(cli.Texts(cli.Clean(name), strconv.Itoa(c.N))...)
		}
		a.Print(t)
	}
	if len(r.Notable) > 0 {
		a.Say("")
		t := cli.Table{Firm: 1, Head: []string{"ENTRY", "TIME", "WHO", "NOTABLE"}}
		for _, e := range r.Notable {
			t.Add(cli.Texts(strconv.FormatInt(e.Seq, 10), cli.Clock(e.Time), a.Who(e.Actor), a.Named(e.What))...)
		}
		a.Print(t)
	}
	showFindings(a, r.Findings)
	if r.Unshown > 0 {
		a.Note("%s not shown; ask for a shorter time with --since, or for less with --detection",
			schemas.Count(int(r.Unshown), "more is", "more are"))
	}
}

// showFindings shows what the auditor found.
func showFindings(a *cli.App, list []schemas.AuditFinding) {
	if len(list) == 0 {
		a.Note("the auditor found nothing")
		return
	}
	a.Say("")
	t := cli.Table{Head: []string{"FINDING", "ROLE", "TASK", "WHAT"}}
	for _, x := range list {
		about := x.TaskID
		if about == "" {
			about = x.SubTaskID
		}
		t.Add(cli.Texts(string(x.Detection), string(x.Accountable), cli.Short(about), a.Named(x.Finding))...)
	}
	a.Print(t)
}
