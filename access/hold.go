package access

import (
	"fmt"
	"time"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// WritableGroups lists the groups the actor may write to.
func (g Grant) WritableGroups() ([]schemas.GroupID, error) {
	if g.Tx() == nil || g.g.decision.actor == nil {
		return nil, ErrNoGrant
	}
	groups, err := g.groups()
	if err != nil {
		return nil, err
	}
	var may []schemas.GroupID
	for _, in := range groups {
		n := Need{Kind: KindWrite, Layer: schemas.L2, Visibility: schemas.Group, Owner: in.owner, Group: in.id}
		op := Operation{Tool: g.g.op.Tool, Kind: n.Kind, Layer: n.Layer, Visibility: n.Visibility}
		if g.g.enterGroup(&op, in) != "" {
			continue
		}
		if why, err := g.g.refusesOperation(n, op); err != nil {
			return nil, err
		} else if why == "" {
			may = append(may, in.id)
		}
	}
	return may, nil
}

// Could reports whether id could call every one of tools and touch all of needs
// by itself, with the rights it has now, in this transaction.
func (g Grant) Could(id schemas.EntityID, tools []string, needs ...Need) (bool, error) {
	if g.Tx() == nil {
		return false, ErrNoGrant
	}
	c, epoch, err := g.g.auth.cache.get(g.g.tx, id)
	if err != nil || c == nil {
		return false, err
	}
	for _, tool := range tools {
		if len(Evaluate(c.links, Operation{Tool: tool}, g.g.tx.Micros())) > 0 {
			return false, nil
		}
	}
	other := &grant{auth: g.g.auth, tx: g.g.tx, op: Op{Tool: tools[0]}, decision: decision{epoch: epoch, actor: c},
		changed: true}
	for _, n := range needs {
		if why, err := other.refuses(n); err != nil || why != "" {
			return false, err
		}
	}
	return true, nil
}

// Hold takes a slot of each entity in the actor's chain under the name id, for at most the time
// given, across processes. CodeBusy if an entity has no slot left.
func (g Grant) Hold(id string, during time.Duration) error {
	if g.Tx() == nil {
		return ErrNoGrant
	}
	return g.g.auth.takeSlots(g.g.tx, g.g.decision, slot{id: id, during: during})
}

// KeepHold lets what was taken under the name id last until a later time, UTC µs.
func KeepHold(tx *store.Tx, id string, until int64) error {
	if err := tx.Send(keepSlots, until+slotSlack.Microseconds(), id); err != nil {
		return fmt.Errorf("keep slots: %w", err)
	}
	return nil
}

// DropHold gives back the slots taken under the name id, by any process.
func (g Grant) DropHold(id string) error {
	if g.Tx() == nil {
		return ErrNoGrant
	}
	if err := g.g.tx.Send(deleteHold, id); err != nil {
		return fmt.Errorf("give slots: %w", err)
	}
	return nil
}
