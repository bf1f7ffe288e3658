package ops

import (
	"context"
	"fmt"
	"strings"

	"cordelia/access"
	"cordelia/events"
	"cordelia/schemas"
)

var eventsSubscribe = Define(Spec{
	Name: "events_subscribe", Title: "Choose events", Toolset: Events,
	Effect: access.Write, Repeatable: true,
	SearchHint: "subscribe unsubscribe mute filter event types",
	Description: "Choose which events reach you; at first all you may read do. set replaces the choice: [] is none, " +
		"[{\"event\":\"*\"}] all. list shows it and the types. group narrows one to a group.",
}, subscribe)

type eventsSubscribeIn struct {
	Action string                `json:"action" enum:"set,add,remove,list"`
	Events []events.Subscription `json:"events,omitempty" text:"event" jsonschema:"what to hear"`
}

// EventsSubscribeOut is the answer of events_subscribe.
type EventsSubscribeOut struct {
	Events []events.Subscription `json:"events"`
	Types  []schemas.EventType   `json:"types,omitempty"`
}

// Text says which events come, and which there are.
func (o EventsSubscribeOut) Text() string {
	chosen := make([]string, len(o.Events))
	for i, e := range o.Events {
		chosen[i] = words(" in ", string(e.Event), string(e.Group))
	}
	first := "you get: " + strings.Join(chosen, ", ")
	switch {
	case len(o.Events) == 0:
		first = "you get no events"
	case o.Events[0].Event == events.AnyEvent:
		first = "all you may read"
	}
	return lines(first, when(len(o.Types) > 0, "types: %s", typesText(o.Types)))
}

// typesText lists types, those of a kind behind its name: memory.{written,conflict}.
func typesText(types []schemas.EventType) string {
	var kinds []string
	of := map[string][]string{}
	for _, t := range types {
		kind, name, _ := strings.Cut(string(t), ".")
		if of[kind] == nil {
			kinds = append(kinds, kind)
		}
		of[kind] = append(of[kind], name)
	}
	for i, kind := range kinds {
		if len(of[kind]) == 1 {
			kinds[i] = kind + "." + of[kind][0]
			continue
		}
		kinds[i] = fmt.Sprintf("%s.{%s}", kind, strings.Join(of[kind], ","))
	}
	return strings.Join(kinds, " ")
}

const maxSubscribe = 100 // subscriptions in one call

func subscribe(ctx context.Context, c *Call, in eventsSubscribeIn) (EventsSubscribeOut, error) {
	if in.Action == "list" {
		return listSubscriptions(ctx, c)
	}
	// Absent is not empty: a caller that leaves events out must not lose all of them.
	if in.Events == nil || len(in.Events) == 0 && in.Action != string(events.SetSubscriptions) ||
		len(in.Events) > maxSubscribe {
		return EventsSubscribeOut{}, schemas.Invalidf("which events to %s is not said", in.Action).
			Expecting(`events with 1 to %d of {"event": …, "group": …}; with set also [] for nothing or `+
				`[{"event":"*"}] for everything`, maxSubscribe).
			With(schemas.Violation{Path: "/events", Msg: "is missing, empty or too long"}).
			Try("%s to see the types there are", schemas.Do("events_subscribe", "action", "list"))
	}
	return Transact(ctx, c, func(g access.Grant) (out EventsSubscribeOut, err error) {
		m, err := mailboxOf(g)
		if err != nil {
			return out, err
		}
		if err := m.Subscribe(g.Tx(), events.Change(in.Action), in.Events); err != nil {
			return out, err
		}
		if out.Events, err = m.Subscriptions(g.Tx()); err != nil {
			return out, err
		}
		return out, g.Audit(string(g.Actor()), in)
	})
}

func listSubscriptions(ctx context.Context, c *Call) (out EventsSubscribeOut, err error) {
	op := access.Op{Tool: c.Op.Name, Effect: access.Read, As: c.As}
	err = c.do(ctx, op, func(g access.Grant) error {
		m, err := mailboxOf(g)
		if err != nil {
			return err
		}
		out.Events, err = m.Subscriptions(g.Tx())
		return err
	})
	out.Types = schemas.EventTypes()
	return out, err
}
