package events

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// AnyEvent stands for every event type where subscriptions are changed.
const AnyEvent schemas.EventType = "*"

// maxSubscriptions bounds how many a reader may have.
const maxSubscriptions = 1000

// Subscription is one kind of event a reader wants to hear of.
type Subscription struct {
	Event schemas.EventType `json:"event" jsonschema:"type, or *"`
	Group schemas.GroupID   `json:"group,omitempty" jsonschema:"only there"` // "" = wherever it comes from
}

// Change says what to do with subscriptions.
type Change string

const (
	SetSubscriptions    Change = "set"
	AddSubscriptions    Change = "add"
	RemoveSubscriptions Change = "remove"
)

// subscriptions is what a reader wants to hear. The zero value is nothing.
type subscriptions struct {
	all  bool // no subscription is stored, so it gets all that it may read
	list []Subscription
}

// nothing marks, in the table, that a reader wants to hear nothing: without any
// row it would hear everything.
const nothing schemas.EventType = ""

func subscriptionsOf(tx *store.Tx, reader schemas.EntityID) (subscriptions, error) {
	var list string
	if err := tx.QueryRow(selectSubscriptions, nil, reader).Scan(&list); err != nil {
		return subscriptions{}, fmt.Errorf("read subscriptions: %w", err)
	}
	return parseSubscriptions(list)
}

// parseSubscriptions reads what selectSubscriptions gives.
func parseSubscriptions(list string) (subscriptions, error) {
	if list == "[]" {
		return subscriptions{all: true}, nil
	}
	var pairs [][2]string
	if err := json.Unmarshal([]byte(list), &pairs); err != nil {
		return subscriptions{}, fmt.Errorf("read subscriptions: %w", err)
	}
	s := subscriptions{list: []Subscription{}}
	for _, p := range pairs {
		if event := schemas.EventType(p[0]); event != nothing {
			s.list = append(s.list, Subscription{Event: event, Group: schemas.GroupID(p[1])})
		}
	}
	return s, nil
}

// types lists, as JSON, what is wanted of a group's stream, or of the reader's
// own for ""; nil for all.
func (s subscriptions) types(group schemas.GroupID) *string {
	if s.all {
		return nil
	}
	list := []string{}
	for _, sub := range s.list {
		if sub.Group == "" || sub.Group == group {
			list = append(list, string(sub.Event))
		}
	}
	b, _ := json.Marshal(list) // strings always marshal
	text := string(b)
	return &text
}

// Subscriptions lists what the reader hears: AnyEvent alone if everything,
// empty if nothing.
func (m Mailbox) Subscriptions(tx *store.Tx) ([]Subscription, error) {
	s, err := subscriptionsOf(tx, m.Reader)
	if s.all {
		return []Subscription{{Event: AnyEvent}}, err
	}
	return s.list, err
}

// Subscribe changes what the reader hears. Setting an empty list means nothing,
// setting AnyEvent everything. Errors: CodeInvalid for an unknown type, with all
// that is wrong; CodeNotFound for a group the reader may not read, the same as
// for one that does not exist.
func (m Mailbox) Subscribe(tx *store.Tx, change Change, subs []Subscription) error {
	if err := m.check(subs); err != nil {
		return err
	}
	now, err := subscriptionsOf(tx, m.Reader)
	if err != nil {
		return err
	}
	if now, err = now.change(change, subs); err != nil {
		return err
	}
	if len(now.list) > maxSubscriptions {
		return schemas.Invalidf("%d subscriptions are too many", len(now.list)).
			Expecting("at most %d; one without group covers every group", maxSubscriptions)
	}
	if _, err := tx.Exec(deleteSubscriptions, m.Reader); err != nil {
		return fmt.Errorf("change subscriptions: %w", err)
	}
	if !now.all && len(now.list) == 0 {
		now.list = []Subscription{{Event: nothing}}
	}
	for _, s := range now.list {
		if _, err := tx.Exec(insertSubscription, m.Reader, s.Event, s.Group); err != nil {
			return fmt.Errorf("change subscriptions: %w", err)
		}
	}
	return nil
}

// check refuses unknown types and groups that may not be read.
func (m Mailbox) check(subs []Subscription) error {
	var unknown []schemas.Violation
	for i, s := range subs {
		if s.Event != AnyEvent && !s.Event.Known() {
			unknown = append(unknown, schemas.Violation{
				Path: fmt.Sprintf("/events/%d/event", i),
				Msg: fmt.Sprintf("there is no event %q%s", s.Event,
					schemas.DidYouMean(string(s.Event), schemas.Strings(schemas.EventTypes()))),
			})
		}
	}
	if unknown != nil {
		return schemas.Invalidf("nothing was changed: an event type is unknown").With(unknown...).
			Expecting("* or one of %s", schemas.Joined(schemas.EventTypes()))
	}
	for _, s := range subs {
		if s.Group == "" {
			continue
		}
		ok := false
		if m.Allow != nil {
			var err error
			if ok, err = m.Allow(GroupStream(s.Group)); err != nil {
				return err
			}
		}
		if !ok {
			return schemas.NotFoundf("there is no group %q here", s.Group).
				Expecting("the id of a group you may read, or none for all").
				Try("%s shows the groups you can read", schemas.Tool("memory_group", "action", "list"))
		}
	}
	return nil
}

// change gives the subscriptions after a change.
func (s subscriptions) change(change Change, subs []Subscription) (subscriptions, error) {
	everything := slices.Contains(subs, Subscription{Event: AnyEvent})
	switch change {
	case SetSubscriptions:
		if everything {
			return subscriptions{all: true}, nil
		}
		return subscriptions{list: expand(subs)}, nil
	case AddSubscriptions:
		if s.all || everything {
			return subscriptions{all: true}, nil
		}
		return subscriptions{list: normal(slices.Concat(s.list, expand(subs)))}, nil
	case RemoveSubscriptions:
		return s.without(expand(subs))
	}
	return s, schemas.Invalidf("there is no way %q to change subscriptions", change).Expecting("set, add or remove")
}

// without takes subs out. A type without group is taken out wherever it comes
// from.
func (s subscriptions) without(subs []Subscription) (subscriptions, error) {
	list := slices.Clone(s.list)
	if s.all {
		list = expand([]Subscription{{Event: AnyEvent}})
	}
	for _, sub := range subs {
		if sub.Group != "" && slices.Contains(list, Subscription{Event: sub.Event}) {
			return s, schemas.Invalidf("%s is heard from every group; one group cannot be taken out of that",
				sub.Event).
				Try("repeat the call with action set and the list of events and groups to hear")
		}
		list = slices.DeleteFunc(list, func(have Subscription) bool {
			return have == sub || sub.Group == "" && have.Event == sub.Event
		})
	}
	return subscriptions{list: list}, nil
}

// expand writes AnyEvent out as all the types there are.
func expand(subs []Subscription) []Subscription {
	var list []Subscription
	for _, s := range subs {
		if s.Event != AnyEvent {
			list = append(list, s)
			continue
		}
		for _, t := range schemas.EventTypes() {
			list = append(list, Subscription{Event: t, Group: s.Group})
		}
	}
	return normal(list)
}

// normal sorts list and drops what a subscription without group covers.
func normal(list []Subscription) []Subscription {
	slices.SortFunc(list, func(a, b Subscription) int {
		return cmp.Or(cmp.Compare(a.Event, b.Event), cmp.Compare(a.Group, b.Group))
	})
	kept := list[:0]
	for _, s := range list {
		if k := len(kept); k > 0 && kept[k-1].covers(s) {
			continue
		}
		kept = append(kept, s)
	}
	return kept
}

// covers reports whether hearing s includes hearing other.
func (s Subscription) covers(other Subscription) bool {
	return s.Event == other.Event && (s.Group == "" || s.Group == other.Group)
}
