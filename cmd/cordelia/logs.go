package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cordelia/access"
	"cordelia/cmd/cordelia/cli"
	"cordelia/events"
	"cordelia/node"
	"cordelia/schemas"
)

func logsCommand(a *cli.App) *cobra.Command {
	var l logs
	var agent, since string
	cmd := &cobra.Command{
		Use:   "logs",
		Short: "Show what changed lately: when, who, what",
		Long: `Show what changed lately, oldest first, one line for each change: when, who, what was
called, on what; with --follow what is to come, too, until interrupted. The lines come
from the audit record, which cordelia audit tail shows whole. Calls that were refused
change nothing and are no entries of it: they are counted for a week by agent, minute,
tool and reason, and stand among the lines, but for those that come while it follows.
A call that several agents of a line do not allow counts for each of them.
With --json, one change or refusal to a line.`,
		Example: "  cordelia logs --agent researcher\n  cordelia logs --follow",
		Args:    cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l.filter.Actor = schemas.EntityID(agent)
			var err error
			if l.limit, err = cli.LimitOf(cmd, l.limit); err != nil {
				return err
			}
			if l.filter.Since, err = cli.ParseSince(since); err != nil {
				return err
			}
			return a.Follow(cmd.Context(), "", func(w *cli.Acting) error {
				l.Acting = w
				return l.run(cmd.Context())
			})
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&l.follow, "follow", "f", false, "go on with what is to come")
	f.StringVar(&agent, "agent", "", "only by this person or agent: a name or id")
	cli.LimitFlag(cmd, &l.limit, logEntries)
	cli.SinceFlag(cmd, &since, "")
	return cmd
}

// logEntries is how many audit entries logs begins with.
const logEntries = 40

// logs shows audit entries as changes: those of one call are one line.
type logs struct {
	*cli.Acting
	filter events.AuditFilter
	limit  int
	follow bool
}

// logLine is a change as it is printed.
type logLine struct {
	Time    string   `json:"time"`
	Who     string   `json:"who"`
	Action  string   `json:"action"`
	Targets []string `json:"targets"`
	Refused bool     `json:"refused,omitempty"`
	Times   int      `json:"times,omitempty"` // refused in that minute
	Reason  string   `json:"reason,omitempty"`
}

func (l logs) run(ctx context.Context) error {
	refused, err := l.Node.Refusals(ctx, l.Caller.Principal, string(l.filter.Actor), l.filter.Since)
	if err != nil {
		return err
	}
	older := len(refused) > node.AuditPage // than those that were read
	if older {
		refused = refused[1:]
	}
	begin := cli.Beginning(l.limit, logEntries, l.filter.Since)
	first := true
	err = l.AuditTail(ctx, l.filter, begin, l.follow, func(list []node.Tailed) error {
		if first && begin != cli.AllEntries && len(list) == begin { // older lines are left out, of both kinds
			minute := list[0].Time[:len("2006-01-02T15:04")] // refusals are counted by it
			read := len(refused)
			refused = slices.DeleteFunc(refused, func(r node.Refused) bool { return r.Time < minute })
			older = older && len(refused) == read
		}
		if first && older {
			l.Note("older refusals are left out: the newest %d lines of them are shown; --agent shows those of one agent",
				len(refused))
		}
		first = false
		for _, line := range l.lines(ctx, list) {
			for len(refused) > 0 && refused[0].Time <= line.Time {
				if err := l.show(l.refusal(ctx, refused[0])); err != nil {
					return err
				}
				refused = refused[1:]
			}
			if err := l.show(line); err != nil {
				return err
			}
		}
		if l.follow && len(list) < node.AuditPage { // what is to come is later than these
			return l.showRefused(ctx, &refused)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return l.showRefused(ctx, &refused)
}

// showRefused shows the refusals that are left.
func (l logs) showRefused(ctx context.Context, refused *[]node.Refused) error {
	for _, r := range *refused {
		if err := l.show(l.refusal(ctx, r)); err != nil {
			return err
		}
	}
	*refused = nil
	return nil
}

// refusal is a minute's refusals of one kind as a line.
func (l logs) refusal(ctx context.Context, r node.Refused) logLine {
	l.LearnName(ctx, r.Entity)
	return logLine{Time: r.Time, Who: l.Who(r.Entity), Action: r.Tool, Targets: []string{}, Refused: true,
		Times: r.Times, Reason: l.named(ctx, r.Reason)}
}

// why words the reason of a refusal; one of no fixed form stays as it is.
func why(reason, tool string) string {
	kind, of, _ := strings.Cut(reason, ":")
	who, state, _ := strings.Cut(of, ":")
	switch access.DenialReason(kind) {
	case access.DeniedNotActive:
		return who + " is " + state
	case access.DeniedExpired:
		return who + " has reached the end of its lifetime"
	case access.DeniedTool:
		return who + " does not hold the tool " + tool
	case access.DeniedLayer, access.DeniedVisibility, access.DeniedGroup:
		return "outside the rights of " + who + " (" + kind + ")"
	}
	switch kind {
	case "matrix":
		return "its type or tier may not (" + of + ")"
	case "human", "private":
		return "it is another's"
	}
	return reason
}

// lines puts the entries of one call into one line each.
func (l logs) lines(ctx context.Context, list []node.Tailed) (out []logLine) {
	for _, e := range list {
		l.LearnName(ctx, e.Actor)
		line := logLine{Time: e.Time, Who: l.Who(e.Actor), Action: e.Action,
			Targets: []string{l.named(ctx, e.Target)}, Refused: e.Decision != "allowed"}
		if n := len(out); n > 0 && out[n-1].Time == line.Time && out[n-1].Who == line.Who &&
			out[n-1].Action == line.Action {
			if !slices.Contains(out[n-1].Targets, line.Targets[0]) {
				out[n-1].Targets = append(out[n-1].Targets, line.Targets...)
			}
			continue
		}
		out = append(out, line)
	}
	return out
}

// named is a target with the names of the agents in it, and in short for people.
func (l logs) named(ctx context.Context, target string) string {
	for _, id := range cli.TargetIDs.FindAllString(target, -1) {
		l.LearnName(ctx, schemas.EntityID(id))
	}
	if l.AsJSON {
		return cli.TargetIDs.ReplaceAllStringFunc(target, func(id string) string { return l.Who(schemas.EntityID(id)) })
	}
	return placed(l.App.Named(target))
}

// placed words the kind that a target begins with.
func placed(target string) string {
	kind, of, ok := strings.Cut(target, "/")
	words := map[string]string{"l1": "context of ", "item": "item ", "group": "group ", "work": "work ", "task": "task "}
	if word := words[kind]; ok && word != "" {
		return word + of
	}
	return target
}

func (l logs) show(line logLine) error {
	if l.AsJSON {
		return l.PrintLine(line)
	}
	colours := l.Colours()
	text := fmt.Sprintf("%s  %s  %s  %s", cli.Paint(colours, cli.Dim, cli.Clock(line.Time)), cli.Clean(line.Who),
		cli.Paint(colours, cli.Bold, cli.Clean(line.Action)),
		cli.Clean(strings.Join(line.Targets, ", ")))
	switch {
	case line.Times > 0:
		text = strings.TrimRight(text, " ") + "  " + cli.Paint(colours, cli.Red, fmt.Sprintf("refused %s in this minute",
			schemas.Count(line.Times, "time", "times"))) + ": " + cli.Clean(why(line.Reason, line.Action))
	case line.Refused:
		text += "  " + cli.Paint(colours, cli.Red, "refused")
	}
	l.Say("%s", text)
	return nil
}
