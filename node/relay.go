package node

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"cordelia/access"
	"cordelia/events"
	"cordelia/schemas"
)

// Outward is where events are handed to for other systems. A message has reached it when
// Publish returns, which takes seconds at most; one that came before, by its id, does no harm.
type Outward interface {
	Publish(ctx context.Context, subject, id string, body []byte) error
	Close()
}

const (
	relayEvery = 5 * time.Second  // another look, if nothing woke the relay
	relayHold  = 15 * time.Second // how long one process has the right; a batch ends before that
	relayBatch = 100
)

// Relay hands the events of these groups outward from now on, until the node is closed. Where
// it stopped is kept in the store, so that any process goes on there: what was handed over
// shortly before a process was killed is handed over again, under the same id. Nothing in the
// node waits for it. It closes to in the end.
func (n *Node) Relay(to Outward, groups []schemas.GroupID) {
	r := &relay{n: n, to: to, from: events.Outward{Groups: groups, Owner: rand.Text()[:12]},
		lost: map[schemas.GroupID]int64{}, refused: map[schemas.GroupID]error{}}
	n.background(r.run)
}

// relay is the work of one process.
type relay struct {
	n     *Node
	to    Outward
	from  events.Outward
	begun bool
	held  bool   // the right to hand over
	fault string // as was logged, "" = none

	lost    map[schemas.GroupID]int64 // events that were removed before they could go out, as was logged
	refused map[schemas.GroupID]error // groups whose events were, and that wait for the next tick
}

func (r *relay) run(ctx context.Context) {
	defer r.to.Close()
	defer r.release(ctx)
	woken, end := r.n.Store.Watch()
	defer end()
	tick := time.NewTicker(relayEvery)
	defer tick.Stop()
	again := false
	for {
		err := r.all(ctx, again)
		if ctx.Err() != nil {
			return
		}
		news := woken
		if err != nil && len(r.refused) == 0 || len(r.refused) == len(r.from.Groups) {
			news = nil // or each commit would try again
		}
		r.say(err)
		select {
		case <-ctx.Done():
			return
		case <-news:
			again = false
		case <-tick.C:
			again = true
		}
	}
}

// say logs what keeps events from going out when it begins, when it changes and when it is over.
func (r *relay) say(err error) {
	fault := ""
	if err != nil {
		fault = err.Error()
	}
	switch {
	case fault == r.fault:
	case err != nil:
		slog.Warn("events outward: they wait and are tried again", "err", err)
	default:
		slog.Info("events outward: they go on")
	}
	r.fault = fault
}

// all hands over what there is. A group that is refused waits, and holds up no other: it is tried
// again behind them, on its own.
func (r *relay) all(ctx context.Context, again bool) error {
	later := r.refused
	if !again {
		later = nil
	}
	rest := slices.DeleteFunc(slices.Clone(r.from.Groups), func(g schemas.GroupID) bool { return r.refused[g] != nil })
	if err := r.groups(ctx, rest); err != nil {
		return err
	}
	for _, g := range slices.Sorted(maps.Keys(later)) {
		delete(r.refused, g)
		if err := r.groups(ctx, []schemas.GroupID{g}); err != nil {
			return err
		}
	}
	for _, g := range slices.Sorted(maps.Keys(r.refused)) {
		return fmt.Errorf("group %s: %w", g, r.refused[g])
	}
	return nil
}

// groups hands over what there is of these. What refuses one is kept.
func (r *relay) groups(ctx context.Context, groups []schemas.GroupID) error {
	for len(groups) > 0 {
		batch, err := r.next(ctx, groups)
		if err != nil || len(batch.Events) == 0 {
			return err
		}
		if mine, err := r.noteSent(ctx, batch, 0); err != nil || !mine {
			return err
		}
		if batch.Removed > r.lost[batch.Group] {
			r.lost[batch.Group] = batch.Removed
			slog.Warn("events outward: some were removed before they were handed over (retention.unread_days)",
				"group", batch.Group, "events", batch.Removed)
		}
		sent, failed := r.send(ctx, batch)
		if _, err := r.noteSent(ctx, batch, sent); err != nil || ctx.Err() != nil {
			return errors.Join(failed, err)
		}
		if sent > 0 {
			delete(r.lost, batch.Group)
		}
		if failed != nil {
			r.refused[batch.Group] = failed
			groups = slices.DeleteFunc(slices.Clone(groups), func(g schemas.GroupID) bool { return g == batch.Group })
		}
	}
	return nil
}

func (r *relay) next(ctx context.Context, groups []schemas.GroupID) (batch events.Outgoing, err error) {
	if !r.begun {
		if err := r.n.Routine(ctx, "relay", func(g access.Grant) error { return r.from.Begin(g.Tx()) }); err != nil {
			return batch, err
		}
		r.begun = true
	}
	from := r.from
	from.Groups = groups
	err = r.n.Look(ctx, "relay", func(g access.Grant) (err error) {
		batch, err = from.Next(g.Tx(), relayBatch)
		return err
	})
	return batch, err
}

// noteSent notes that so many of a batch were handed over, and reports whether this process may hand
// over more.
func (r *relay) noteSent(ctx context.Context, batch events.Outgoing, sent int) (mine bool, err error) {
	// What was handed over is noted also when the node is being closed.
	err = r.n.Routine(context.WithoutCancel(ctx), "relay", func(g access.Grant) (err error) {
		if mine, err = r.from.Hold(g.Tx(), relayHold); err != nil {
			return err
		}
		return r.from.Passed(g.Tx(), batch, sent)
	})
	r.held = r.held || mine
	return mine, err
}

// release lets another process go on at once; else it waits until the right is over.
func (r *relay) release(ctx context.Context) {
	if !r.held {
		return
	}
	if err := r.n.Routine(context.WithoutCancel(ctx), "relay",
		func(g access.Grant) error { return r.from.Release(g.Tx()) }); err != nil {
		slog.Warn("events outward", "err", err)
	}
}

// send hands events over one after the other, so that they arrive in the order of their stream,
// and says how many were.
func (r *relay) send(ctx context.Context, batch events.Outgoing) (sent int, err error) {
	begun := time.Now()
	for _, e := range batch.Events {
		if time.Since(begun) > relayHold/3 {
			break
		}
		body, err := json.Marshal(e)
		if err != nil {
			return sent, fmt.Errorf("event %s: %w", e.ID, err)
		}
		if err := r.to.Publish(ctx, subject(batch.Group, e.Type), string(e.ID), body); err != nil {
			return sent, err
		}
		sent++
	}
	return sent, nil
}

// subject names what a message is about: cordelia.GROUP.TYPE. A dot would end a part of it, and no
// group's name holds what stands for one: a listener to one group's subjects hears no other's.
func subject(group schemas.GroupID, kind schemas.EventType) string {
	return "cordelia." + strings.ReplaceAll(string(group), ".", "=") + "." + string(kind)
}
