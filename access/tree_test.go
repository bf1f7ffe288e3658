package access_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/proof/soak"
	"cordelia/schemas"
)

// forest grows random trees from a small universe, so that rights and deeds meet.
type forest struct {
	*rand.Rand
	now int64
}

var (
	someTools    = []string{"agent_register", "memory_search", "memory_write_warm", "memory_share"}
	somePatterns = []string{"*", "a*", "*b", "a*b", "a*b*", "ab", "a", "b", "staging-*", "staging-a", "system-a", "*-a",
		"c.d", "st*"}
	someGroups = []string{"ab", "a", "b", "acb", "abab", "c.d", "cxd", "staging-a", "staging-b", "system-a", "odd"}
	someKinds  = []string{"normal", "normal", "swarm", "workspace", "staging", "system"}
	someRoles  = []string{"", "owner", "admin", "member", "viewer"}
)

func one[T any](f forest, all ...T) T { return all[f.IntN(len(all))] }

// most keeps each element three times in four; a narrow draw loses half.
func most[T any](f forest, all []T) []T {
	odds, out := one(f, 2, 4, 4), []T{}
	for _, e := range all {
		if f.IntN(odds) > 0 {
			out = append(out, e)
		}
	}
	return out
}

func (f forest) scope(from schemas.MemoryScope) schemas.MemoryScope {
	s := schemas.MemoryScope{Layers: most(f, from.Layers), Groups: most(f, from.Groups),
		Visibility: most(f, from.Visibility)}
	if f.IntN(3) == 0 { // one that may be inside a pattern, or not
		if p := one(f, somePatterns...); !slices.Contains(s.Groups, p) {
			s.Groups = append(s.Groups, p)
		}
	}
	return s
}

func everything() schemas.Capabilities {
	all := schemas.MemoryScope{Layers: []schemas.Layer{"l1", "l2"}, Groups: somePatterns,
		Visibility: []schemas.Visibility{"private", "group", "public"}}
	return schemas.Capabilities{MemoryRead: all, MemoryWrite: all, Tools: someTools, MaxParallelOps: 8,
		Autonomous: true, MaxDelegationDepth: 9}
}

// below narrows c in most fields; what it adds is mostly refused.
func (f forest) below(c schemas.Capabilities) schemas.Capabilities {
	out := schemas.Capabilities{MemoryRead: f.scope(c.MemoryRead), MemoryWrite: f.scope(c.MemoryWrite),
		Tools:          most(f, c.Tools),
		MaxParallelOps: max(1, c.MaxParallelOps-f.IntN(2)), TTLSeconds: c.TTLSeconds, Autonomous: c.Autonomous &&
			f.IntN(8) > 0,
		MaxDelegationDepth: max(0, c.MaxDelegationDepth-1)}
	switch f.IntN(12) {
	case 0:
		out.Tools = someTools
	case 1:
		out.MaxParallelOps++
	case 2:
		out.TTLSeconds = int64(f.IntN(4))
	case 3:
		out.Autonomous = true
	case 4:
		out.MaxDelegationDepth += f.IntN(2)
	case 5:
		out.MemoryWrite = f.scope(everything().MemoryWrite)
	case 6:
		out.MemoryRead = f.scope(everything().MemoryRead)
	case 7:
		out.Tools = append(slices.Clone(out.Tools), one(f, someTools...)) // perhaps twice
	}
	return out
}

// person is the root of a tree.
func (f forest) person(id string) *place {
	return &place{id: id, name: id, status: schemas.Active, keySeq: 1}
}

// agent grows an agent below parent.
func (f forest) agent(parent *place, n int) *place {
	from := everything()
	if !parent.human() {
		from = parent.caps
	}
	p := &place{id: fmt.Sprintf("%060d%04d", 7, n), name: fmt.Sprintf("w%d", n), parent: parent, caps: f.below(from),
		agentType: one(f, schemas.AgentTypes()...), status: schemas.Active, keySeq: 1}
	if f.IntN(12) == 0 {
		p.status = one(f, schemas.Registered, schemas.Suspended, schemas.Deactivated, schemas.Removed)
	}
	if f.IntN(6) == 0 {
		p.expires = f.now + int64(f.IntN(3)-1)
	}
	p.grants = schemas.Grants{Groups: sample(f, someGroups), BonusGroups: sample(f, someGroups),
		Private: one(f, "", schemas.NoPrivate, schemas.ReadPrivate, schemas.WritePrivate, schemas.WritePrivate)}
	return p
}

// sample keeps a third.
func sample[T any](f forest, all []T) []T {
	var out []T
	for _, e := range all {
		if f.IntN(3) == 0 {
			out = append(out, e)
		}
	}
	return out
}

// tree grows a person with up to nine agents, deep rather than wide.
func (f forest) tree() []*place { return f.treeOf("ann", 1+f.IntN(9), 0) }

func (f forest) treeOf(person string, agents, from int) []*place {
	all := []*place{f.person(person)}
	for n := range agents {
		all = append(all, f.agent(all[max(0, len(all)-1-f.IntN(3)*f.IntN(2))], from+n))
	}
	return all
}

// chainOf is p's chain as package access wants it.
func chainOf(line []*place) []access.ChainLink {
	links := []access.ChainLink{}
	for _, p := range line {
		b := access.Bounded(p.caps)
		if p.human() {
			b = access.Top()
		}
		links = append(links, access.ChainLink{ID: schemas.EntityID(p.id), Boundary: b, Status: p.status,
			ExpiresAt: p.expires})
	}
	return links
}

func (f forest) deed() deed {
	d := deed{tool: one(f, append(someTools, "")...), kind: one(f, "read", "read", "write", "write", "write", "read",
		""),
		layer: one(f, "", "l1", "l2", "l2", "l2", "l2", "l3"), own: f.IntN(3) == 0}
	if d.layer == "l2" || f.IntN(8) == 0 {
		d.visibility = one(f, "private", "private", "group", "group", "group", "public", "", "all")
	}
	if d.visibility == "group" && f.IntN(16) > 0 || f.IntN(32) == 0 {
		d.group, d.groupKind, d.role = one(f, someGroups...), one(f, append(someKinds, "")...), one(f,
			append(someRoles, "god")...)
	}
	switch f.IntN(24) {
	case 0: // no id of a group
		d.group = one(f, "", "Team", "staging-A", "a*", "staging-*", "-a", "a/b")
	}
	return d
}

func (d deed) operation() access.Operation {
	return access.Operation{Tool: d.tool, Kind: access.Kind(d.kind), Layer: schemas.Layer(d.layer),
		Visibility: schemas.Visibility(d.visibility),
		Own:        d.own, Group: schemas.GroupID(d.group), GroupKind: d.groupKind, Role: access.MemberRole(d.role)}
}

// Random trees of agents decide as the model says: what may be registered and
// every reason why not, who refuses a deed, and what the matrix opens.
func TestTreesDecideAsTheModel(t *testing.T) {
	trees := soak.Count(t, 3000, 1_000_000)
	f := forest{rand.New(rand.NewPCG(7, 8)), 1_000_000}
	registrations, accepted, deeds, allowed, opened := 0, 0, 0, 0, 0
	for range trees {
		all := f.tree()
		for range 3 {
			parent := one(f, all...)
			line := parent.line()
			if f.IntN(50) == 0 {
				line = line[1:] // a chain that lost its person
			}
			from := everything()
			if !parent.human() {
				from = parent.caps
			}
			child := f.below(from)
			err := access.CheckRegistration(child, chainOf(line))
			want, got := mayHandDown(child, line), reasonsOf(err)
			registrations++
			if !slices.Equal(want, got) || (err == nil) != (len(want) == 0) {
				t.Fatalf("registering %+v\nunder %s\nmodel  %v\naccess %v", child, told(line), want, got)
			}
			if err == nil {
				accepted++
			}
		}
		for range 10 {
			who := one(f, all...)
			line := who.line()
			switch f.IntN(100) {
			case 0:
				line = line[1:]
			case 1:
				line = append(line, f.person("bob"))
			}
			d := f.deed()
			want, got := refusedBy(line, d, f.now), []string{}
			for _, denial := range access.Evaluate(chainOf(line), d.operation(), f.now) {
				got = append(got, denial.String())
			}
			deeds++
			if len(line) > 0 && !slices.Equal(want, got) {
				t.Fatalf("%+v\nby %s\nmodel  %v\naccess %v", d, told(line), want, got)
			}
			if len(line) == 0 && len(got) == 0 {
				t.Fatal("nobody may do something")
			}
			kind, tier := one(f, append(schemas.AgentTypes(), "", "robot")...), one(f,
				append(schemas.Tiers(), "", "HIGH")...)
			grants := schemas.Grants{Groups: who.grants.Groups, BonusGroups: who.grants.BonusGroups,
				Private: one(f, who.grants.Private, "all")}
			opens := access.MatrixAllows(access.RowFor(kind, tier), tier,
				access.Question{Operation: d.operation(), Grants: grants})
			if opens != defaults(kind, tier, grants, d) {
				t.Fatalf("%s of tier %s with %+v: %+v\nmodel %t, access %t", kind, tier, grants, d, !opens, opens)
			}
			if len(got) == 0 {
				allowed++
			}
			if opens {
				opened++
			}
		}
	}
	require.Greater(t, accepted*20, registrations, "too few registrations are accepted to mean anything")
	require.Less(t, accepted*2, registrations)
	require.Greater(t, allowed*50, deeds)
	require.Greater(t, opened*20, deeds)
	t.Logf("%d trees: %d registrations (%d accepted), %d deeds (%d allowed by the chain, %d opened by the matrix), "+
		"0 differences",
		trees, registrations, accepted, deeds, allowed, opened)
}

func reasonsOf(err error) []string {
	if r, ok := errors.AsType[access.Refusal](err); ok {
		return r.Reasons()
	}
	return []string{}
}

func told(line []*place) string {
	var b strings.Builder
	for _, p := range line {
		fmt.Fprintf(&b, "\n  %s %s expires %d: %+v", p.name, p.status, p.expires, p.caps)
	}
	return b.String()
}
