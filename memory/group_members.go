package memory

import (
	"cmp"
	"errors"
	"fmt"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Role is what a member may do in a group.
type Role = access.MemberRole

func manages(r Role) bool { return r == access.RoleOwner || r == access.RoleAdmin }

// roleIn is the actor's role in a group; a person is the owner of every group
// of their tree.
func roleIn(g access.Grant, id schemas.GroupID) (Role, error) {
	var role Role
	var root schemas.EntityID
	err := g.Tx().QueryRow(selectRole, g.Actor(), id).Scan(&role, &root)
	if errors.Is(err, store.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read role: %w", err)
	}
	if g.IsHuman() && root == g.Actor() {
		role = access.RoleOwner
	}
	return role, nil
}

// Added is who became a member, or was invited to.
type Added struct {
	ID         schemas.EntityID
	Role       Role
	Invitation string // its id, if the entity was invited; "" if it is a member
}

// AddMember makes ref (a name or id the actor may know) a member, or gives a member another
// role. Without a role, a member keeps its own and another becomes RoleMember. An agent not below
// the actor is invited (INV-CONSENT). Only owners make owners and admins.
func AddMember(g access.Grant, id schemas.GroupID, ref string, role Role) (Added, error) {
	info, err := ReadGroup(g, id)
	if err != nil {
		return Added{}, err
	}
	if err := mayManage(g, info, false); err != nil {
		return Added{}, err
	}
	member, err := candidate(g, ref)
	if err != nil {
		return Added{}, err
	}
	before := info.roleOf(member)
	role = cmp.Or(role, before, access.RoleMember)
	added := Added{ID: member, Role: role}
	switch {
	case role != access.RoleOwner && role != access.RoleAdmin && role != access.RoleMember && role != access.RoleViewer:
		return Added{}, schemas.Invalidf("%q is no role", role).Expecting("owner, admin, member or viewer")
	case (manages(role) || manages(before)) && info.Role != access.RoleOwner:
		return Added{}, schemas.Deniedf("only an owner of %s makes or changes owners and admins",
			id).Try("ask %s, its owner", info.Owner)
	case before == role:
		return added, nil
	case before == access.RoleOwner && info.owners() == 1:
		return Added{}, lastOwner(info)
	case before != "":
		if err := join(g, id, member, role); err != nil {
			return Added{}, err
		}
		if before == access.RoleOwner && info.Owner == member {
			if err := handOver(g, id, member); err != nil {
				return Added{}, err
			}
		}
	default:
		if ok, err := consents(g, member); err != nil {
			return Added{}, err
		} else if !ok {
			added.Invitation, err = invite(g, id, member, role)
			return added, err
		}
		if err := admit(g, id, member, role); err != nil {
			return Added{}, err
		}
	}
	return added, g.Audit("group/"+string(id), map[string]any{"member": member, "role": role})
}

// Joined is a membership as the audit record tells it.
type Joined struct {
	ID   schemas.EntityID `json:"id"`
	Role Role             `json:"role"`
}

// candidate finds the agent to add, among those the actor may know.
func candidate(g access.Grant, ref string) (schemas.EntityID, error) {
	who, err := g.Resolve(ref)
	if err != nil {
		return "", err
	}
	var living bool
	if err := g.Tx().QueryRow(selectLiving, who).Scan(&living); err != nil {
		return "", fmt.Errorf("read entity: %w", err)
	}
	if !living {
		return "", schemas.Conflictf("%s has ended", ref).Try("%s shows the agents there are", schemas.Tool("agent_list"))
	}
	return who, nil
}

func (i GroupInfo) roleOf(who schemas.EntityID) Role {
	for _, m := range i.Members {
		if m.ID == who {
			return m.Role
		}
	}
	return ""
}

func (i GroupInfo) owners() (n int) {
	for _, m := range i.Members {
		if m.Role == access.RoleOwner {
			n++
		}
	}
	return n
}

// lastOwner refuses to leave a group without an owner, with the call that makes its first other member one.
func lastOwner(info GroupInfo) error {
	var other any = schemas.Blank(`"…"`)
	for _, m := range info.Members {
		if m.Role != access.RoleOwner {
			other = m.ID
			break
		}
	}
	return schemas.Conflictf("%s would be without an owner", info.ID).
		Try("first make another member owner: %s", schemas.Tool("memory_group", "action", "add",
			"group", info.ID, "entity", other, "role", access.RoleOwner))
}

// join writes a membership. A new member hears what comes from now on.
func join(g access.Grant, id schemas.GroupID, who schemas.EntityID, role Role) error {
	tx := g.Tx()
	var before Role
	if err := tx.QueryRow(selectMember, id, who).Scan(&before); err != nil && !errors.Is(err, store.ErrNoRows) {
		return fmt.Errorf("read member: %w", err)
	}
	if _, err := tx.Exec(upsertMember, id, who, role, g.Actor(), tx.Micros()); err != nil {
		return fmt.Errorf("add member: %w", err)
	}
	if before == "" {
		if err := notifyMembership(g, id, who, schemas.EventGroupMemberJoined,
			schemas.GroupMemberJoined{GroupID: id, EntityID: who, Role: string(role)}); err != nil {
			return err
		}
		// After the event, which the member has in its own stream already.
		if err := events.Join(tx, who, id); err != nil {
			return err
		}
	}
	return g.RightsChanged()
}

// notifyMembership sends an event about a membership to the group and to the member.
func notifyMembership(g access.Grant, id schemas.GroupID, who schemas.EntityID, t schemas.EventType,
	payload any) error {
	if err := g.Emit(events.GroupStream(id), t, payload); err != nil {
		return err
	}
	return g.Emit(events.EntityStream(who), t, payload)
}

// RemoveMember ends a membership: one's own, or another's for owners and
// admins; an admin removes neither owners nor admins. What the member wrote
// goes as the group's departure policy says.
func RemoveMember(g access.Grant, id schemas.GroupID, ref string) (schemas.EntityID, error) {
	info, err := ReadGroup(g, id)
	if err != nil {
		return "", err
	}
	who, err := g.Resolve(ref)
	if err != nil {
		return "", err
	}
	before := info.roleOf(who)
	if before == "" {
		if withdrawn, err := withdrawInvitation(g, id, who); err != nil || withdrawn {
			return who, err
		}
		return "", schemas.NotFoundf("%s is no member of %s", ref,
			id).Try("%s lists its members", schemas.Tool("memory_group", "action", "read", "group", id))
	}
	if who != g.Actor() {
		if err := mayManage(g, info, false); err != nil {
			return "", err
		}
		if manages(before) && info.Role != access.RoleOwner {
			return "", schemas.Deniedf("only an owner of %s removes owners and admins", id).Try("ask %s, its owner",
				info.Owner)
		}
	}
	if before == access.RoleOwner && info.owners() == 1 {
		return "", lastOwner(info)
	}
	return who, Leave(g, id, who)
}

// Leave ends a membership without asking who may: what a lifecycle or a swarm
// decided above. The caller has asked.
func Leave(g access.Grant, id schemas.GroupID, who schemas.EntityID) error {
	tx := g.Tx()
	culture, err := cultureOf(tx, id)
	if err != nil {
		return err
	}
	if n, err := tx.Exec(deleteMember, id, who); err != nil || n == 0 {
		return err
	}
	if err := events.Leave(tx, who, id); err != nil {
		return err
	}
	if err := handOver(g, id, who); err != nil {
		return err
	}
	if err := depart(g, id, who, culture.Departure); err != nil {
		return err
	}
	if err := notifyMembership(g, id, who, schemas.EventGroupMemberLeft,
		schemas.GroupMemberLeft{GroupID: id, EntityID: who}); err != nil {
		return err
	}
	if err := g.RightsChanged(); err != nil {
		return err
	}
	return g.Audit("group/"+string(id), map[string]any{"left": who, "departure": culture.Departure})
}

// handOver gives a group whose owner of record went to another of its owners.
func handOver(g access.Grant, id schemas.GroupID, from schemas.EntityID) error {
	if _, err := g.Tx().Exec(handOverGroup, id, from); err != nil {
		return fmt.Errorf("hand over group: %w", err)
	}
	return nil
}

// depart takes along what leaves with a member: its originals go home into its private memory,
// deleted ones too, which it may still restore; copies of its items and copies that it made are
// withdrawn by the node, for good.
func depart(g access.Grant, id schemas.GroupID, who schemas.EntityID, policy string) error {
	if policy == Permissive {
		return nil
	}
	originals, err := rowsOf(g.Tx(), selectOriginals, id, who)
	if err != nil {
		return err
	}
	for i := range originals {
		if err := goHome(g, &originals[i]); err != nil {
			return err
		}
	}
	if policy != Restrictive {
		return nil
	}
	copies, err := rowsOf(g.Tx(), selectCopiesIn, id, who)
	if err != nil {
		return err
	}
	for i := range copies {
		if err := buryAs(g, &copies[i], access.NodeEntity); err != nil {
			return err
		}
	}
	return nil
}

// goHome moves an item from its group into its owner's private memory. If the
// same is there already, the group's is withdrawn.
func goHome(g access.Grant, r *row) error {
	tx := g.Tx()
	home := *r
	home.visibility, home.group, home.groupTTL = schemas.Private, "", 0
	var err error
	if home.scope, err = scopeOf(g, schemas.Private, string(r.owner)); err != nil {
		return err
	}
	if r.deleted != 0 { // it has no entry to move
		return move(tx, r, home.scope)
	}
	if r.current {
		var rel relation
		// An own item that has outlived its time gives way, and it is the node that
		// notes that: who ends the membership may not touch it.
		if err := g.Routine(func() error { return ownEqual(tx, &home, &rel) }); err != nil {
			return err
		}
		if rel.equal {
			return bury(g, r)
		}
	}
	if err := unindex(tx, r); err != nil {
		return err
	}
	if err := move(tx, r, home.scope); err != nil {
		return err
	}
	return index(tx, &home, rewords(&home))
}

func move(tx *store.Tx, r *row, home int64) error {
	if _, err := tx.Exec(moveHome, home, r.n); err != nil {
		return fmt.Errorf("take item home: %w", err)
	}
	return nil
}
