package access

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// sampler draws from a small universe, so that capabilities and operations meet.
type sampler struct{ *rand.Rand }

var (
	sampleTools    = []string{toolRegister, "memory_search", "memory_share"}
	samplePatterns = []string{"*", "a*", "*b", "a*b", "ab", "a", "b", "staging-*", "staging-a", "c.d"}
	sampleGroups   = []schemas.GroupID{"ab", "a", "b", "acb", "c.d", "cxd", "staging-a", "staging-b"}
)

func subset[T any](s sampler, all []T) []T {
	var out []T
	for _, e := range all {
		if s.IntN(3) > 0 {
			out = append(out, e)
		}
	}
	return out
}

func pick[T any](s sampler, all ...T) T { return all[s.IntN(len(all))] }

func (s sampler) scope() schemas.MemoryScope {
	return schemas.MemoryScope{
		Layers:     subset(s, []schemas.Layer{schemas.L1, schemas.L2}),
		Groups:     subset(s, samplePatterns),
		Visibility: subset(s, []schemas.Visibility{schemas.Private, schemas.Group, schemas.Public}),
	}
}

func (s sampler) capabilities() schemas.Capabilities {
	return schemas.Capabilities{
		MemoryRead: s.scope(), MemoryWrite: s.scope(), Tools: subset(s, sampleTools),
		MaxParallelOps: 1 + s.IntN(3), TTLSeconds: int64(s.IntN(3)), Autonomous: s.IntN(2) == 0,
		MaxDelegationDepth: s.IntN(4),
	}
}

// inside narrows c in every field, by subsets and by narrower patterns; one time
// in eight a group wanders off and may exceed c.
func (s sampler) inside(c schemas.Capabilities) schemas.Capabilities {
	narrow := func(m schemas.MemoryScope) schemas.MemoryScope {
		groups := subset(s, m.Groups)
		if s.IntN(2) == 0 || s.IntN(4) == 0 {
			p := pick(s, samplePatterns...)
			if CoveredBy(m.Groups, p) || s.IntN(8) == 0 {
				groups = append(groups, p)
			}
		}
		return schemas.MemoryScope{Layers: subset(s, m.Layers), Groups: groups, Visibility: subset(s, m.Visibility)}
	}
	return schemas.Capabilities{
		MemoryRead: narrow(c.MemoryRead), MemoryWrite: narrow(c.MemoryWrite), Tools: subset(s, c.Tools),
		MaxParallelOps: 1, TTLSeconds: c.TTLSeconds, MaxDelegationDepth: max(0, c.MaxDelegationDepth-1),
	}
}

func (s sampler) operation() Operation {
	op := Operation{
		Tool:  pick(s, sampleTools...),
		Kind:  pick(s, KindRead, KindWrite),
		Layer: pick(s, "", schemas.L1, schemas.L2, schemas.L2, schemas.L2),
		Own:   s.IntN(3) == 0,
	}
	if op.Layer == schemas.L2 {
		op.Visibility = pick(s, schemas.Private, schemas.Group, schemas.Group, schemas.Public)
	}
	if op.Visibility == schemas.Group {
		op.Group, op.Role = pick(s, sampleGroups...), pick(s, "", RoleViewer, RoleMember)
	}
	return op
}

func TestAcceptedChildDoesNothingItsParentMayNot_INV_ATTENUATE(t *testing.T) {
	s := sampler{rand.New(rand.NewPCG(1, 2))}
	accepted, refused, allowed := 0, 0, 0
	for range 20_000 {
		parent := s.capabilities()
		child := s.inside(parent)
		if len(Within(child, Bounded(parent))) > 0 {
			refused++
			continue
		}
		accepted++
		for range 20 {
			op := s.operation()
			if len(Bounded(child).denies(op)) > 0 {
				continue
			}
			allowed++
			if lack := Bounded(parent).denies(op); len(lack) > 0 {
				t.Fatalf("child %+v\nmay %+v\nparent %+v lacks %v", child, op, parent, lack)
			}
		}
	}
	require.Greater(t, accepted*20, 150_000, "too few cases to mean anything")
	require.Greater(t, allowed, 10_000)
	require.Greater(t, refused, 1000)
}

func TestShrinkingAnAncestorNeverAllows_INV_CHAIN(t *testing.T) {
	s := sampler{rand.New(rand.NewPCG(3, 4))}
	const now = 100
	cases, taken := 0, 0
	for range 20_000 {
		chain := []ChainLink{alive("root", Top())}
		for range 1 + s.IntN(3) {
			link := alive("a", Bounded(s.capabilities()))
			link.ExpiresAt = pick[int64](s, 0, 0, 0, now, now+1)
			link.Status = pick(s, schemas.Active, schemas.Active, schemas.Active, schemas.Suspended)
			chain = append(chain, link)
		}
		for range 10 {
			op := s.operation()
			before := len(Evaluate(chain, op, now))
			shrunk := slices.Clone(chain)
			s.shrink(&shrunk[1+s.IntN(len(chain)-1)], now)
			after := len(Evaluate(shrunk, op, now))
			if before > 0 && after == 0 {
				t.Fatalf("%+v was denied under %+v and is allowed under %+v", op, chain, shrunk)
			}
			if before == 0 && after > 0 {
				taken++
			}
			cases++
		}
	}
	require.Equal(t, 200_000, cases)
	require.Greater(t, taken, 1000, "shrinking must also bite")
}

// shrink takes something from link, and never adds.
func (s sampler) shrink(link *ChainLink, now int64) {
	caps, _ := link.Boundary.Capabilities()
	switch s.IntN(6) {
	case 0:
		link.Status = schemas.Suspended
	case 1:
		link.ExpiresAt = now
	case 2:
		caps.Tools = subset(s, caps.Tools)
	case 3:
		caps.MemoryRead.Groups = subset(s, caps.MemoryRead.Groups)
		caps.MemoryWrite.Groups = subset(s, caps.MemoryWrite.Groups)
	case 4:
		caps.MemoryRead.Layers = subset(s, caps.MemoryRead.Layers)
		caps.MemoryWrite.Visibility = subset(s, caps.MemoryWrite.Visibility)
	case 5:
		caps.MemoryWrite.Layers = subset(s, caps.MemoryWrite.Layers)
		caps.MemoryRead.Visibility = subset(s, caps.MemoryRead.Visibility)
	}
	link.Boundary = Bounded(caps)
}

// The order is a strict one below TOP: transitive, and never reflexive, because
// depth shrinks by one with every level.
func TestTheOrderIsTransitive(t *testing.T) {
	s := sampler{rand.New(rand.NewPCG(5, 6))}
	accepted := 0
	for range 4000 {
		a := s.capabilities()
		a.MaxDelegationDepth = 3
		b := s.inside(a)
		c := s.inside(b)
		require.NotEmpty(t, Within(a, Bounded(a)))
		if len(Within(b, Bounded(a))) > 0 || len(Within(c, Bounded(b))) > 0 {
			continue
		}
		accepted++
		require.Empty(t, Within(c, Bounded(a)))
		chain := []ChainLink{alive("root", Top()), alive("a", Bounded(a)), alive("b", Bounded(b))}
		require.NoError(t, CheckRegistration(c, chain), "every ancestor agrees when each parent did")
	}
	require.Greater(t, accepted, 500)
}
