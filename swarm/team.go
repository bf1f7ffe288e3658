package swarm

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/pipeline"
	"cordelia/schemas"
)

// Teams is how the pipeline learns of swarms.
type Teams struct{}

// Team gives the rules and present members of a swarm, for the roles of a task. A swarm without
// a coordinator, or whose coordinator has ended, is coordinated by its maker. A group that is
// no swarm has no team.
func (Teams) Team(g access.Grant, group schemas.GroupID) (t pipeline.Team, err error) {
	if g.Tx() == nil {
		return t, access.ErrNoGrant
	}
	var lead, creator pipeline.Member
	err = g.Tx().QueryRow(selectTeam, group).Scan(&t.Strategy, &lead.ID, &lead.Name, &creator.ID, &creator.Name)
	if errors.Is(err, store.ErrNoRows) {
		return t, nil
	}
	if err != nil {
		return t, fmt.Errorf("read swarm: %w", err)
	}
	rows, err := g.Tx().Query(selectMembers, group)
	t.Members, err = store.Collect(rows, err, func(r *sql.Rows) (m pipeline.Member, err error) {
		return m, r.Scan(&m.ID, &m.Name, &m.Slot, &m.Stage, &m.Cell)
	})
	if err != nil {
		return t, fmt.Errorf("read members: %w", err)
	}
	t.Lead = cmp.Or(lead, creator)
	inIt := slices.ContainsFunc(t.Members, func(m pipeline.Member) bool { return m.ID == t.Lead.ID })
	if t.Strategy == schemas.Hierarchical && !inIt {
		t.Members = append(t.Members, t.Lead)
	}
	return t, nil
}
