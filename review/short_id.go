package review

import (
	"slices"

	"cordelia/access"
	"cordelia/memory"
)

// Named gives what waits, or waited, for the actor and ref, the beginning or the end of an
// id, may stand for: reviews of staging groups it reads, proposals and invitations.
func Named(g access.Grant, ref string) ([]string, error) {
	groups, err := readable(g)
	if err != nil {
		return nil, err
	}
	ids, err := access.IDsNamed(g, selectNamed, ref, groups)
	if err != nil {
		return nil, err
	}
	proposals, err := access.IDsNamed(g, selectProposalsNamed, ref, g.Actor())
	if err != nil {
		return nil, err
	}
	invitations, err := memory.InvitationsNamed(g, ref)
	return slices.Concat(ids, proposals, invitations), err
}
