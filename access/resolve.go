package access

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// candidate is an entity a reference may mean.
type candidate struct {
	id       schemas.EntityID
	name     string
	status   schemas.AgentStatus
	nearness int              // 0 oneself, 1 child, 2 below, 3 above, 4 met in a group
	parent   schemas.EntityID // "" if the viewer may not know of it
	under    string           // the parent's name
}

// visible lists whom viewer may know of and may mean by ref, the nearest first.
func visible(tx *store.Tx, viewer schemas.EntityID, ref string) ([]candidate, error) {
	rows, err := tx.Query(selectVisible, viewer, ref)
	found, err := store.Collect(rows, err, func(r *sql.Rows) (c candidate, err error) {
		return c, r.Scan(&c.id, &c.name, &c.status, &c.nearness, &c.parent, &c.under)
	})
	if err != nil {
		return nil, fmt.Errorf("resolve %q: %w", ref, err)
	}
	return found, nil
}

// resolve finds the entity that viewer means by ref: a name, parent/name, an id, or a prefix of
// an id of at least 8 characters. It looks only among the entities the viewer may know of, so a
// foreign entity and a missing one get the same answer. Of several with the name, it takes the
// nearest.
func resolve(tx *store.Tx, viewer schemas.EntityID, ref string) (schemas.EntityID, error) {
	under, name, qualified := strings.Cut(ref, "/")
	if !qualified {
		name = ref
	}
	found, err := visible(tx, viewer, name)
	if err != nil {
		return "", err
	}
	if qualified {
		parents, err := visible(tx, viewer, under)
		if err != nil {
			return "", err
		}
		found = slices.DeleteFunc(found, func(c candidate) bool {
			return !slices.ContainsFunc(parents, func(p candidate) bool { return p.id == c.parent })
		})
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
		return "", notKnownTo(tx, viewer, ref)
	case 1:
		return best[0].id, nil
	}
	return "", schemas.Conflictf("%q could mean %d agents: %s", ref, len(best), strings.Join(distinctNames(best), ", ")).
		Try("repeat the call with one of these")
}

// distinctNames names candidates so that no two names are equal: parent/name, or the beginning
// of the id where two of those are equal.
func distinctNames(list []candidate) []string {
	count := map[string]int{}
	out := make([]string, len(list))
	for i, c := range list {
		if c.parent != "" {
			out[i] = c.under + "/" + c.name
		}
		count[out[i]]++
	}
	for i, c := range list {
		if out[i] == "" || count[out[i]] > 1 {
			out[i] = string(c.id[:12])
		}
	}
	slices.Sort(out)
	return out
}

// RefOf names an agent so that each caller who may name it means this one: by its name where no other has that,
// else by the beginning of its id. Names are unique below their parent alone, and who acts on a hint may be
// the person, the agent's parent or one between. A person's own agent keeps its name, which the command line
// takes as the nearest. An agent further down than the children of those has its id: the form must not tell
// its parent whether one that the parent may not know of has the name.
func RefOf(tx *store.Tx, id schemas.EntityID) string {
	var name string
	var depth, others int
	if err := tx.QueryRow(selectNamesakes, id).Scan(&name, &depth, &others); err != nil || depth > 2 || others > 0 {
		return string(id[:min(12, len(id))])
	}
	return name
}

// NotKnown is the one answer for an agent that is absent and one that is hidden.
func NotKnown(ref string) error { return notKnown(ref) }

func notKnown(ref string) *schemas.Error {
	return schemas.NotFoundf("there is no agent %q here", schemas.Shorten(ref, 64)).
		Expecting("a name, parent/name, an id, or the first 8 or more characters of an id").
		Try("%s shows the agents below you", schemas.Tool("agent_list"))
}

// NotBelow refuses what the actor may do for itself and those below it, where it may know of the
// agent that ref means: for any other agent the answer is NotKnown.
func NotBelow(ref string) *schemas.Error {
	return schemas.Deniedf("%s is not below you", schemas.Shorten(ref, 64)).
		Expecting("an agent below you").
		Try("%s shows the agents below you", schemas.Tool("agent_list"))
}

// notKnownTo is NotKnown with the name that viewer may have meant, of those that it may know of.
func notKnownTo(tx *store.Tx, viewer schemas.EntityID, ref string) error {
	refusal := notKnown(ref)
	rows, err := tx.Query(selectNamesKnown, viewer)
	names, err := store.Collect(rows, err, store.Column[string])
	if err != nil {
		return fmt.Errorf("read names: %w", err)
	}
	if near := schemas.Nearest(strings.ToLower(ref), names); near != "" {
		return refusal.Try("did you mean %q? %s shows the agents below you", near, schemas.Tool("agent_list"))
	}
	return refusal
}

// ErrNoGrant is what an empty or used-up Grant answers.
var ErrNoGrant = errors.New("access: no grant")
