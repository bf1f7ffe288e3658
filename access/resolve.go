package access

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// candidate is an entity a reference may mean.
type candidate struct {
	id       schemas.EntityID
	name     string
	status   schemas.AgentStatus
	nearness int // 0 oneself, 1 child, 2 below, 3 above, 4 met in a group
}

// resolve finds whom viewer means by ref: a name, an id, or a prefix of an id of
// at least 8 characters. It looks only among those the viewer may know of, so a
// stranger and nobody get the same answer. Of equals the nearest is meant.
func resolve(tx *store.Tx, viewer schemas.EntityID, ref string) (schemas.EntityID, error) {
	rows, err := tx.Query(selectVisible, viewer, ref)
	found, err := store.Collect(rows, err, func(r *sql.Rows) (c candidate, err error) {
		return c, r.Scan(&c.id, &c.name, &c.status, &c.nearness)
	})
	if err != nil {
		return "", fmt.Errorf("resolve %q: %w", ref, err)
	}
	var best []candidate
	for _, c := range found {
		if string(c.id) == ref {
			return c.id, nil
		}
		if c.status == schemas.Removed {
			continue // the name may be given anew; the full id still finds it
		}
		if len(best) == 0 || c.nearness == best[0].nearness {
			best = append(best, c)
		}
	}
	switch len(best) {
	case 0:
		return "", NotKnown(ref)
	case 1:
		return best[0].id, nil
	}
	ids := make([]string, len(best))
	for i, c := range best {
		ids[i] = string(c.id[:12])
	}
	return "", schemas.Conflictf("%q could mean %d agents: %s", ref, len(best), strings.Join(ids, ", ")).
		Try("repeat the call with one of these id prefixes")
}

// NotKnown is the one answer for an agent that is absent and one that is hidden.
func NotKnown(ref string) error {
	return schemas.NotFoundf("there is no agent %q here", ref).
		Expecting("a name, an id, or the first 8 or more characters of an id").
		Try("agent_list shows the agents you can name")
}

// ErrNoGrant is what an empty or used-up Grant answers.
var ErrNoGrant = errors.New("access: no grant")
