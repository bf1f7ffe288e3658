package access

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cordelia/schemas"
)

// An agent needs one of these tools to make children: toolRegister for any child, toolSpawn for
// those that a role's template allows.
const (
	toolRegister = "agent_register"
	toolSpawn    = "role_spawn"
)

// Boundary is an element of the capability order: TOP, or a declared record.
// The zero Boundary holds nothing (INV-CLOSED).
type Boundary struct {
	top  bool
	caps schemas.Capabilities
}

// Top is the boundary of the human root: everything. It is never stored.
func Top() Boundary { return Boundary{top: true} }

// Bounded is the boundary an agent's record draws. The record is not copied.
func Bounded(c schemas.Capabilities) Boundary { return Boundary{caps: c} }

// Capabilities gives the declared record; ok is false for TOP.
func (b Boundary) Capabilities() (caps schemas.Capabilities, ok bool) { return b.caps, !b.top }

// scope gives the half of the record that governs k; an unknown kind has none.
func (b Boundary) scope(k Kind) schemas.MemoryScope {
	switch k {
	case KindRead:
		return b.caps.MemoryRead
	case KindWrite:
		return b.caps.MemoryWrite
	}
	return schemas.MemoryScope{}
}

// CheckRegistration returns an error of code denied unless child may be
// registered under the last entity of chain, the human root first
// (INV-ATTENUATE). The child is checked against every ancestor's present
// declaration, because one above the parent may have been reduced since; all
// violations are reported at once. Use Evaluate for whether the chain is alive.
func CheckRegistration(child schemas.Capabilities, chain []ChainLink) error {
	var found []Violation
	if !rooted(chain) {
		found = append(found, Violation{"broken_chain", "", "the chain of ancestors does not begin at a human"})
	}
	if len(chain) > schemas.MaxTreeDepth { // the root counts in chain, though it is no agent
		found = append(found, Violation{"exceeds:tree_depth", "",
			fmt.Sprintf("agents nest at most %d deep", schemas.MaxTreeDepth)})
	}
	ancestors := make([]ancestor, len(chain)) // the parent first: it is the one the caller can act on
	for i, link := range chain {
		above := len(chain) - i
		ancestors[above-1] = ancestor{link.Boundary, above}
	}
	found = append(found, exceeding(child, ancestors)...)
	if len(found) == 0 {
		return nil
	}
	return refuse(schemas.CodeDenied, "the capabilities exceed what the chain of ancestors may hand down", found).
		Try("ask for less, or have the parent widened with %s first", schemas.Other("agent_capabilities"))
}

// ancestor is one boundary a child is checked against, above levels up (1 = parent).
type ancestor struct {
	boundary Boundary
	above    int
}

// name never shows an id: a parent may not see all its ancestors.
func (a ancestor) name() string {
	if a.above == 1 {
		return "the parent"
	}
	return fmt.Sprintf("the ancestor %d levels up", a.above)
}

// exceeding is the order itself: for each part of child, in field order, it
// reports the nearest ancestor that does not hold it.
func exceeding(child schemas.Capabilities, ancestors []ancestor) []Violation {
	o := &ordering{ancestors: ancestors}
	o.compare("parent_cannot_register", "", func(c schemas.Capabilities, _ int) string {
		registers := slices.Contains(c.Tools, toolRegister) || slices.Contains(c.Tools, toolSpawn)
		return unless(registers, "does not hold the tool %s", toolRegister)
	})
	o.compareScope("memory_read", child, func(c schemas.Capabilities) schemas.MemoryScope { return c.MemoryRead })
	o.compareScope("memory_write", child, func(c schemas.Capabilities) schemas.MemoryScope { return c.MemoryWrite })
	o.compareEach("tools", child.Tools, func(c schemas.Capabilities, tool string) bool {
		return slices.Contains(c.Tools, tool)
	})
	o.compareLimits(child)
	return o.found
}

// ordering compares the parts of a declaration with all ancestors.
type ordering struct {
	ancestors []ancestor
	found     []Violation
}

// compare asks every bounded ancestor with lacks, which gives "" or what is missing.
func (o *ordering) compare(reason, path string, lacks func(c schemas.Capabilities, above int) string) {
	for _, a := range o.ancestors {
		if a.boundary.top {
			continue
		}
		if lack := lacks(a.boundary.caps, a.above); lack != "" {
			o.found = append(o.found, Violation{reason, path, a.name() + " " + lack})
			return
		}
	}
}

// compareEach compares a set, element by element.
func (o *ordering) compareEach(field string, set []string, has func(c schemas.Capabilities, element string) bool) {
	for i, e := range set {
		if slices.Contains(set[:i], e) {
			continue
		}
		path := "/" + strings.ReplaceAll(field, ".", "/") + "/" + strconv.Itoa(i)
		o.compare("exceeds:"+field+":"+e, path, func(c schemas.Capabilities, _ int) string {
			return unless(has(c, e), "does not hold %q in %s", e, field)
		})
	}
}

// compareScope compares what may be read or what may be written.
func (o *ordering) compareScope(field string, child schemas.Capabilities,
	of func(schemas.Capabilities) schemas.MemoryScope) {
	asked := of(child)
	o.compareEach(field+".layers", schemas.Strings(asked.Layers), func(c schemas.Capabilities, e string) bool {
		return slices.Contains(of(c).Layers, schemas.Layer(e))
	})
	o.compareEach(field+".groups", asked.Groups, func(c schemas.Capabilities, e string) bool {
		return CoveredBy(of(c).Groups, e)
	})
	o.compareEach(field+".visibility", schemas.Strings(asked.Visibility), func(c schemas.Capabilities, e string) bool {
		return slices.Contains(of(c).Visibility, schemas.Visibility(e))
	})
}

// compareLimits compares the numbers, and whether the child works unattended.
func (o *ordering) compareLimits(child schemas.Capabilities) {
	o.compare("exceeds:max_parallel_ops", "/max_parallel_ops", func(c schemas.Capabilities, _ int) string {
		return unless(child.MaxParallelOps <= c.MaxParallelOps, "allows %d", c.MaxParallelOps)
	})
	o.compare("exceeds:ttl_seconds", "/ttl_seconds", func(c schemas.Capabilities, _ int) string {
		within := c.TTLSeconds == 0 || child.TTLSeconds != 0 && child.TTLSeconds <= c.TTLSeconds
		return unless(within, "allows 1 to %d; 0 means no limit", c.TTLSeconds)
	})
	o.compare("exceeds:autonomous", "/autonomous", func(c schemas.Capabilities, _ int) string {
		return unless(c.Autonomous || !child.Autonomous, "is not autonomous")
	})
	o.compare("exceeds:max_delegation_depth", "/max_delegation_depth", func(c schemas.Capabilities, above int) string {
		left := c.MaxDelegationDepth - above
		if left < 0 {
			return "has no delegation depth left, so it may not register here"
		}
		return unless(child.MaxDelegationDepth <= left, "leaves %d", left)
	})
}

func unless(ok bool, format string, args ...any) string {
	if ok {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// Violation is one reason to refuse a declaration.
type Violation struct {
	Reason string // stable, for machines: "exceeds:tools:memory_share"
	Path   string // JSON pointer into the declaration, "" for the whole
	Msg    string // for the one who asked
}

// Refusal carries the machine-readable violations; errors.As finds it in the
// errors of ParseCapabilities and CheckRegistration.
type Refusal []Violation

// Error lists the reasons.
func (r Refusal) Error() string { return strings.Join(r.Reasons(), ", ") }

// Reasons lists the stable reasons in field order.
func (r Refusal) Reasons() []string {
	reasons := make([]string, len(r))
	for i, v := range r {
		reasons[i] = v.Reason
	}
	return reasons
}

func refuse(code schemas.Code, msg string, found []Violation) *schemas.Error {
	err := schemas.Errorf(code, "%s", msg).Because(Refusal(found))
	for _, v := range found {
		if code == schemas.CodeInvalid { // its words say it all
			err = err.With(schemas.Violation{Path: v.Path, Msg: v.Msg})
			continue
		}
		reason, what, _ := strings.Cut(v.Reason, ":")
		if !strings.Contains(v.Msg, what) { // else it would be said twice
			reason = v.Reason
		}
		err = err.With(schemas.Violation{Path: v.Path, Msg: reason + ": " + v.Msg})
	}
	return err
}
