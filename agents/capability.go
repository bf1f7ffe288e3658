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
}

// Update changes the rights of an agent below the actor. It takes effect with
// the transaction, for the agent and everyone below it.
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
	if err := checkGrants(r); err != nil {
		return r, err
	}
	caps, err := json.Marshal(r.Capabilities)
	if err != nil {
		return r, err
	}
	grants, err := json.Marshal(r.Grants)
	if err != nil {
		return r, err
	}
	if _, err := g.Tx().Exec(updateCapabilities, string(caps), string(grants), r.ExpiresAt, r.ID); err != nil {
		return r, fmt.Errorf("update capabilities: %w", err)
	}
	if err := g.RightsChanged(); err != nil {
		return r, err
	}
	return r, g.Audit(string(r.ID), map[string]any{"before": before, "after": r.Capabilities, "grants": r.Grants})
}

// overlay puts the given fields over the present record, so that a field left
// out keeps its value, and holds the result against every ancestor.
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

// Approve grants an agent below the actor a group it was just made a member of:
// adding it is the explicit word the scoping matrix asks for. A group outside its
// capabilities stays out of its reach, and the note says how to widen them.
// Others' agents and people are left as they are.
func Approve(g access.Grant, id schemas.EntityID, group schemas.GroupID) (note string, err error) {
	r, err := load(g.Tx(), id)
	if err != nil || r.Type == "" || r.Type == schemas.ClaudeCode || slices.Contains(r.Grants.Groups, string(group)) {
		return "", err
	}
	if above, err := g.Holds(id); err != nil || !above || id == g.Actor() {
		return "", err
	}
	r.Grants.Groups = append(r.Grants.Groups, string(group))
	if checkGrants(r) != nil {
		return fmt.Sprintf(`%s is a member, but its capabilities name other groups, so it does not reach %s; widen them: agent_capabilities {"agent": %q, "groups": %s, "capabilities": {"memory_read": {"groups": %s}, "memory_write": {"groups": %s}}}`,
			r.Name, group, r.Name, groupList(r.Grants.Groups), groupList(r.Capabilities.MemoryRead.Groups, group),
			groupList(r.Capabilities.MemoryWrite.Groups, group)), nil
	}
	caps, err := json.Marshal(r.Capabilities)
	if err != nil {
		return "", err
	}
	grants, err := json.Marshal(r.Grants)
	if err != nil {
		return "", err
	}
	if _, err := g.Tx().Exec(updateCapabilities, string(caps), string(grants), r.ExpiresAt, id); err != nil {
		return "", fmt.Errorf("approve group: %w", err)
	}
	return "", g.RightsChanged()
}

func groupList(have []string, more ...schemas.GroupID) string {
	list := slices.Clone(have)
	for _, id := range more {
		list = append(list, string(id))
	}
	raw, _ := json.Marshal(list) // strings always encode
	return string(raw)
}
