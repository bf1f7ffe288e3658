package access

import (
	"database/sql"
	"fmt"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// Membership is how an entity stands in a group.
type Membership struct {
	Group schemas.GroupID
	Kind  string
	Role  MemberRole
	Owner schemas.EntityID // of the group
	Shut  string           // why no member may write there; "" if members may
}

// MembershipsOf lists the groups that an entity is a member of.
func (g Grant) MembershipsOf(id schemas.EntityID) ([]Membership, error) {
	if g.Tx() == nil {
		return nil, ErrNoGrant
	}
	rows, err := g.g.tx.Query(selectMyGroups, id)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (m Membership, err error) {
		in, err := scanInGroup(r)
		m = Membership{Group: in.id, Kind: in.kind, Role: in.role, Owner: in.owner}
		switch {
		case in.archived != 0:
			m.Shut = "is archived"
		case in.emcon:
			m.Shut = "has emission control on"
		}
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("read memberships: %w", err)
	}
	return list, nil
}
