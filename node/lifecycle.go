package node

import (
	"context"
	"database/sql"
	"errors"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/memory/hot"
	"cordelia/roles"
	"cordelia/schemas"
	"cordelia/swarm"
	"cordelia/work"
)

// lifecycle lets the authorizer make the moves it finds due.
type lifecycle struct{ n *Node }

// Move makes one of the node's lifecycle moves. A move another process made
// meanwhile is no error.
func (l lifecycle) Move(ctx context.Context, id schemas.EntityID, on schemas.Trigger) error {
	reason := string(on)
	if on == schemas.FirstOperation {
		reason = "" // that an agent works needs none
	}
	err := l.n.Routine(ctx, "lifecycle", func(g access.Grant) error {
		_, _, err := l.n.MoveAgent(g, string(id), on, reason)
		return err
	})
	if errors.Is(err, schemas.ErrConflict) {
		return nil
	}
	return err
}

// MoveAgent makes a lifecycle move and what belongs to it: deactivation
// ends leases and archives the L1 context, reactivation restores it, removal deletes it and ends
// the memberships. Trust stays.
func (n *Node) MoveAgent(g access.Grant, ref string, on schemas.Trigger,
	reason string) (agents.Moved, schemas.ItemID, error) {
	m, err := agents.Move(g, ref, on, reason, n.periods)
	if err != nil || m.From == m.Status {
		return m, "", err
	}
	if m.Status != schemas.Active {
		if err := work.Revoke(g, m.ID); err != nil {
			return m, "", err
		}
	}
	if m.Status == schemas.Deactivated || m.Status == schemas.Removed {
		if err := n.tasks.Vacate(g, m.ID); err != nil {
			return m, "", err
		}
	}
	coordinators, err := swarm.Coordinators(g, m.ID, m.Parent)
	if err != nil {
		return m, "", err
	}
	changed := schemas.AgentStatusChanged{AgentID: m.ID, OldStatus: m.From, NewStatus: m.Status}
	for _, coordinator := range coordinators {
		if err := g.Emit(events.EntityStream(coordinator), schemas.EventAgentStatusChanged, changed); err != nil {
			return m, "", err
		}
	}
	var archive schemas.ItemID
	err = g.Routine(func() error {
		switch m.Status {
		case schemas.Deactivated:
			archive, err = n.archive(g, m.Record)
			return err
		case schemas.Removed:
			if err := leaveGroups(g, m.ID); err != nil {
				return err
			}
			if err := roles.Removed(g, m.ID); err != nil {
				return err
			}
			return hot.Delete(g, m.ID)
		case schemas.Active:
			if m.From == schemas.Deactivated {
				return hot.Restore(g, m.ID)
			}
		}
		return nil
	})
	return m, archive, err
}

// archive puts a deactivated agent's context away, for the grace period, and
// writes its final state to L2 as a session of the agent's own (seed §8.4), for
// its parent's review.
func (n *Node) archive(g access.Grant, r agents.Record) (schemas.ItemID, error) {
	profile, err := g.Profile(r.ID)
	if err != nil {
		return "", err
	}
	final, err := hot.Archive(g, r.ID, r.DisplayName, hot.View{Agent: &profile})
	if err != nil {
		return "", err
	}
	return schemas.ItemID(final.ID), memory.WriteArchive(g, r.ID, final)
}

// leaveGroups ends every membership of an agent that is removed, as each
// group's departure policy says.
func leaveGroups(g access.Grant, id schemas.EntityID) error {
	rows, err := g.Tx().Query(selectGroupsOf, id)
	groups, err := store.Collect(rows, err, func(r *sql.Rows) (group schemas.GroupID, err error) {
		return group, r.Scan(&group)
	})
	if err != nil {
		return err
	}
	for _, group := range groups {
		if err := memory.Leave(g, group, id); err != nil {
			return err
		}
	}
	return nil
}
