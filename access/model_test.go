package access_test

import (
	"fmt"
	"slices"
	"strings"

	"cordelia/schemas"
)

// The model is the rules of access said once more, slowly and without anything
// of package access: its own patterns, its own order, its own matrix.

// place is one entity of a tree.
type place struct {
	id, name  string
	parent    *place // nil for the person
	caps      schemas.Capabilities
	agentType schemas.AgentType
	opinions  map[string]schemas.Tier // what others hold of it, by their ids
	grants    schemas.Grants
	status    schemas.AgentStatus
	expires   int64 // µs, 0 = never
	seen      int64 // last sign of life, µs
	created   int64
	keySeq    int
}

func (p *place) human() bool { return p.parent == nil }

// line is p with everyone above it, the person first.
func (p *place) line() []*place {
	if p.parent == nil {
		return []*place{p}
	}
	return append(p.parent.line(), p)
}

func (p *place) isAbove(other *place) bool {
	for at := other.parent; at != nil; at = at.parent {
		if at == p {
			return true
		}
	}
	return false
}

// circle is a group.
type circle struct {
	id, kind string
	owner    *place
	closed   bool              // archived, or no emissions
	roles    map[*place]string // of its members
}

func has[T comparable](list []T, x T) bool {
	return slices.Contains(list, x)
}

// like matches text against a pattern by trying everything a star may swallow. A
// star in text is a letter that only a star swallows.
func like(pattern, text string) bool {
	if pattern == "" {
		return text == ""
	}
	if pattern[0] == '*' {
		for n := 0; n <= len(text); n++ {
			if like(pattern[1:], text[n:]) {
				return true
			}
		}
		return false
	}
	return text != "" && text[0] == pattern[0] && like(pattern[1:], text[1:])
}

func likeAny(patterns []string, text string) bool {
	for _, p := range patterns {
		if like(p, text) {
			return true
		}
	}
	return false
}

func setAside(group, kind string) bool {
	return kind == "staging" || kind == "system" || strings.HasPrefix(group, "staging-") ||
		strings.HasPrefix(group, "system-")
}

// wellFormed tells ids of groups from what only looks like one.
func wellFormed(group string) bool {
	for i, c := range group {
		letter := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._-", c)) {
			return false
		}
	}
	return group != "" && len(group) <= 128
}

// half is what a record says about reading or about writing.
func half(c schemas.Capabilities, kind string) schemas.MemoryScope {
	if kind == "read" {
		return c.MemoryRead
	}
	if kind == "write" {
		return c.MemoryWrite
	}
	return schemas.MemoryScope{}
}

// mayHandDown lists why the last of line may not register child: the reasons in
// the order of the fields, each once.
func mayHandDown(child schemas.Capabilities, line []*place) []string {
	reasons := []string{}
	if len(line) == 0 || !line[0].human() {
		reasons = append(reasons, "broken_chain")
	}
	if len(line) > 8 {
		reasons = append(reasons, "exceeds:tree_depth")
	}
	someone := func(reason string, lacks func(c schemas.Capabilities, above int) bool) {
		for i, p := range line {
			if !p.human() && lacks(p.caps, len(line)-i) {
				if !has(reasons, reason) {
					reasons = append(reasons, reason)
				}
				return
			}
		}
	}
	someone("parent_cannot_register", func(c schemas.Capabilities,
		_ int) bool {
		return !has(c.Tools, "agent_register") && !has(c.Tools, "role_spawn")
	})
	for _, kind := range []string{"read", "write"} {
		asked := half(child, kind)
		for _, l := range asked.Layers {
			someone(fmt.Sprintf("exceeds:memory_%s.layers:%s", kind, l), func(c schemas.Capabilities, _ int) bool {
				return !has(half(c, kind).Layers, l)
			})
		}
		for _, g := range asked.Groups {
			someone(fmt.Sprintf("exceeds:memory_%s.groups:%s", kind, g), func(c schemas.Capabilities, _ int) bool {
				if setAside(g, "") && !strings.Contains(g, "*") {
					return !has(half(c, kind).Groups, g)
				}
				return !likeAny(half(c, kind).Groups, g)
			})
		}
		for _, v := range asked.Visibility {
			someone(fmt.Sprintf("exceeds:memory_%s.visibility:%s", kind, v), func(c schemas.Capabilities, _ int) bool {
				return !has(half(c, kind).Visibility, v)
			})
		}
	}
	for _, tool := range child.Tools {
		someone("exceeds:tools:"+tool, func(c schemas.Capabilities, _ int) bool { return !has(c.Tools, tool) })
	}
	someone("exceeds:max_parallel_ops", func(c schemas.Capabilities,
		_ int) bool {
		return child.MaxParallelOps > c.MaxParallelOps
	})
	someone("exceeds:ttl_seconds", func(c schemas.Capabilities, _ int) bool {
		return c.TTLSeconds > 0 && (child.TTLSeconds == 0 || child.TTLSeconds > c.TTLSeconds)
	})
	someone("exceeds:autonomous", func(c schemas.Capabilities, _ int) bool { return child.Autonomous && !c.Autonomous })
	someone("exceeds:max_delegation_depth", func(c schemas.Capabilities, above int) bool {
		return c.MaxDelegationDepth < above || child.MaxDelegationDepth > c.MaxDelegationDepth-above
	})
	return reasons
}

// deed is one concrete thing somebody wants to do.
type deed struct {
	tool, kind, layer, visibility string
	own                           bool
	group, groupKind, role        string
}

func (d deed) roleAllows() bool {
	return has([]string{"owner", "admin", "member"}, d.role) && has([]string{"read", "write"}, d.kind) ||
		d.role == "viewer" && d.kind == "read"
}

// refusedBy lists who of line does not allow d, and why, the person first.
func refusedBy(line []*place, d deed, now int64) []string {
	out := []string{}
	for i, p := range line {
		if p.human() != (i == 0) {
			out = append(out, "broken_chain:"+p.id)
		}
		if p.status != schemas.Active {
			out = append(out, "not_active:"+p.id+":"+string(p.status))
		}
		if p.expires > 0 && p.expires <= now {
			out = append(out, "expired:"+p.id)
		}
		if p.human() {
			continue
		}
		scope := half(p.caps, d.kind)
		if !has(p.caps.Tools, d.tool) {
			out = append(out, "tool:"+p.id)
		}
		if d.layer != "" && !has(scope.Layers, schemas.Layer(d.layer)) &&
			!(d.own && d.layer == "l1" && d.kind == "read") {
			out = append(out, "layer:"+p.id)
		}
		if d.layer == "l2" || d.visibility != "" {
			granted := has(scope.Visibility, schemas.Visibility(d.visibility)) || d.own && d.visibility == "private"
			if !granted || d.kind == "write" && d.visibility == "public" {
				out = append(out, "visibility:"+p.id)
			}
		}
		if d.visibility == "group" || d.group != "" {
			reached := likeAny(scope.Groups, d.group)
			if setAside(d.group, d.groupKind) {
				reached = has(scope.Groups, d.group) || d.roleAllows()
			}
			if !reached || !wellFormed(d.group) {
				out = append(out, "group:"+p.id)
			}
		}
	}
	return out
}

// defaults is the scoping matrix: what an agent of this type and tier may do,
// beyond being capable of it.
func defaults(t schemas.AgentType, tier schemas.Tier, grants schemas.Grants, d deed) bool {
	known := has([]schemas.AgentType{"claude-code", "swarm-worker", "autonomous", "custom"}, t)
	trusted := known && has([]schemas.Tier{"low", "medium", "high"}, tier)
	reads, writes := d.kind == "read", d.kind == "write"
	switch {
	case d.layer == "l1":
		return d.own && (reads || writes && trusted)
	case d.layer != "l2":
		return false
	case d.visibility == "public":
		return reads
	case d.visibility == "private" && d.own:
		return reads || writes && trusted
	case d.visibility == "private":
		return trusted && (reads && (grants.Private == "read" || grants.Private == "read_write") || writes &&
			grants.Private == "read_write")
	case d.visibility == "group":
		if !trusted || d.group == "" || !d.roleAllows() || writes && tier == "low" {
			return false
		}
		approved := has(grants.Groups, d.group) || tier == "high" && has(grants.BonusGroups, d.group)
		return t == "claude-code" || setAside(d.group, d.groupKind) || approved || t == "swarm-worker" &&
			d.groupKind == "swarm"
	}
	return false
}

// trusted is the lower tier of p for the owner of what it touches and for its person, or
// that of an agent above it that is lower, if that is below medium.
func (p *place) trusted(owner *place) schemas.Tier {
	tier := p.lower(owner)
	line := p.line()
	for _, above := range line[:len(line)-1] {
		switch theirs := above.lower(owner); {
		case above.human():
		case theirs == "", theirs == "untrusted" && tier != "", theirs == "low" && (tier == "medium" || tier == "high"):
			tier = theirs
		}
	}
	return tier
}

func (p *place) lower(owner *place) schemas.Tier {
	tier := p.opinions[p.line()[0].id]
	if tier == "" {
		tier = "medium"
	}
	if owner == nil || p.opinions[owner.id] == "" {
		return tier
	}
	theirs := p.opinions[owner.id]
	for _, lowest := range []schemas.Tier{"untrusted", "low", "medium"} {
		if tier == lowest || theirs == lowest {
			return lowest
		}
	}
	if tier == "high" && theirs == "high" {
		return "high"
	}
	return "" // one that nobody knows
}

// wish is a need of an operation, told by who and what exists.
type wish struct {
	kind, layer, visibility string
	owner                   *place  // of an L1 entry or private item
	group                   *circle // nil: there is none of this name
}

// reaches reports whether who, doing tool, may touch what w names.
func reaches(who *place, tool string, w wish, now int64) bool {
	d := deed{tool: tool, kind: w.kind, layer: w.layer, visibility: w.visibility, own: w.owner == who}
	if w.visibility == "group" {
		if w.group == nil || w.kind == "write" && w.group.closed {
			return false
		}
		d.group, d.groupKind, d.role = w.group.id, w.group.kind, w.group.roles[who]
		if who.human() && (w.group.owner == who || who.isAbove(w.group.owner)) {
			d.role = "owner"
		}
	}
	if who.human() {
		switch {
		case w.visibility == "group":
			return d.roleAllows()
		case w.visibility == "public", d.own:
			return true
		}
		return w.kind == "read" && w.owner != nil && who.isAbove(w.owner)
	}
	if len(refusedBy(who.line(), d, now)) > 0 {
		return false
	}
	if w.layer == "l2" && w.visibility == "private" && w.owner != who && w.owner != who.parent {
		return false
	}
	owner := w.owner
	if w.group != nil {
		owner = w.group.owner
	}
	return defaults(who.agentType, who.trusted(owner), who.grants, d)
}
