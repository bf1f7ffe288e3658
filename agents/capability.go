package agents

import (
	"encoding/json"
	"fmt"

	"cordelia/access"
	"cordelia/schemas"
)

// Change is what to change of an agent's rights; nil fields stay.
type Change struct {
	Capabilities json.RawMessage // top-level fields given replace the present ones
	Groups       *[]string       // approved groups
	BonusGroups  *[]string       // count at tier High only
	Private      *schemas.PrivateGrant
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
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(present, &fields); err != nil {
		return r.Capabilities, err
	}
	changes := map[string]json.RawMessage{}
	if err := json.Unmarshal(given, &changes); err != nil {
		return r.Capabilities, schemas.Invalidf("capabilities is not an object").Try("agent_capabilities without capabilities shows the present ones").Because(err)
	}
	for name, value := range changes {
		fields[name] = value
	}
	whole, err := json.Marshal(fields)
	if err != nil {
		return r.Capabilities, err
	}
	declared, err := access.ParseCapabilities(whole, tools)
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
