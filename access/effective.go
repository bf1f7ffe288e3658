package access

import (
	"fmt"
	"slices"

	"cordelia/schemas"
)

// Kind says whether an operation reads or writes memory.
type Kind string

const (
	KindRead  Kind = "read"
	KindWrite Kind = "write"
)

// MemberRole is what a member of a group may do there; "" is no member.
type MemberRole string

const (
	RoleOwner  MemberRole = "owner"
	RoleAdmin  MemberRole = "admin"
	RoleMember MemberRole = "member"
	RoleViewer MemberRole = "viewer" // reads only
)

// Operation is one concrete thing an agent wants to do. Leaving a field out
// never opens more: memory named without a visibility or group is refused.
type Operation struct {
	Tool       string
	Kind       Kind
	Layer      schemas.Layer      // "" when no memory is touched
	Visibility schemas.Visibility // for L2
	Own        bool               // the caller owns the L1 entry or private item
	Group      schemas.GroupID    // required for visibility group
	GroupKind  string
	Role       MemberRole // the caller's role in Group
}

// ChainLink is one entity of a chain from the human root down to the caller.
type ChainLink struct {
	ID        schemas.EntityID
	Boundary  Boundary
	Status    schemas.AgentStatus // a living human counts as active
	ExpiresAt int64               // UTC µs; 0 = never
}

// DenialReason says which check failed.
type DenialReason string

const (
	DeniedBrokenChain DenialReason = "broken_chain"
	DeniedNotActive   DenialReason = "not_active"
	DeniedExpired     DenialReason = "expired"
	DeniedTool        DenialReason = "tool"
	DeniedLayer       DenialReason = "layer"
	DeniedVisibility  DenialReason = "visibility"
	DeniedGroup       DenialReason = "group"
	DeniedUnattended  DenialReason = "unattended" // not by Evaluate
)

// Denial names the entity of the chain that does not allow an operation. It is
// for the log and the audit: it may name an ancestor the caller cannot see.
type Denial struct {
	Reason DenialReason
	ID     schemas.EntityID
	Status schemas.AgentStatus // with DeniedNotActive only
}

// String gives the stable form, such as "tool:p" or "not_active:p:suspended".
func (d Denial) String() string {
	s := string(d.Reason) + ":" + string(d.ID)
	if d.Reason == DeniedNotActive {
		s += ":" + string(d.Status)
	}
	return s
}

// MayNot words a denial of memory, "" if d is none.
func (d Denial) MayNot(op Operation) string {
	switch d.Reason {
	case DeniedLayer:
		return fmt.Sprintf("may not %s %s", op.Kind, op.Layer)
	case DeniedVisibility:
		return fmt.Sprintf("may not %s what is %s", op.Kind, op.Visibility)
	case DeniedGroup:
		return fmt.Sprintf("may not %s group %s", op.Kind, op.Group)
	}
	return ""
}

// Evaluate decides op along chain, the human root first and the caller last, at
// time now in UTC µs. It returns every denial in chain order; none means allowed
// (INV-CHAIN). A chain that does not start at TOP, or meets it again, is broken.
func Evaluate(chain []ChainLink, op Operation, now int64) []Denial {
	if len(chain) == 0 {
		return []Denial{{Reason: DeniedBrokenChain}}
	}
	var denials []Denial
	for i, link := range chain {
		if link.Boundary.top != (i == 0) {
			denials = append(denials, Denial{Reason: DeniedBrokenChain, ID: link.ID})
		}
		if link.Status != schemas.Active {
			denials = append(denials, Denial{Reason: DeniedNotActive, ID: link.ID, Status: link.Status})
		}
		if link.ExpiresAt != 0 && now >= link.ExpiresAt {
			denials = append(denials, Denial{Reason: DeniedExpired, ID: link.ID})
		}
		for _, reason := range link.Boundary.denies(op) {
			denials = append(denials, Denial{Reason: reason, ID: link.ID})
		}
	}
	return denials
}

// rooted reports whether chain begins at TOP and never meets it again.
func rooted(chain []ChainLink) bool {
	for i, link := range chain {
		if link.Boundary.top != (i == 0) {
			return false
		}
	}
	return len(chain) > 0
}

// denies lists what of op lies outside the boundary.
//
// Three things are sovereign and reached without the capability that governs
// other people's memory: reading the own L1, the own private items, and a
// reserved group the caller was made a member of by exact name.
func (b Boundary) denies(op Operation) []DenialReason {
	if b.top {
		return nil
	}
	var reasons []DenialReason
	deny := func(reason DenialReason, allowed bool) {
		if !allowed {
			reasons = append(reasons, reason)
		}
	}
	scope := b.scope(op.Kind)
	deny(DeniedTool, slices.Contains(b.caps.Tools, op.Tool))
	if op.Layer != "" {
		ownHot := op.Own && op.Layer == schemas.L1 && op.Kind == KindRead
		deny(DeniedLayer, ownHot || slices.Contains(scope.Layers, op.Layer))
	}
	if op.Layer == schemas.L2 || op.Visibility != "" {
		ownPrivate := op.Own && op.Visibility == schemas.Private
		publicWrite := op.Kind == KindWrite && op.Visibility == schemas.Public // INV-PUBLIC
		deny(DeniedVisibility, !publicWrite && (ownPrivate || slices.Contains(scope.Visibility, op.Visibility)))
	}
	if op.Visibility == schemas.Group || op.Group != "" {
		deny(DeniedGroup, op.invited() || MatchesGroup(scope.Groups, op.Group, op.GroupKind))
	}
	return reasons
}

// invited reports whether op stays within the caller's membership of a reserved
// group. The node alone gives those, to the author and the parent, by exact name.
func (op Operation) invited() bool {
	return Reserved(op.Group, op.GroupKind) && schemas.CheckGroupID(string(op.Group)) == nil &&
		op.Role.mayDo(op.Kind)
}

// mayDo reports whether a member of this role may read or write the group.
func (r MemberRole) mayDo(k Kind) bool {
	switch r {
	case RoleOwner, RoleAdmin, RoleMember:
		return k == KindRead || k == KindWrite
	case RoleViewer:
		return k == KindRead
	}
	return false
}

// ExpiresAt gives when an agent created at createdAt (UTC µs) with the given ttl
// expires, in UTC µs; 0 = never. The instant itself is already expired.
func ExpiresAt(createdAt, ttlSeconds int64) int64 {
	if ttlSeconds == 0 {
		return 0
	}
	return createdAt + ttlSeconds*1_000_000
}

// EffectiveExpiry gives the earliest expiry along chain in UTC µs; 0 = never.
func EffectiveExpiry(chain []ChainLink) int64 {
	var earliest int64
	for _, link := range chain {
		if link.ExpiresAt != 0 && (earliest == 0 || link.ExpiresAt < earliest) {
			earliest = link.ExpiresAt
		}
	}
	return earliest
}
