package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cordelia/cmd/cordelia/cli"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

func eventsCommand(a *cli.App) *cobra.Command {
	return cli.Group("events", "Read what happened, and choose what reaches you",
		cli.Command{
			Op: "events_poll", Use: "poll", Short: "Read unread events, oldest first",
			Example: "cordelia events poll --as researcher --peek", Show: cli.Shown(showEvents), Learns: true,
		}.Command(a),
		cli.Command{
			Op: "events_subscribe", Use: "subscribe set|add|remove|list [EVENTS]",
			Short: "Choose which events reach you",
			Long: `Choose which events reach you. EVENTS is JSON: a list of {"event": …, "group": …}.
An empty list after set means none, [{"event":"*"}] all.`,
			Takes:   []string{"action", "events?"},
			Example: `cordelia events subscribe add '[{"event":"memory.written","group":"team"}]'`,
			Show:    cli.Shown(showSubscriptions),
		}.Command(a),
		eventsTailCommand(a),
	)
}

func showEvents(a *cli.App, v ops.EventsPollOut) {
	if len(v.Events) == 0 {
		a.Say("No unread events.")
	} else {
		t := cli.Table{Firm: 3, Head: []string{"TIME", "EVENT", "FROM", "WHAT"}}
		for _, e := range v.Events {
			t.Add(cli.Styled(cli.Clock(e.Timestamp), cli.Dim), cli.Styled(cli.Clean(e.Event), cli.Bold),
				cli.Text(a.Who(schemas.EntityID(e.Source))),
				cli.Text(cli.Payload(a, e.Payload)))
		}
		a.Print(t)
	}
	if v.Gap != nil {
		a.Note("%s no longer shown", schemas.Count(v.Gap.Skipped, "older event is", "older events are"))
	}
	switch rest := unshown(v); {
	case rest > 0 && v.Cursor != "":
		a.Note("%s, as many as --limit and the size of an answer allow; once handled, the same goes on with: --ack %s",
			partOf(v, rest), v.Cursor)
	case rest > 0:
		a.Note("%s, as many as --limit and the size of an answer allow; to get past them, poll without --peek",
			partOf(v, rest))
	case v.Cursor != "" && v.Unread > 0:
		a.Note("%d unread; once handled, the same with: --ack %s", v.Unread, v.Cursor)
	}
}

// unshown is how many unread events come after those of the answer.
func unshown(v ops.EventsPollOut) int {
	rest := v.Unread - len(v.Events)
	if v.Gap != nil {
		rest -= v.Gap.Skipped
	}
	return rest
}

// partOf says that the answer is only the beginning of what is unread.
func partOf(v ops.EventsPollOut, rest int) string {
	return fmt.Sprintf("the oldest %d of %d unread shown", len(v.Events), len(v.Events)+rest)
}

func showSubscriptions(a *cli.App, v ops.EventsSubscribeOut) {
	if len(v.Events) == 0 {
		a.Say("No events.")
	} else {
		t := cli.Table{Head: []string{"EVENT", "GROUP"}}
		for _, e := range v.Events {
			t.Add(cli.Texts(cli.Clean(e.Event), cli.Clean(e.Group))...)
		}
		a.Print(t)
	}
	if len(v.Types) > 0 {
		a.Note("types there are: %s", schemas.Joined(v.Types))
	}
}

// tailWait is how long one look of tail waits for news, in seconds.
const tailWait = 50

func eventsTailCommand(a *cli.App) *cobra.Command {
	var as string
	var ack bool
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Follow events as they happen, until interrupted",
		Long: `Follow events as they happen, until interrupted. Your own events count as read
once they are printed. Those of an agent (--as) stay unread for it unless --ack
says otherwise. With --json, one event to a line.`,
		Example: "  cordelia events tail\n  cordelia events tail --as researcher --json",
		Args:    cli.Wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("ack") {
				ack = as == ""
			}
			return a.Follow(cmd.Context(), as, func(w *cli.Acting) error {
				return (&tail{Acting: w, ack: ack, seen: map[schemas.EventID]bool{}}).follow(cmd.Context())
			})
		},
	}
	cmd.Flags().BoolVar(&ack, "ack", false, "count what is printed as read")
	cli.AsFlag(cmd, &as)
	return cmd
}

// tail follows one mailbox.
type tail struct {
	*cli.Acting
	ack  bool
	seen map[schemas.EventID]bool // what was printed and stays unread
	full bool                     // it was said that an answer did not hold all
}

func (t *tail) follow(ctx context.Context) error {
	woken, stop := t.Node.Subscribe(node.Commits)
	defer stop()
	cursor := ""
	defer func() {
		if cursor != "" && ctx.Err() != nil { // printed, and interrupted before the next poll said so
			_, _ = t.Call(context.WithoutCancel(ctx), "events_poll", map[string]any{"limit": 1, "ack": cursor})
		}
	}()
	for {
		in := map[string]any{"limit": 100}
		if t.ack {
			in["wait_seconds"] = tailWait
			if cursor != "" {
				in["ack"] = cursor
			}
		} else {
			in["peek"] = true
		}
		v, err := cli.Ask[ops.EventsPollOut](ctx, t.Acting, "events_poll", in)
		if err != nil {
			return err
		}
		if !t.AsJSON {
			if err := t.Learn(ctx, v); err != nil {
				return err
			}
		}
		if err := t.show(v); err != nil {
			return err
		}
		if t.ack {
			cursor = v.Cursor
			continue
		}
		select { // a reader that only peeks would find the same events at once
		case <-woken:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (t *tail) show(v ops.EventsPollOut) error {
	if v.Gap != nil && len(t.seen) == 0 {
		t.Note("%s no longer shown", schemas.Count(v.Gap.Skipped, "older event is", "older events are"))
	}
	if rest := unshown(v); rest > 0 && !t.ack && !t.full {
		t.full = true
		t.Note("%s, as many as an answer holds; the rest follows once these are handled, or with --ack",
			partOf(v, rest))
	}
	colours := t.Colours()
	for _, e := range v.Events {
		if t.seen[e.ID] {
			continue
		}
		if !t.ack {
			t.seen[e.ID] = true
		}
		if t.AsJSON {
			if err := t.PrintLine(e); err != nil {
				return err
			}
			continue
		}
		t.Say("%s  %s  %s  %s", cli.Paint(colours, cli.Dim, cli.Clock(e.Timestamp)),
			cli.Paint(colours, cli.Bold, cli.Clean(e.Event)),
			t.Who(schemas.EntityID(e.Source)), cli.Payload(t.Acting.App, e.Payload))
	}
	return nil
}
