package access

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// delegator holds enough to register children down to the given depth.
func delegator(depth int) schemas.Capabilities {
	scope := schemas.MemoryScope{
		Layers:     []schemas.Layer{schemas.L1, schemas.L2},
		Groups:     []string{"*"},
		Visibility: []schemas.Visibility{schemas.Private, schemas.Group},
	}
	return schemas.Capabilities{
		MemoryRead: scope, MemoryWrite: scope,
		Tools:          []string{toolRegister, "memory_search", "memory_share"},
		MaxParallelOps: 5, TTLSeconds: 3600, MaxDelegationDepth: depth,
	}
}

func alive(id schemas.EntityID, b Boundary) ChainLink {
	return ChainLink{ID: id, Boundary: b, Status: schemas.Active}
}

func TestCheckRegistrationLooksAtEveryAncestor(t *testing.T) {
	worker := schemas.Capabilities{Tools: []string{"memory_search", "memory_share"}, MaxParallelOps: 3, TTLSeconds: 60}
	grandparent := delegator(2)
	chain := func() []ChainLink {
		return []ChainLink{alive("root", Top()), alive("g", Bounded(grandparent)), alive("p", Bounded(delegator(1)))}
	}
	require.NoError(t, CheckRegistration(worker, chain()))

	grandparent.Tools = []string{"memory_search"}
	grandparent.MaxParallelOps = 2
	grandparent.MaxDelegationDepth = 1
	err := CheckRegistration(worker, chain())
	require.ErrorIs(t, err, schemas.ErrDenied)
	require.Equal(t, []string{
		"parent_cannot_register", "exceeds:tools:memory_share", "exceeds:max_parallel_ops",
		"exceeds:max_delegation_depth",
	}, reasons(err))
	require.Contains(t, err.Error(), "the ancestor 2 levels up allows 2")
	require.NotContains(t, err.Error(), "ancestor g", "an ancestor's id may be hidden from the caller")
}

func TestCheckRegistrationReportsEachThingOnce(t *testing.T) {
	child := schemas.Capabilities{Tools: []string{"agent_list", "agent_list"}, MaxParallelOps: 9, TTLSeconds: 60}
	chain := []ChainLink{alive("root", Top()), alive("g", Bounded(delegator(2))), alive("p", Bounded(delegator(1)))}
	err := CheckRegistration(child, chain)
	require.Equal(t, []string{"exceeds:tools:agent_list", "exceeds:max_parallel_ops"}, reasons(err))
	require.Contains(t, err.Error(), "the parent allows 5")
}

func TestRegistrationNeedsAHumanAtTheRoot_INV_CLOSED(t *testing.T) {
	leaf := schemas.Capabilities{MaxParallelOps: 1, TTLSeconds: 1}
	for name, chain := range map[string][]ChainLink{
		"no chain":         nil,
		"no human":         {alive("p", Bounded(delegator(1)))},
		"human in between": {alive("root", Top()), alive("p", Top())},
		"zero boundary":    {alive("root", Top()), {ID: "p"}},
	} {
		t.Run(name, func(t *testing.T) { require.ErrorIs(t, CheckRegistration(leaf, chain), schemas.ErrDenied) })
	}
}

func TestCheckRegistrationLimitsTheTree(t *testing.T) {
	leaf := schemas.Capabilities{MaxParallelOps: 1, TTLSeconds: 1}
	chain := []ChainLink{alive("root", Top())}
	for depth := schemas.MaxTreeDepth; depth > 1; depth-- {
		chain = append(chain, alive("a", Bounded(delegator(depth))))
	}
	require.NoError(t, CheckRegistration(leaf, chain), "the eighth agent")
	chain = append(chain, alive("a", Bounded(delegator(1))))
	require.Equal(t, []string{"exceeds:tree_depth"}, reasons(CheckRegistration(leaf, chain)), "the ninth")
}

func TestReservedNamesAreNotHandedDownByAStar(t *testing.T) {
	child := schemas.Capabilities{MaxParallelOps: 1, TTLSeconds: 1}
	child.MemoryRead.Groups = []string{"staging-x"}
	parent := delegator(1)
	require.Equal(t, "exceeds:memory_read.groups:staging-x", Within(child, Bounded(parent))[0].Reason)
	parent.MemoryRead.Groups = append(parent.MemoryRead.Groups, "staging-x")
	require.Empty(t, Within(child, Bounded(parent)))
}

// Within lists, in field order, where child exceeds what parent may hand down;
// none means it is accepted. The order is componentwise and strict: an unusable
// field counts too, because widening another field later would activate it.
func Within(child schemas.Capabilities, parent Boundary) []Violation {
	return exceeding(child, []ancestor{{parent, 1}})
}
