package access

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// slotSlack is how much longer than its wait a waiter's slot is kept, so that
// a killed process frees it soon and a slow one does not lose it.
const slotSlack = 10 * time.Second

// maxWait bounds a wait.
const maxWait = time.Minute

// Wait runs f, which holds no transaction, for at most limit, itself at most a
// minute, while p waits for something. The wait takes a slot of everyone in the chain, across processes.
// f asks again through Do before it gives anything away, and ends when that is
// refused.
func (a *Authorizer) Wait(ctx context.Context, p Principal, op Op, limit time.Duration, f func(context.Context) error) error {
	var d decision
	limit = min(limit, maxWait)
	id := schemas.NewID()
	err := a.store.Write(ctx, func(tx *store.Tx) (err error) {
		if d, err = a.decide(tx, p, op); err != nil {
			return err
		}
		return takeSlots(tx, d, id, limit)
	})
	if err != nil {
		return err
	}
	defer a.giveSlots(context.WithoutCancel(ctx), d, id)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return f(ctx)
}

func takeSlots(tx *store.Tx, d decision, id string, limit time.Duration) error {
	expires := tx.Micros() + (limit + slotSlack).Microseconds()
	for _, e := range d.actor.entities {
		if e.Human {
			continue
		}
		if _, err := tx.Exec(dropSlots, e.ID, tx.Micros()); err != nil {
			return fmt.Errorf("take slot: %w", err)
		}
		var used int
		if err := tx.QueryRow(countSlots, e.ID).Scan(&used); err != nil {
			return fmt.Errorf("take slot: %w", err)
		}
		if used >= e.Caps.MaxParallelOps {
			return allBusy(e)
		}
		if _, err := tx.Exec(insertSlot, e.ID, id, expires, (limit + slotSlack + ClockSlack).Microseconds()); err != nil {
			return fmt.Errorf("take slot: %w", err)
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
	_ = a.store.Write(ctx, func(tx *store.Tx) error {
		_, err := tx.Exec(deleteSlot, id, string(list))
		return err
	})
}

func allBusy(e entity) error {
	return schemas.Errorf(schemas.CodeBusy, "%d operations of this agent or one above it are already running", e.Caps.MaxParallelOps).
		Try("wait for one to finish and repeat the call; the parent can raise max_parallel_ops with agent_capabilities")
}
