package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

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
		Long: `Show what changed lately, oldest first, one line for each change; with --follow what
is to come, too, until interrupted. The lines come from the audit record, which
cordelia audit tail shows whole. With --json, one change to a line.`,
		Example: "  cordelia logs --agent researcher\n  cordelia logs --follow",
		Args:    cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l.filter.Actor = schemas.EntityID(agent)
			var err error
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
	cli.SinceFlag(cmd, &since, "")
	return cmd
}

// logEntries is how many audit entries logs begins with.
const logEntries = 40

// logs shows audit entries as changes: those of one call are one line.
type logs struct {
	*cli.Acting
	filter events.AuditFilter
	follow bool
}

// logLine is a change as it is printed.
type logLine struct {
	Time    string   `json:"time"`
	Who     string   `json:"who"`
	Action  string   `json:"action"`
	Targets []string `json:"targets"`
	Refused bool     `json:"refused,omitempty"`
}

func (l logs) run(ctx context.Context) error {
	return l.AuditTail(ctx, l.filter, logEntries, l.follow, func(list []node.Tailed) error {
		for _, line := range l.lines(ctx, list) {
			if err := l.show(line); err != nil {
				return err
			}
		}
		return nil
	})
}

// lines puts the entries of one call into one line each.
func (l logs) lines(ctx context.Context, list []node.Tailed) (out []logLine) {
	for _, e := range list {
		l.LearnName(ctx, e.Actor)
		line := logLine{e.Time, l.Who(e.Actor), e.Action, []string{l.named(ctx, e.Target)},
			e.Decision != "allowed"}
		if n := len(out); n > 0 && out[n-1].Time == line.Time && out[n-1].Who == line.Who &&
			out[n-1].Action == line.Action {
			out[n-1].Targets = append(out[n-1].Targets, line.Targets...)
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
	return l.App.Named(target)
}

func (l logs) show(line logLine) error {
	if l.AsJSON {
		return l.PrintLine(line)
	}
	colours := l.Colours()
	text := fmt.Sprintf("%s  %s  %s  %s", cli.Paint(colours, cli.Dim, cli.Clock(line.Time)), cli.Clean(line.Who),
		cli.Paint(colours, cli.Bold, cli.Clean(line.Action)),
		cli.Clean(strings.Join(line.Targets, ", ")))
	if line.Refused {
		text += "  " + cli.Paint(colours, cli.Red, "refused")
	}
	l.Say("%s", text)
	return nil
}
