package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

func eventsCommand(a *app) *cobra.Command {
	return group("events", "Read what happened, and choose what reaches you",
		command{
			op: "events_poll", use: "poll", short: "Read unread events, oldest first",
			example: "cordelia events poll --as researcher --peek", show: shown(showEvents), learns: true,
		}.command(a),
		command{
			op: "events_subscribe", use: "subscribe set|add|remove|list [EVENTS]",
			short: "Choose which events reach you",
			long: `Choose which events reach you. EVENTS is JSON: a list of {"event": …, "group": …}.
An empty list after set means none, [{"event":"*"}] all.`,
			takes:   []string{"action", "events?"},
			example: `cordelia events subscribe add '[{"event":"memory.written","group":"team"}]'`,
			show:    shown(showSubscriptions),
		}.command(a),
		eventsTailCommand(a),
	)
}

func showEvents(a *app, v ops.EventsPollOut) {
	if len(v.Events) == 0 {
		a.say("No unread events.")
	} else {
		t := table{firm: 3, head: []string{"TIME", "EVENT", "FROM", "WHAT"}}
		for _, e := range v.Events {
			t.add(cell{clock(e.Timestamp), dim}, cell{clean(e.Event), bold}, cell{text: a.who(schemas.EntityID(e.Source))},
				cell{text: payload(a, e.Payload)})
		}
		a.print(t)
	}
	if v.Gap != nil {
		a.note("%s no longer shown", schemas.Count(v.Gap.Skipped, "older event is", "older events are"))
	}
	switch rest := unshown(v); {
	case rest > 0 && v.Cursor != "":
		a.note("%s, as many as --limit and the size of an answer allow; once handled, the same goes on with: --ack %s",
			partOf(v, rest), v.Cursor)
	case rest > 0:
		a.note("%s, as many as --limit and the size of an answer allow; to get past them, poll without --peek",
			partOf(v, rest))
	case v.Cursor != "" && v.Unread > 0:
		a.note("%d unread; once handled, the same with: --ack %s", v.Unread, v.Cursor)
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

func showSubscriptions(a *app, v ops.EventsSubscribeOut) {
	if len(v.Events) == 0 {
		a.say("No events.")
	} else {
		t := table{head: []string{"EVENT", "GROUP"}}
		for _, e := range v.Events {
			t.add(texts(clean(e.Event), clean(e.Group))...)
		}
		a.print(t)
	}
	if len(v.Types) > 0 {
		a.note("types there are: %s", names(v.Types))
	}
}

// tailWait is how long one look of tail waits for news, in seconds.
const tailWait = 50

func eventsTailCommand(a *app) *cobra.Command {
	var as string
	var ack bool
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Follow events as they happen, until interrupted",
		Long: `Follow events as they happen, until interrupted. Your own events count as read
once they are printed. Those of an agent (--as) stay unread for it unless --ack
says otherwise. With --json, one event to a line.`,
		Example: "  cordelia events tail\n  cordelia events tail --as researcher --json",
		Args:    wants(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("ack") {
				ack = as == ""
			}
			return a.act(cmd.Context(), as, func(w *acting) error {
				err := (&tail{acting: w, ack: ack, seen: map[schemas.EventID]bool{}}).follow(cmd.Context())
				if errors.Is(cmd.Context().Err(), context.Canceled) {
					return nil // told to stop
				}
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&ack, "ack", false, "count what is printed as read")
	asFlag(cmd, &as)
	return cmd
}

// tail follows one mailbox.
type tail struct {
	*acting
	ack  bool
	seen map[schemas.EventID]bool // what was printed and stays unread
	full bool                     // it was said that an answer did not hold all
}

func (t *tail) follow(ctx context.Context) error {
	woken, stop := t.node.Subscribe(node.Commits)
	defer stop()
	cursor := ""
	defer func() {
		if cursor != "" && ctx.Err() != nil { // printed, and interrupted before the next poll said so
			_, _ = t.call(context.WithoutCancel(ctx), "events_poll", map[string]any{"limit": 1, "ack": cursor})
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
		v, err := ask[ops.EventsPollOut](ctx, t.acting, "events_poll", in)
		if err != nil {
			return err
		}
		if !t.asJSON {
			if err := t.learn(ctx, v); err != nil {
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
		t.note("%s no longer shown", schemas.Count(v.Gap.Skipped, "older event is", "older events are"))
	}
	if rest := unshown(v); rest > 0 && !t.ack && !t.full {
		t.full = true
		t.note("%s, as many as an answer holds; the rest follows once these are handled, or with --ack", partOf(v, rest))
	}
	colours := t.colours()
	for _, e := range v.Events {
		if t.seen[e.ID] {
			continue
		}
		if !t.ack {
			t.seen[e.ID] = true
		}
		if t.asJSON {
			if err := t.printLine(e); err != nil {
				return err
			}
			continue
		}
		t.say("%s  %s  %s  %s", paint(colours, dim, clock(e.Timestamp)), paint(colours, bold, clean(e.Event)),
			t.who(schemas.EntityID(e.Source)), payload(t.acting.app, e.Payload))
	}
	return nil
}
