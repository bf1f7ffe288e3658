package access

import (
	"slices"

	"cordelia/schemas"
)

// Row names a row of the scoping matrix (seed §7.1).
type Row string

const (
	RowClaudeCode  Row = "claude-code"
	RowSwarmWorker Row = "swarm-worker"
	RowExternal    Row = "external"
	RowUntrusted   Row = "untrusted"
)

// RowFor picks the row: the agent's type does, unless the tier is Untrusted.
// What is unknown lands in the untrusted row.
func RowFor(t schemas.AgentType, tier schemas.Tier) Row {
	if tier == schemas.Untrusted || !slices.Contains(schemas.Tiers(), tier) {
		return RowUntrusted
	}
	switch t {
	case schemas.ClaudeCode:
		return RowClaudeCode
	case schemas.SwarmWorker:
		return RowSwarmWorker
	case schemas.Autonomous, schemas.Custom:
		return RowExternal
	}
	return RowUntrusted
}

// cell is what a row opens in one column. Private and group cells name the
// condition; how far they open then follows from the grant, or from the role in
// the group and the tier.
type cell string

const (
	cellNone      cell = "none"
	cellRead      cell = "R"
	cellReadWrite cell = "RW"
	cellGranted   cell = "granted"          // what the parent granted explicitly
	cellMember    cell = "membership"       // groups the agent is a member of
	cellSwarm     cell = "swarm or granted" // member, and the group is a swarm's or granted
	cellApproved  cell = "member, granted"  // member, and the group is granted
)

// scoping is one row of the matrix.
type scoping struct {
	row        Row
	ownL1      cell // the agent's own hot context
	ownPrivate cell // its own private items
	private    cell // the grantor's private items
	group      cell
	public     cell
}

// matrix is the scoping matrix of seed §7.1. Where that section's rules speak
// against its rows the rules hold: private memory opens by an explicit grant
// alone (rule 2), and public memory is read-only for every agent (rule 4).
func matrix() [4]scoping {
	return [4]scoping{
		// row, own L1, own private, private, group, public
		{RowClaudeCode, cellReadWrite, cellReadWrite, cellGranted, cellMember, cellRead},
		{RowSwarmWorker, cellReadWrite, cellReadWrite, cellGranted, cellSwarm, cellRead},
		{RowExternal, cellReadWrite, cellReadWrite, cellGranted, cellApproved, cellRead},
		{RowUntrusted, cellRead, cellRead, cellNone, cellNone, cellRead},
	}
}

// Question is what is put to the matrix: an operation on memory, and what the
// agent's parent granted. A private item that is not the caller's own must be
// the grantor's; the matrix cannot see whose it is.
type Question struct {
	Operation
	Grants schemas.Grants
}

// MatrixAllows reports whether the row opens what q asks for, by default, by the parent's
// explicit grant or by the bonus of tier High. It is one half of the decision: Evaluate must
// agree. A question that touches no memory is never opened by a row.
//
// At tier Low groups are read only. A staging or system group opens to its members by
// membership alone, in each row but the untrusted one.
func MatrixAllows(row Row, tier schemas.Tier, q Question) bool {
	if tier == schemas.Untrusted || !slices.Contains(schemas.Tiers(), tier) {
		row = RowUntrusted
	}
	rows := matrix()
	i := slices.IndexFunc(rows[:], func(s scoping) bool { return s.row == row })
	if i < 0 {
		return false
	}
	s := rows[i]
	switch {
	case q.Layer == schemas.L1:
		return q.Own && s.ownL1.opens(q.Kind)
	case q.Layer != schemas.L2:
		return false
	case q.Visibility == schemas.Private && q.Own:
		return s.ownPrivate.opens(q.Kind)
	case q.Visibility == schemas.Private:
		return s.private == cellGranted && privateCell(q.Grants.Private).opens(q.Kind)
	case q.Visibility == schemas.Group:
		return s.opensGroup(tier, q)
	case q.Visibility == schemas.Public:
		return s.public.opens(q.Kind)
	}
	return false
}

// Cause is what the scoping matrix refused a question for.
type Cause string

const (
	CauseRole  Cause = "role"  // no member of the group, or a viewer who wants to write
	CauseOther Cause = "other" // another's context
	CauseTier  Cause = "tier"  // tier Medium would do
	CauseType  Cause = "type"  // of a type that no row is for
	CauseGrant Cause = "grant" // the parent would have to grant the place
)

// matrixCause says why MatrixAllows refuses q to an agent of this type and tier.
func matrixCause(t schemas.AgentType, tier schemas.Tier, q Question) Cause {
	medium := RowFor(t, schemas.Medium)
	switch {
	case q.Visibility == schemas.Group && !q.Role.mayDo(q.Kind):
		return CauseRole
	case q.Layer == schemas.L1 && !q.Own:
		return CauseOther
	case MatrixAllows(medium, schemas.Medium, q):
		return CauseTier
	case medium == RowUntrusted:
		return CauseType
	}
	return CauseGrant
}

// MatrixProposes reports whether tier Low alone keeps the row from opening a write to a
// group: what an agent would write there waits for a decision instead. An Untrusted agent
// proposes nothing, and nothing is proposed for a staging or system group.
func MatrixProposes(row Row, tier schemas.Tier, q Question) bool {
	return tier == schemas.Low && q.Kind == KindWrite && q.Layer == schemas.L2 && q.Visibility == schemas.Group &&
		!Reserved(q.Group, q.GroupKind) && MatrixAllows(row, schemas.Medium, q)
}

func (c cell) opens(k Kind) bool {
	return k == KindRead && (c == cellRead || c == cellReadWrite) || k == KindWrite && c == cellReadWrite
}

func privateCell(g schemas.PrivateGrant) cell {
	switch g {
	case schemas.ReadPrivate:
		return cellRead
	case schemas.WritePrivate:
		return cellReadWrite
	}
	return cellNone
}

func (s scoping) opensGroup(tier schemas.Tier, q Question) bool {
	if s.group == cellNone || q.Group == "" || !q.Role.mayDo(q.Kind) {
		return false
	}
	if tier == schemas.Low && q.Kind == KindWrite {
		return false
	}
	if Reserved(q.Group, q.GroupKind) || s.group == cellMember {
		return true
	}
	return s.group == cellSwarm && q.GroupKind == GroupSwarm ||
		slices.Contains(q.Grants.Groups, string(q.Group)) ||
		tier == schemas.High && slices.Contains(q.Grants.BonusGroups, string(q.Group))
}
