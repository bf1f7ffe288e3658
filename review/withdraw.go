package review

import (
	"fmt"
	"slices"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Withdraw takes back the actor's submissions that no reviewer has decided yet.
func Withdraw(g access.Grant, group schemas.GroupID) (n int, err error) {
	if g.Tx() == nil {
		return 0, access.ErrNoGrant
	}
	open, err := openOf(g, g.Actor())
	if err != nil {
		return 0, err
	}
	if !slices.Contains(open, group) {
		return 0, nothingToTakeBack(g, group, open)
	}
	rows, err := pending(g, group)
	if err != nil {
		return 0, err
	}
	for _, r := range rows {
		if _, err := r.move(g, schemas.ReviewWithdraw, g.Actor(), "", ""); err != nil {
			return 0, err
		}
	}
	_, err = closeIfDone(g, rows[0])
	return len(rows), err
}

// nothingToTakeBack refuses to withdraw from a group in which nothing of the actor's waits; open are those in
// which something does.
func nothingToTakeBack(g access.Grant, group schemas.GroupID, open []schemas.GroupID) error {
	if g.IsHuman() {
		return schemas.NotFoundf("nothing that you brought back waits for review").
			Try("an agent takes back what it brought: cordelia review withdraw ID --as NAME")
	}
	if len(open) == 0 {
		return schemas.NotFoundf("nothing that you brought back waits for review").
			Try("what became of it came as review.closed: %s", schemas.Tool("events_poll"))
	}
	refusal := schemas.NotFoundf("nothing that you brought back waits in %q", group)
	if group == "" {
		refusal = schemas.Invalidf("withdraw lacks staging")
	}
	return refusal.Expecting("one of %s", schemas.Joined(open)).Try("%s", takeBack(open[0]))
}

// openOf lists the staging groups in which something waits that an agent brought back, the oldest first.
func openOf(g access.Grant, agent schemas.EntityID) ([]schemas.GroupID, error) {
	rows, err := g.Tx().Query(selectOpen, agent)
	open, err := store.Collect(rows, err, store.Column[schemas.GroupID])
	if err != nil {
		return nil, fmt.Errorf("read returns: %w", err)
	}
	return open, nil
}

// takeBack is the call that withdraws what waits in a staging group.
func takeBack(group schemas.GroupID) schemas.Call {
	return schemas.Tool("reintegrate", "action", "withdraw", "staging", group)
}
