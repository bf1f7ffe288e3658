package node

import (
	"encoding/json"
	"errors"
	"fmt"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/events"
	"cordelia/memory"
	"cordelia/memory/hot"
	"cordelia/roles"
	"cordelia/schemas"
	"cordelia/trust"
	"cordelia/work"
)

// apply makes the plan's changes in the restored database.
func (p restorePlan) apply(g access.Grant, n *Node) error {
	tx := g.Tx()
	for _, c := range p.standings {
		if err := c.apply(g, n); err != nil {
			return err
		}
	}
	if err := p.applyGroups(g); err != nil {
		return err
	}
	if err := trust.Carry(g, p.trust); err != nil {
		return err
	}
	if p.report.Present == CarriedOver {
		if err := memory.CarryBindings(g, p.bindings); err != nil {
			return err
		}
		if err := memory.CarryDecisions(g, p.decisions); err != nil {
			return err
		}
	}
	if _, err := trust.Verify(tx); err != nil {
		return err
	}
	if _, err := tx.Exec(dropAllTokens); err != nil {
		return fmt.Errorf("end tokens: %w", err)
	}
	if err := errors.Join(work.Restored(g, p.cancelled), p.charters.Restore(g)); err != nil {
		return err
	}
	if err := agents.EndChallenges(tx); err != nil {
		return err
	}
	if err := access.RaiseEpoch(tx, p.epoch); err != nil {
		return err
	}
	fork := events.ForkDetail{ForkAt: p.report.ForkAt, AbandonedEntries: p.entries, AbandonedLast: p.head,
		Present: string(p.report.Present)}
	if p.report.Present == Unrelated {
		fork.ForkAt = 0
	}
	return g.Audit(events.RestoreTarget, restoreDetail{fork, p.person, p.report.Carried,
		p.report.Suspended, p.report.Lost, p.report.SuspendedRoles, true})
}

// applyGroups carries over memberships that changed since the backup, and groups that were closed.
func (p restorePlan) applyGroups(g access.Grant) error {
	for _, m := range p.roles {
		query, args := carryRole, []any{m.role, m.group, m.entity}
		if m.role == "" {
			query, args = dropMember, args[1:]
		}
		if _, err := g.Tx().Exec(query, args...); err != nil {
			return fmt.Errorf("carry membership over: %w", err)
		}
		detail := map[string]any{"carried": true, "member": m.entity, "role": m.role}
		if m.role == "" {
			detail = map[string]any{"carried": true, "left": m.entity}
		}
		if err := g.Audit("group/"+string(m.group), detail); err != nil {
			return err
		}
	}
	for _, c := range p.closed {
		if _, err := g.Tx().Exec(carryClosed, c.emcon, c.archived, c.id); err != nil {
			return fmt.Errorf("carry group over: %w", err)
		}
	}
	return nil
}

// restoreDetail is what the audit entry of a restore holds besides the fork.
type restoreDetail struct {
	events.ForkDetail
	By             schemas.EntityID      `json:"by"`
	Carried        []Carried             `json:"carried"`
	Suspended      []string              `json:"suspended"`
	Lost           []string              `json:"lost"`
	SuspendedRoles []roles.SuspendedRole `json:"suspended_roles,omitempty"`
	// CarriedEach: each carried-over row has an audit entry.
	CarriedEach bool `json:"carried_each"`
}

func (c carriedStanding) apply(g access.Grant, n *Node) error {
	tx, s := g.Tx(), c.now
	if _, err := tx.Exec(carryStanding, s.capabilities, s.grants, s.Status, s.by, s.reason, s.at, s.expires, s.graceEnd,
		s.ID); err != nil {
		return fmt.Errorf("carry rights over: %w", err)
	}
	if err := g.Audit(string(s.ID), map[string]any{"carried": true, "after": json.RawMessage(s.capabilities),
		"grants": json.RawMessage(s.grants)}); err != nil {
		return err
	}
	if c.keys != nil {
		if _, err := tx.Exec(carryKey, s.public, s.enc, s.binding, s.seq, s.sealed, s.ID); err != nil {
			return fmt.Errorf("carry key over: %w", err)
		}
		for _, k := range c.keys {
			if _, err := tx.Exec(carryOldKey, s.ID, k.seq, k.public, k.enc, k.binding, k.from, k.to, k.reason,
				k.record); err != nil {
				return fmt.Errorf("carry key over: %w", err)
			}
		}
	}
	return g.Routine(func() error { return c.context(g, n) })
}

// context makes the agent's L1 entry fit its status, as the lifecycle would
// have.
func (c carriedStanding) context(g access.Grant, n *Node) error {
	if c.now.Status == c.was.Status {
		return nil
	}
	switch {
	case c.now.Status == schemas.Removed:
		if err := leaveGroups(g, c.now.ID); err != nil {
			return err
		}
		return hot.Delete(g, c.now.ID)
	case c.now.Status == schemas.Deactivated:
		r, err := agents.Get(g, string(c.now.ID))
		if err != nil {
			return err
		}
		_, err = n.archive(g, r)
		return err
	case c.was.Status == schemas.Deactivated:
		return hot.Restore(g, c.now.ID)
	}
	return nil
}
