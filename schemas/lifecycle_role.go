package schemas

// RoleStatus is a state of a role (role seed §4.7). The agent behind it has its own.
type RoleStatus string

// The states.
const (
	RoleDraft      RoleStatus = "draft"     // being set up; it gets no events
	RoleTesting    RoleStatus = "testing"   // its decisions are recorded, and nothing follows from them
	RoleActive     RoleStatus = "active"    //
	RoleSuspended  RoleStatus = "suspended" // no events; its memory stays
	RoleTerminated RoleStatus = "terminated"
)

// RoleStatuses lists every state, first to last.
func RoleStatuses() []RoleStatus {
	return []RoleStatus{RoleDraft, RoleTesting, RoleActive, RoleSuspended, RoleTerminated}
}

// Acts reports whether a role in this state decides over events.
func (s RoleStatus) Acts() bool { return s == RoleActive || s == RoleTesting }

// What moves a role from one state to another, beside Activate, Suspend, Resume, TTLExpiry
// and TaskComplete.
const (
	RoleTry       Trigger = "test"
	RoleTerminate Trigger = "terminate"
)

// RoleEdge is one allowed move of a role, and what it does to the agent behind it ("" =
// nothing).
type RoleEdge struct {
	From  RoleStatus
	On    Trigger
	To    RoleStatus
	Agent Trigger
}

// RoleEdges is the lifecycle table of roles, and the only place that decides a next state.
func RoleEdges() []RoleEdge {
	edges := []RoleEdge{
		{RoleDraft, RoleTry, RoleTesting, Activate},
		{RoleDraft, Activate, RoleActive, Activate},
		{RoleTesting, Activate, RoleActive, ""},
		{RoleActive, RoleTry, RoleTesting, ""},
		{RoleTesting, Suspend, RoleSuspended, Suspend},
		{RoleActive, Suspend, RoleSuspended, Suspend},
		{RoleSuspended, Resume, RoleActive, Resume},
	}
	for _, from := range []RoleStatus{RoleDraft, RoleTesting, RoleActive, RoleSuspended} {
		edges = append(edges,
			RoleEdge{from, RoleTerminate, RoleTerminated, Deactivate},
			RoleEdge{from, TTLExpiry, RoleTerminated, TTLExpiry},
			RoleEdge{from, TaskComplete, RoleTerminated, TaskComplete})
	}
	return edges
}

// NextRole returns the edge on which trigger leads from state from; ok is false when the
// table has no such edge.
func NextRole(from RoleStatus, on Trigger) (e RoleEdge, ok bool) {
	for _, e := range RoleEdges() {
		if e.From == from && e.On == on {
			return e, true
		}
	}
	return RoleEdge{}, false
}

// AskKind is what a role asks, or what is asked about it.
type AskKind string

// The kinds.
const (
	AskEscalation AskKind = "escalation" // an event it does not handle: approving says it was seen to
	AskApproval   AskKind = "approval"   // an action it may not do alone: approving has it done
	AskRequest    AskKind = "request"    // a message to a person: the reason is the answer
	AskSpawn      AskKind = "spawn"      // a role that waits to be made
	AskDraft      AskKind = "draft"      // a template that a role designed
	AskInsights   AskKind = "insights"   // what a role that ended knew, for its parent
)
