package access

import (
	"slices"

	"cordelia/schemas"
)

// Related reports whether two entities are the same or of one line: ancestor and
// descendant, or siblings under one agent. A person is related to no agent: all agents
// of one would be.
func (g Grant) Related(a, b schemas.EntityID) (bool, error) {
	one, err := g.ChainOf(a)
	if err != nil || len(one) < 2 {
		return false, err
	}
	other, err := g.ChainOf(b)
	if err != nil || len(other) < 2 {
		return false, err
	}
	above := func(chain []ChainLink, id schemas.EntityID) bool {
		return slices.ContainsFunc(chain, func(l ChainLink) bool { return l.ID == id })
	}
	siblings := len(one) > 2 && len(other) > 2 && one[len(one)-2].ID == other[len(other)-2].ID
	return siblings || above(one, b) || above(other, a), nil
}

// OneLine reports whether two entities are the same, or one is above the other, at
// any distance; a person is above all of their agents.
func (g Grant) OneLine(a, b schemas.EntityID) (bool, error) {
	if g.Tx() == nil {
		return false, ErrNoGrant
	}
	for _, pair := range [][2]schemas.EntityID{{a, b}, {b, a}} {
		c, _, err := g.g.auth.cache.get(g.g.tx, pair[0])
		if err != nil {
			return false, err
		}
		if c != nil && c.hasAncestor(pair[1]) {
			return true, nil
		}
	}
	return false, nil
}

// ShareAgent reports whether two entities are the same or have a common ancestor that is an
// agent, at any distance: an agent that made both can have both say the same. The person at the
// root does not count, or all agents of one person would be related.
func (g Grant) ShareAgent(a, b schemas.EntityID) (bool, error) {
	if a == b {
		return true, nil
	}
	one, err := g.ChainOf(a)
	if err != nil || len(one) < 2 {
		return false, err
	}
	other, err := g.ChainOf(b)
	if err != nil || len(other) < 2 {
		return false, err
	}
	return slices.ContainsFunc(one[1:], func(l ChainLink) bool {
		return slices.ContainsFunc(other, func(o ChainLink) bool { return o.ID == l.ID })
	}), nil
}

// TierOf is how reliable id proved where owner owns the memory: the lower of the owner's tier, if
// it has an opinion, and that of the human above id. Where an agent above id proved less reliable,
// its tier counts; whose is the agent that the tier is of.
func (g Grant) TierOf(id, owner schemas.EntityID) (tier schemas.Tier, whose schemas.EntityID, err error) {
	c, err := g.chainOf(id)
	if err != nil || c == nil {
		return schemas.Untrusted, id, err
	}
	tier, whose = c.tier(owner, g.g.tx.Micros())
	return tier, whose, nil
}

// RanksOf is what the words of id rank by where owner reads them: as TierOf, from
// Tiering.Ranks.
func (g Grant) RanksOf(id, owner schemas.EntityID) (schemas.Tier, error) {
	c, err := g.chainOf(id)
	if err != nil || c == nil {
		return schemas.Untrusted, err
	}
	return c.ranks(owner, g.g.tx.Micros()), nil
}

var chains Fact[schemas.EntityID, *chain]

func (g Grant) chainOf(id schemas.EntityID) (*chain, error) {
	if g.Tx() == nil {
		return nil, ErrNoGrant
	}
	return chains.Of(g, id, func() (*chain, error) {
		c, _, err := g.g.auth.cache.get(g.g.tx, id)
		return c, err
	})
}
