package memory

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// SwarmGroupOf is a group of a swarm to make, with its members.
type SwarmGroupOf struct {
	ID          schemas.GroupID
	Swarm       schemas.GroupID // whose cell it is, "" for the swarm's own group
	Description string
	Culture     CulturePatch // what differs from chatty, push, permissive and a day; a cell's is its swarm's
	Members     []Membership // besides the actor, who owns it
}

// Membership is an entity's role in a group.
type Membership struct {
	ID   schemas.EntityID
	Role Role
}

// swarmTTL is how long what swarms remember lasts (seed §4.2), in seconds.
const swarmTTL = 86400

// swarmCulture is that of swarms (seed §4.5).
func swarmCulture() Culture {
	return Culture{Broadcast: Chatty, Notification: Push, Departure: Permissive, TTL: swarmTTL}
}

// CheckSwarmCulture lists what is wrong with the culture of a swarm.
func CheckSwarmCulture(p CulturePatch) []schemas.Violation {
	c := swarmCulture()
	return p.apply(&c)
}

// FoundSwarmGroup makes the group of a swarm, or a cell of it, with its members. Each member
// gets the event in its own stream, since the group's stream has no readers yet.
func FoundSwarmGroup(g access.Grant, n SwarmGroupOf) error {
	if g.Tx() == nil {
		return access.ErrNoGrant
	}
	culture := swarmCulture()
	if n.Swarm != "" {
		var err error
		if culture, err = cultureOf(g.Tx(), n.Swarm); err != nil {
			return err
		}
	} else if found := n.Culture.apply(&culture); len(found) > 0 {
		return schemas.Invalidf("the group was not made").With(found...)
	}
	if err := mayOwn(g, n.ID, SwarmGroup, "swarm_id"); err != nil {
		return err
	}
	tx := g.Tx()
	_, err := tx.Exec(insertSwarmGroup, n.ID, g.Actor(), n.Description, encodeCulture(culture), tx.Micros(), n.Swarm)
	if store.IsUnique(err) {
		return schemas.Conflictf("the name %s is taken", n.ID).
			Expecting("a swarm_id that no group has").
			Try("%s again with another swarm_id, or with add_to to let your swarm grow", schemas.Do("swarm_create"))
	}
	if err != nil {
		return fmt.Errorf("make group: %w", err)
	}
	joined, err := joinAll(g, n.ID, append([]Membership{{g.Actor(), access.RoleOwner}}, n.Members...))
	if err != nil {
		return err
	}
	if err := g.RightsChanged(); err != nil {
		return err
	}
	return g.Audit("group/"+string(n.ID), map[string]any{"kind": SwarmGroup, "owner": g.Actor(), "culture": culture,
		"swarm": n.Swarm, "members": joined})
}

// joinAll makes the actor and agents below it members of a new group, with an event to each agent.
func joinAll(g access.Grant, group schemas.GroupID, members []Membership) ([]Joined, error) {
	joined := []Joined{}
	for _, m := range members {
		if ok, err := consents(g, m.ID); err != nil {
			return nil, err
		} else if !ok {
			return nil, schemas.Deniedf("the members of a swarm are agents below its maker").
				Try("name agents of your own")
		}
		joined = append(joined, Joined(m))
		if _, err := g.Tx().Exec(insertMember, group, m.ID, m.Role, g.Actor(), g.Tx().Micros()); err != nil {
			return nil, fmt.Errorf("add member: %w", err)
		}
		if m.ID != g.Actor() {
			event := schemas.GroupMemberJoined{GroupID: group, EntityID: m.ID, Role: string(m.Role)}
			if err := g.Emit(events.EntityStream(m.ID), schemas.EventGroupMemberJoined, event); err != nil {
				return nil, err
			}
		}
	}
	return joined, nil
}

// Enter makes who a member of a group that the actor manages, without asking whether
// the actor knows them: a swarm just made them, below the actor. The node enters the roles of a
// workspace.
func Enter(g access.Grant, id schemas.GroupID, who schemas.EntityID, role Role) error {
	if g.Tx() == nil {
		return access.ErrNoGrant
	}
	enter := join
	if !g.IsNode() {
		mine, err := roleIn(g, id)
		if err != nil {
			return err
		}
		if !manages(mine) {
			return schemas.Deniedf("only the owner and admins of %s add to it",
				id).Try("ask its owner; %s names them", schemas.Tool("memory_group", "action", "list"))
		}
		if err := mayWrite(g, schemas.Group, "", id); err != nil {
			return err
		}
		enter = admit
	}
	if err := enter(g, id, who, role); err != nil {
		return err
	}
	return g.Audit("group/"+string(id), map[string]any{"member": who, "role": role})
}

// Archive closes a swarm's group to writing for good; the node does it when the swarm
// ends. What is in it stays readable to its members.
func Archive(g access.Grant, id schemas.GroupID) error {
	if !g.IsNode() {
		return access.ErrNoGrant
	}
	if _, err := g.Tx().Exec(archiveGroup, g.Tx().Micros(), id, SwarmGroup); err != nil {
		return fmt.Errorf("archive group: %w", err)
	}
	if err := g.RightsChanged(); err != nil {
		return err
	}
	return g.Audit("group/"+string(id), map[string]any{"archived": true})
}

// Copy is an item that stands in another group for what it was copied from.
type Copy struct{ ID, Of schemas.ItemID }

// HandOn copies those of the items named that lie in the group from, and that count,
// into the group to, and gives the copies. changed are those that are not what
// they were before the time asOf (µs): they stay. What the actor may read there is
// not asked: both are cells of one swarm, and the actor writes to the second.
func HandOn(g access.Grant, ids []schemas.ItemID, from, to schemas.GroupID,
	asOf int64) (copies []Copy, changed []schemas.ItemID, err error) {
	if err := mayWrite(g, schemas.Group, "", to); err != nil {
		return nil, nil, err
	}
	found, err := rowsOf(g.Tx(), selectNamed, store.List(ids), from, to)
	if err != nil || len(found) == 0 {
		return nil, nil, err
	}
	see, err := reachOf(g)
	if err != nil {
		return nil, nil, err
	}
	there, err := within(g.Tx(), found[0].scope)
	if err != nil {
		return nil, nil, err
	}
	hidden, err := there.hiddenOf(g.Tx(), found)
	if err != nil {
		return nil, nil, err
	}
	for _, src := range found {
		if hidden[src.n] || see.withholds(src.provenance) {
			continue
		}
		// Writes of one moment have no order, so what bears asOf itself counts as later.
		if src.updated >= asOf || !src.current {
			changed = append(changed, src.id)
			if copies, err = handedOn(g, &src, to, asOf, copies); err != nil {
				return nil, nil, err
			}
			continue
		}
		c, err := copyOf(g, src, to)
		if err != nil {
			return nil, nil, err
		}
		w, err := place(g, see, c)
		if err != nil {
			return nil, nil, err
		}
		copies = append(copies, Copy{w.ID, src.id})
	}
	return copies, changed, nil
}

// handedOn adds to copies the one in group to that says what r said before asOf, if an
// earlier claim made it: what came of r since takes nothing away from the next.
func handedOn(g access.Grant, r *row, to schemas.GroupID, asOf int64, copies []Copy) ([]Copy, error) {
	var id schemas.ItemID
	err := g.Tx().QueryRow(selectHandedOn, cmp.Or(r.origin, r.id), to, r.n, asOf).Scan(&id)
	if errors.Is(err, store.ErrNoRows) || r.deleted != 0 {
		return copies, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for copy: %w", err)
	}
	return append(copies, Copy{id, r.id}), nil
}

// hiddenIn gives who is hidden in groups to isHidden.
func hiddenIn(g access.Grant, groups []schemas.GroupID) (string, error) {
	if g.Tx() == nil {
		return "", access.ErrNoGrant
	}
	rows, err := g.Tx().Query(selectGroupScopes, store.List(groups))
	scopes, err := store.Collect(rows, err, store.Column[int64])
	if err != nil {
		return "", fmt.Errorf("read scopes: %w", err)
	}
	there := readScope{}
	if there.quarantines, err = quarantines(g.Tx(), scopes); err != nil {
		return "", err
	}
	return there.hidingList(), nil
}

// CountFindings counts the originals in groups that count and show, but those of
// merging's own words. Who may ask the caller decided.
func CountFindings(g access.Grant, groups []schemas.GroupID, merging []schemas.EntityID) (n int, err error) {
	hiding, err := hiddenIn(g, groups)
	if err != nil {
		return 0, err
	}
	if err = g.Tx().QueryRow(countFindings, store.List(groups), hiding, store.List(merging)).Scan(&n); err != nil {
		err = fmt.Errorf("count findings: %w", err)
	}
	return n, err
}

// Unmerged lists the findings shown in groups that nothing by one of merging there was
// derived from; with a synthesis, that it was not.
func Unmerged(g access.Grant, groups []schemas.GroupID, merging []schemas.EntityID,
	synthesis schemas.ItemID) ([]schemas.ItemID, error) {
	hiding, err := hiddenIn(g, groups)
	if err != nil {
		return nil, err
	}
	rows, err := g.Tx().Query(selectUnmerged, store.List(groups), hiding, store.List(merging), synthesis)
	list, err := store.Collect(rows, err, store.Column[schemas.ItemID])
	if err != nil {
		return nil, fmt.Errorf("read findings: %w", err)
	}
	return list, nil
}

// Headlines gives a line for each of the newest findings shown in groups.
func Headlines(g access.Grant, groups []schemas.GroupID, most int) ([]string, error) {
	hiding, err := hiddenIn(g, groups)
	if err != nil {
		return nil, err
	}
	rows, err := g.Tx().Query(selectLines, store.List(groups), hiding, "[]", most)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (string, error) {
		var id, name string
		err := r.Scan(&id, &name)
		return id + ": " + name, err
	})
	if err != nil {
		return nil, fmt.Errorf("read findings: %w", err)
	}
	return list, nil
}

// Progress is how far agents say they are, 0 to 1, in their own contexts: a number
// and nothing else of those. Who may ask the caller decided.
func Progress(g access.Grant, agents []schemas.EntityID) (map[schemas.EntityID]float64, error) {
	rows, err := g.Tx().Query(selectProgress, store.List(agents))
	if err != nil {
		return nil, fmt.Errorf("read progress: %w", err)
	}
	defer rows.Close()
	out := map[schemas.EntityID]float64{}
	for rows.Next() {
		var id schemas.EntityID
		var p float64
		if err := rows.Scan(&id, &p); err != nil {
			return nil, fmt.Errorf("read progress: %w", err)
		}
		out[id] = min(max(p, 0), 1)
	}
	return out, rows.Err()
}
