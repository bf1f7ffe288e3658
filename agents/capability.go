package agents

import (
	"encoding/json"
	"fmt"
	"slices"

	"cordelia/access"
	"cordelia/schemas"
)

// Change is what to change of an agent's rights; nil fields stay.
type Change struct {
	Capabilities json.RawMessage // top-level fields given replace the present ones
	Groups       *[]string       // approved groups
	BonusGroups  *[]string       // count at tier High only
	Private      *schemas.PrivateGrant
	AutoMerge    *bool // what it brings back may be merged without review
	// AcceptFrom are who adds it to groups without asking its parent: names or ids the
	// actor may know.
	AcceptFrom *[]string
}

// Update changes the rights of an agent below the actor. It takes effect with the transaction,
// for the agent and all its descendants.
func Update(g access.Grant, ref string, c Change, tools []string) (Record, error) {
	r, err := below(g, ref)
	if err != nil {
		return r, err
	}
	before := r.Capabilities
	if len(c.Capabilities) > 0 {
		if r.Capabilities, err = overlay(g, r, c.Capabilities, tools); err != nil {
			return r, err
		}
		began := r.CreatedAt // or when it was reactivated
		if before.TTLSeconds != 0 {
			began = r.ExpiresAt - before.TTLSeconds*1_000_000
		}
		r.ExpiresAt = access.ExpiresAt(began, r.Capabilities.TTLSeconds)
	}
	if c.Groups != nil {
		r.Grants.Groups = *c.Groups
	}
	if c.BonusGroups != nil {
		r.Grants.BonusGroups = *c.BonusGroups
	}
	if c.Private != nil {
		r.Grants.Private = *c.Private
	}
	if c.AutoMerge != nil {
		r.Grants.AutoMerge = *c.AutoMerge
	}
	if c.AcceptFrom != nil {
		r.Grants.AcceptFrom = nil
		for _, ref := range *c.AcceptFrom {
			id, err := g.Resolve(ref)
			if err != nil {
				return r, err
			}
			r.Grants.AcceptFrom = append(r.Grants.AcceptFrom, id)
		}
	}
	if err := checkGrants(r, func(group string) schemas.Call {
		return schemas.Tool("memory_group", "action", "add", "group", group, "entity", access.RefOf(g.Tx(), r.ID))
	}); err != nil {
		return r, err
	}
	return r, storeRights(g, r, before)
}

// overlay puts the given fields over the present record, so that a field left
// out keeps its value, and checks the result against every ancestor.
func overlay(g access.Grant, r Record, given json.RawMessage, tools []string) (schemas.Capabilities, error) {
	present, err := json.Marshal(r.Capabilities)
	if err != nil {
		return r.Capabilities, err
	}
	declared, err := access.ParseOver(present, given, tools)
	if err != nil {
		return r.Capabilities, err
	}
	chain, err := g.ChainOf(r.Parent)
	if err != nil {
		return r.Capabilities, err
	}
	caps := declared.Resolve(r.Type, chain, g.Tx().Micros())
	return caps, access.CheckRegistration(caps, chain)
}

// Approve puts a group that an agent was just made a member of among its approved groups, if
// its capabilities cover the group: the explicit grant that the scoping matrix asks for. The
// entity that decided the membership is above the agent or has its parent's standing consent.
// Agents of others, and people, are not changed.
func Approve(g access.Grant, id schemas.EntityID, group schemas.GroupID) error {
	r, above, err := reachable(g, id)
	if err != nil || !above && !slices.Contains(r.Grants.AcceptFrom, g.Actor()) {
		return err
	}
	// that type needs membership alone
	if r.Type == schemas.ClaudeCode || slices.Contains(r.Grants.Groups, string(group)) {
		return nil
	}
	r.Grants.Groups = append(r.Grants.Groups, string(group))
	if checkGrants(r, nil) != nil {
		return nil
	}
	return storeRights(g, r, r.Capabilities)
}

// reachable reads an agent that joined a group, and whether the actor is above it; not so
// of a person or the actor itself.
func reachable(g access.Grant, id schemas.EntityID) (r Record, above bool, err error) {
	if r, err = load(g.Tx(), id); err != nil || r.Type == "" || id == g.Actor() {
		return r, false, err
	}
	above, err = g.Holds(id)
	return r, above, err
}

// LetReach is Approve, after the group was added to the capabilities of an agent below the
// actor where they lack it. The note says what is missing still, with the call to make.
func LetReach(g access.Grant, id schemas.EntityID, group schemas.GroupID,
	role access.MemberRole) (note schemas.Hint, err error) {
	r, above, err := reachable(g, id)
	if err != nil {
		return nil, err
	}
	wanted := r.Capabilities
	wanted.MemoryRead = reaching(wanted.MemoryRead, group)
	if role != access.RoleViewer {
		wanted.MemoryWrite = reaching(wanted.MemoryWrite, group)
	}
	switch {
	case r.Type == "" || id == g.Actor() || sameScopes(r.Capabilities, wanted):
	case !above:
		note = schemas.Hintf("%s is a member, but its capabilities name other groups, so it does not reach %s until "+
			"its parent widens them", r.Name, group)
	default:
		if note, err = lacking(g, r, wanted, group); err != nil {
			return nil, err
		}
		if note == nil {
			was := r.Capabilities
			r.Capabilities = wanted
			if err := storeRights(g, r, was); err != nil {
				return nil, err
			}
		}
	}
	return note, Approve(g, id, group)
}

// reaching is scope with a group among what it opens.
func reaching(scope schemas.MemoryScope, group schemas.GroupID) schemas.MemoryScope {
	if !access.MatchesGroup(scope.Groups, group, "") {
		scope.Groups = append(slices.Clone(scope.Groups), string(group))
	}
	if !slices.Contains(scope.Layers, schemas.L2) {
		scope.Layers = append(slices.Clone(scope.Layers), schemas.L2)
	}
	if !slices.Contains(scope.Visibility, schemas.Group) {
		scope.Visibility = append(slices.Clone(scope.Visibility), schemas.Group)
	}
	return scope
}

// sameScopes reports whether two records open the same memory, of which the second holds
// at least what the first does.
func sameScopes(was, wanted schemas.Capabilities) bool {
	return sameScope(was.MemoryRead, wanted.MemoryRead) && sameScope(was.MemoryWrite, wanted.MemoryWrite)
}

func sameScope(a, b schemas.MemoryScope) bool {
	return len(a.Groups) == len(b.Groups) && len(a.Layers) == len(b.Layers) && len(a.Visibility) == len(b.Visibility)
}

// lacking says which agent above r does not hold what wanted adds for a group, by INV-LEAST, with the
// call that gives it to that agent, and the actor's call for r after that; none if all hold it. Where
// the actor is that agent, or below it, the first call is one of that agent's parent.
func lacking(g access.Grant, r Record, wanted schemas.Capabilities, group schemas.GroupID) (schemas.Hint, error) {
	writes := !sameScope(r.Capabilities.MemoryWrite, wanted.MemoryWrite)
	chain, err := g.ChainOf(r.Parent)
	if err != nil {
		return nil, err
	}
	for _, link := range chain {
		above, bounded := link.Boundary.Capabilities()
		if !bounded {
			continue
		}
		more := schemas.Capabilities{MemoryRead: reaching(above.MemoryRead, group), MemoryWrite: above.MemoryWrite}
		if writes {
			more.MemoryWrite = reaching(above.MemoryWrite, group)
		}
		if sameScopes(above, more) {
			continue
		}
		p, err := g.Profile(link.ID)
		if err != nil {
			return nil, err
		}
		below, err := g.Holds(link.ID)
		call, way := schemas.Other, "; the parent of that one can change it: "
		if below && link.ID != g.Actor() {
			call, way = schemas.Tool, ": "
		}
		scopes := func(c schemas.Capabilities) map[string]any {
			return map[string]any{"memory_read": c.MemoryRead, "memory_write": c.MemoryWrite}
		}
		first := call("agent_capabilities", "agent", link.ID, "capabilities", scopes(more))
		then := schemas.Tool("agent_capabilities", "agent", access.RefOf(g.Tx(), r.ID),
			"capabilities", scopes(wanted), "groups", append(slices.Clone(r.Grants.Groups), string(group)))
		return schemas.Hintf("%s is a member, but does not reach %s, because %s above it does not%s%s, then %s",
			r.Name, group, p.Name, way, first, then), err
	}
	return nil, nil
}

// storeRights writes the capabilities and grants of r.
func storeRights(g access.Grant, r Record, before schemas.Capabilities) error {
	caps, err := json.Marshal(r.Capabilities)
	if err != nil {
		return err
	}
	grants, err := json.Marshal(r.Grants)
	if err != nil {
		return err
	}
	if _, err := g.Tx().Exec(updateCapabilities, string(caps), string(grants), r.ExpiresAt, r.ID); err != nil {
		return fmt.Errorf("update capabilities: %w", err)
	}
	if err := g.RightsChanged(); err != nil {
		return err
	}
	return g.Audit(string(r.ID), map[string]any{"before": before, "after": r.Capabilities, "grants": r.Grants})
}
