package access

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// slotSlack is how much longer than its wait a waiter's slot is kept, so that
// a slow one does not lose it. A killed process's is free at once, where the store knows its processes.
const slotSlack = 10 * time.Second

// MaxWait bounds a wait.
const MaxWait = time.Minute

// Wait runs f, which holds no transaction, for at most limit, itself at most a minute, while p
// waits for something. The wait takes a slot of each entity in the chain, across processes. f
// asks again through Do before it returns data, and ends when Do refuses.
func (a *Authorizer) Wait(ctx context.Context, p Principal, op Op, limit time.Duration,
	f func(context.Context) error) error {
	var d decision
	limit = min(limit, MaxWait)
	process, err := a.store.Process()
	if err != nil {
		return err
	}
	s := slot{id: schemas.NewID(), during: limit, process: process}
	err = a.store.WriteConcurrent(ctx, string(p.Entity), func(tx *store.Tx) (err error) {
		if d, err = a.decide(tx, p, op); err != nil {
			return err
		}
		return a.takeSlots(tx, d, s)
	})
	if err != nil {
		return err
	}
	defer a.giveSlots(context.WithoutCancel(ctx), d, s.id)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return f(ctx)
}

// slot is one operation's, across processes. With the process named it ends when
// that does.
type slot struct {
	id      string
	during  time.Duration
	process string
}

func (a *Authorizer) takeSlots(tx *store.Tx, d decision, s slot) error {
	var agents []entity
	var ids []schemas.EntityID
	for _, e := range d.actor.entities {
		if !e.Human {
			agents, ids = append(agents, e), append(ids, e.ID)
		}
	}
	if len(agents) == 0 {
		return nil
	}
	if err := tx.Send(dropSlots, store.List(ids), tx.Micros()); err != nil {
		return fmt.Errorf("take slot: %w", err)
	}
	if !tx.Concurrent() { // else Ensure looks at the end
		if err := a.freeSlots(tx, agents, ids); err != nil {
			return err
		}
	}
	if err := tx.Last(insertSlots, store.List(ids), s.id, tx.Micros()+(s.during+slotSlack).Microseconds(),
		(s.during + slotSlack + ClockSlack).Microseconds(), s.process); err != nil {
		return fmt.Errorf("take slot: %w", err)
	}
	tx.Ensure(withinSlots, limits(agents))
	return nil
}

// freeSlots refuses agents that have no slot free.
func (a *Authorizer) freeSlots(tx *store.Tx, agents []entity, ids []schemas.EntityID) error {
	used, err := usedSlots(tx, ids)
	if err != nil {
		return fmt.Errorf("take slot: %w", err)
	}
	for i, e := range agents {
		if used[i] >= e.Caps.MaxParallelOps {
			if err := a.freeEnded(tx, e); err != nil {
				return fmt.Errorf("take slot: %w", err)
			}
			if used, err = usedSlots(tx, ids); err != nil {
				return fmt.Errorf("take slot: %w", err)
			}
		}
		if used[i] >= e.Caps.MaxParallelOps {
			return allBusy(e)
		}
	}
	return nil
}

// limits are how many slots each has, as a JSON list of pairs.
func limits(agents []entity) string {
	pairs := make([][2]any, len(agents))
	for i, e := range agents {
		pairs[i] = [2]any{e.ID, e.Caps.MaxParallelOps}
	}
	return store.List(pairs)
}

// usedSlots counts the slots that each of ids has taken.
func usedSlots(tx *store.Tx, ids []schemas.EntityID) ([]int, error) {
	rows, err := tx.Query(countSlots, store.List(ids))
	return store.Collect(rows, err, store.Column[int])
}

// freeEnded frees the slots of e that killed processes took. Otherwise a restart of many
// workers at once would wait a minute for each.
func (a *Authorizer) freeEnded(tx *store.Tx, e entity) error {
	var processes string
	if err := tx.QueryRow(slotProcesses, e.ID).Scan(&processes); err != nil {
		return err
	}
	for process := range strings.FieldsSeq(processes) {
		if !a.store.Ended(process) {
			continue
		}
		if _, err := tx.Exec(dropProcess, process); err != nil {
			return err
		}
	}
	return nil
}

// giveSlots frees a waiter's slots; if that fails they expire.
func (a *Authorizer) giveSlots(ctx context.Context, d decision, id string) {
	ids := make([]schemas.EntityID, len(d.actor.entities))
	for i, e := range d.actor.entities {
		ids[i] = e.ID
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return
	}
	_ = a.store.WriteConcurrent(ctx, string(d.actor.self().ID), func(tx *store.Tx) error {
		return tx.Send(deleteSlot, id, string(list))
	})
}

func allBusy(e entity) error {
	return schemas.Errorf(schemas.CodeBusy, "%d operations of this agent or one above it are already running",
		e.Caps.MaxParallelOps).
		Try("wait for one to finish and repeat the call; the parent can raise max_parallel_ops with %s",
			schemas.Other("agent_capabilities"))
}
