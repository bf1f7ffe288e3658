package audit

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

func tailCommand(a *cli.App) *cobra.Command {
	var t tail
	var actor, since string
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Show the newest audit entries, and follow them",
		Long: `Show the newest audit entries, oldest first; with --follow those to come, too, until
interrupted. Messages between the roles of tasks show with how they begin, and whole
with --json, which is one entry to a line. Only reads, and for the person alone.`,
		Example: "  cordelia audit tail --action agent_deactivate\n  cordelia audit tail --follow --json",
		Args:    cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			t.filter.Actor = schemas.EntityID(actor)
			var err error
			if t.filter.Since, err = cli.ParseSince(since); err != nil {
				return err
			}
			if t.limit, err = cli.LimitOf(cmd, t.limit); err != nil {
				return err
			}
			return a.Follow(cmd.Context(), "", func(w *cli.Acting) error {
				t.Acting = w
				return t.run(cmd.Context())
			})
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&t.follow, "follow", "f", false, "go on with those to come")
	cli.LimitFlag(cmd, &t.limit, usualEntries)
	f.StringVar(&actor, "actor", "", "only by this person or agent: a name or id")
	f.StringVar(&t.filter.Action, "action", "", "only this operation, such as memory_share")
	f.StringVar(&t.filter.Target, "target", "", "only on what has this id")
	cli.SinceFlag(cmd, &since, "")
	return cmd
}

// usualEntries is how many entries tail begins with.
const usualEntries = 20

type tail struct {
	*cli.Acting
	filter events.AuditFilter
	limit  int
	follow bool
}

func (t tail) run(ctx context.Context) error {
	begin := cli.Beginning(t.limit, usualEntries, t.filter.Since)
	return t.AuditTail(ctx, t.filter, begin, t.follow, func(list []node.Tailed, older bool) error {
		if older {
			t.NoteOlder(begin, t.filter.Since)
		}
		for _, e := range list {
			for _, id := range cli.TargetIDs.FindAllString(string(e.Actor)+" "+e.Target, -1) {
				t.LearnName(ctx, schemas.EntityID(id))
			}
			if err := t.show(e); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t tail) show(e node.Tailed) error {
	if t.AsJSON {
		return t.PrintLine(e)
	}
	colours := t.Colours()
	line := fmt.Sprintf("%d  %s  %s  %s  %s", e.Seq, cli.Paint(colours, cli.Dim, cli.Clock(e.Time)), t.Who(e.Actor),
		cli.Paint(colours, cli.Bold, cli.Clean(e.Action)), t.Named(e.Target))
	if e.Decision != "allowed" {
		line += "  " + cli.Paint(colours, cli.Red, cli.Clean(e.Decision))
	}
	if m := e.Message; m != nil {
		line += "  " + spoken(m)
	} else if len(e.Detail) > 0 {
		line += "  " + cli.Payload(t.Acting.App, e.Detail)
	}
	t.Say("%s", line)
	return nil
}

// maxSpoken is how much of a message a line shows, in bytes.
const maxSpoken = 300

// spoken is a message between roles in a line: who to whom, about what, and its
// beginning, which is data of agents.
func spoken(m *schemas.AuditEvent) string {
	to := string(m.To)
	if to == "" {
		to = "user"
	}
	from := string(m.From)
	if from == "" {
		from = "user"
	}
	about := fmt.Sprintf("%s→%s %s task=%s round=%d", from, to, m.Record, cli.Short(m.TaskID), m.Round)
	if m.SubTaskID != "" {
		about += " subtask=" + cli.Short(m.SubTaskID)
	}
	text := string(m.Message)
	if len(text) > maxSpoken {
		text = strings.ToValidUTF8(text[:maxSpoken], "") + "…"
	}
	return cli.Clean(about + " by=" + string(cli.Short(m.Actor)) + " " + text)
}
