package review

import (
	"fmt"
	"slices"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/schemas"
)

// Named gives what waits, or waited, for the actor and ref, the beginning or the end of an
// id, may stand for: reviews of staging groups it reads, proposals and invitations.
func Named(g access.Grant, ref string) ([]string, error) {
	groups, err := readable(g)
	if err != nil {
		return nil, err
	}
	ids, err := named(g, selectNamed, groups, ref, schemas.MaxShortMatches)
	if err != nil {
		return nil, err
	}
	proposals, err := named(g, selectProposalsNamed, g.Actor(), ref, schemas.MaxShortMatches)
	if err != nil {
		return nil, err
	}
	invitations, err := memory.InvitationsNamed(g, ref)
	return slices.Concat(ids, proposals, invitations), err
}

func named(g access.Grant, query string, args ...any) ([]string, error) {
	rows, err := g.Tx().Query(query, args...)
	ids, err := store.Collect(rows, err, store.Column[string])
	if err != nil {
		return nil, fmt.Errorf("find review: %w", err)
	}
	return ids, nil
}
