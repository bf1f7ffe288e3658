package schemas

import "sync"

// AgentStatus is a state of the agent lifecycle (seed §8.1).
type AgentStatus string

const (
	Registered  AgentStatus = "registered"
	Active      AgentStatus = "active"
	Suspended   AgentStatus = "suspended"
	Deactivated AgentStatus = "deactivated"
	Removed     AgentStatus = "removed"
)

// AgentStatuses lists every state, first to last.
func AgentStatuses() []AgentStatus {
	return []AgentStatus{Registered, Active, Suspended, Deactivated, Removed}
}

// Trigger is what moves an agent from one state to another (seed §8.2).
type Trigger string

const (
	FirstOperation Trigger = "first_operation"
	Activate       Trigger = "activate"      // explicit
	RateLimit      Trigger = "rate_limit"    // by the node
	ErrorLimit     Trigger = "error_limit"   // by the node
	Suspend        Trigger = "suspend"       // by the parent or human
	Resume         Trigger = "resume"        // by the parent or human
	CooldownOver   Trigger = "cooldown_over" // by the node, for its own suspensions only
	TTLExpiry      Trigger = "ttl_expiry"    // by the node, latched
	Deactivate     Trigger = "deactivate"    // by the parent or human
	TaskComplete   Trigger = "task_complete" // by the node
	GraceOver      Trigger = "grace_over"    // by the node
	Reactivate     Trigger = "reactivate"    // by the parent, within the grace period
)

// Words says to a person what happened when the node pulled t, "" if an ancestor pulls it.
func (t Trigger) Words() string {
	return map[Trigger]string{
		FirstOperation: "its first call",
		RateLimit:      "too many refused calls within a minute",
		ErrorLimit:     "too many calls with wrong arguments within a minute",
		CooldownOver:   "its cooldown is over",
		TTLExpiry:      "the end of its lifetime",
		TaskComplete:   "its task is complete",
		GraceOver:      "its grace period is over",
	}[t]
}

// By names the role that may pull a trigger. The function that pulls it checks the caller and says in which
// of these roles; next refuses any other than the table's.
type By string

const (
	ByNode     By = "node"     // the node's own routines
	ByAncestor By = "ancestor" // the parent, any agent above it, or its human
)

// Edge is one allowed move of a lifecycle: in state From, the trigger On leads to To, if By
// pulls it. The tables of edges are the only place that decides a next state.
type Edge[S ~string] struct {
	From S
	On   Trigger
	To   S
	By   By
}

// next returns where trigger on leads from state from when as pulls it; ok is false when the
// table has no such edge, or another may pull it.
func next[S ~string](edges []Edge[S], from S, on Trigger, as By) (to S, ok bool) {
	for _, e := range edges {
		if e.From == from && e.On == on && e.By == as {
			return e.To, true
		}
	}
	return "", false
}

// AgentEdges is the lifecycle table: the seed's rows plus registered and
// suspended → deactivated. Removed is final.
func AgentEdges() []Edge[AgentStatus] {
	edges := []Edge[AgentStatus]{
		{Registered, FirstOperation, Active, ByNode},
		{Registered, Activate, Active, ByAncestor},
		{Active, RateLimit, Suspended, ByNode},
		{Active, ErrorLimit, Suspended, ByNode},
		{Active, Suspend, Suspended, ByAncestor},
		{Suspended, Resume, Active, ByAncestor},
		{Suspended, CooldownOver, Active, ByNode},
		{Deactivated, GraceOver, Removed, ByNode},
		{Deactivated, Reactivate, Active, ByAncestor},
	}
	for _, from := range []AgentStatus{Registered, Active, Suspended} {
		edges = append(edges,
			Edge[AgentStatus]{from, TTLExpiry, Deactivated, ByNode},
			Edge[AgentStatus]{from, Deactivate, Deactivated, ByAncestor},
			Edge[AgentStatus]{from, TaskComplete, Deactivated, ByNode},
		)
	}
	return edges
}

// NextStatus returns where trigger on leads an agent from state from, and in which role, which
// the caller checks: the node may pull an ancestor's, too.
func NextStatus(from AgentStatus, on Trigger) (to AgentStatus, by By, ok bool) {
	for _, e := range AgentEdges() {
		if e.From == from && e.On == on {
			return e.To, e.By, true
		}
	}
	return "", "", false
}

// BackToActive gives the trigger by which an ancestor makes an agent active again from state
// from; ok is false if no edge leads there.
func BackToActive(from AgentStatus) (on Trigger, ok bool) {
	for _, e := range AgentEdges() {
		if e.From == from && e.To == Active && e.By == ByAncestor {
			return e.On, true
		}
	}
	return "", false
}

// ActionsOn lists the triggers that an ancestor may pull for an agent in state from.
func ActionsOn(from AgentStatus) (on []Trigger) {
	for _, e := range AgentEdges() {
		if e.From == from && e.By == ByAncestor {
			on = append(on, e.On)
		}
	}
	return on
}

// WorkState is a state of a work item.
type WorkState string

const (
	WorkWaiting   WorkState = "waiting"   // for other items, or its time
	WorkReady     WorkState = "ready"     // may be claimed
	WorkLeased    WorkState = "leased"    // an agent holds it, for a time
	WorkHeld      WorkState = "held"      // reported done; a person looks at it before it counts
	WorkBlocked   WorkState = "blocked"   // a person must retry or cancel it
	WorkDone      WorkState = "done"      // final
	WorkFailed    WorkState = "failed"    // final
	WorkCancelled WorkState = "cancelled" // final
)

// WorkStates lists every state, first to last.
func WorkStates() []WorkState {
	return []WorkState{WorkWaiting, WorkReady, WorkLeased, WorkHeld, WorkBlocked, WorkDone, WorkFailed, WorkCancelled}
}

// Final reports whether nothing follows s.
func (s WorkState) Final() bool { return s == WorkDone || s == WorkFailed || s == WorkCancelled }

// What moves a work item from one state to another.
const (
	WorkDue     Trigger = "due"     // its time has come and what it waited for is done
	WorkDoomed  Trigger = "doomed"  // what it waits for will not be done
	WorkClaim   Trigger = "claim"   //
	WorkFinish  Trigger = "finish"  // reported done
	WorkHold    Trigger = "hold"    // reported done by one whose results a person looks at
	WorkFail    Trigger = "fail"    // reported failed
	WorkRelease Trigger = "release" // given back
	WorkExpire  Trigger = "expire"  // its lease ran out
	WorkExhaust Trigger = "exhaust" // its lease ran out, or it was given back, too often
	WorkRevoke  Trigger = "revoke"  // its holder lost the right to it
	WorkAccept  Trigger = "accept"  //
	WorkReject  Trigger = "reject"  //
	WorkRetry   Trigger = "retry"   //
	WorkCancel  Trigger = "cancel"  //
	WorkOverdue Trigger = "overdue" // its deadline passed
)

// Who may pull the triggers of work items.
const (
	ByHolder    By = "holder"    // who claims or holds it
	ByHuman     By = "human"     // a person who may see it
	BySubmitter By = "submitter" // its submitter, an ancestor of it, or a manager of its group
)

// WorkEdges is the lifecycle table of work items.
func WorkEdges() []Edge[WorkState] {
	edges := []Edge[WorkState]{
		{WorkWaiting, WorkDue, WorkReady, ByNode},
		{WorkWaiting, WorkDoomed, WorkBlocked, ByNode},
		{WorkReady, WorkClaim, WorkLeased, ByHolder},
		{WorkLeased, WorkFinish, WorkDone, ByHolder},
		{WorkLeased, WorkHold, WorkHeld, ByHolder},
		{WorkLeased, WorkFail, WorkFailed, ByHolder},
		{WorkLeased, WorkRelease, WorkReady, ByHolder},
		{WorkLeased, WorkExpire, WorkReady, ByNode},
		{WorkLeased, WorkExhaust, WorkBlocked, ByNode},
		{WorkLeased, WorkRevoke, WorkReady, ByNode},
		{WorkHeld, WorkAccept, WorkDone, ByHuman},
		{WorkHeld, WorkReject, WorkFailed, ByHuman},
		{WorkBlocked, WorkRetry, WorkReady, ByHuman},
	}
	for _, from := range []WorkState{WorkWaiting, WorkReady, WorkLeased, WorkHeld, WorkBlocked} {
		edges = append(edges, Edge[WorkState]{from, WorkCancel, WorkCancelled, BySubmitter})
		if from != WorkHeld {
			edges = append(edges, Edge[WorkState]{from, WorkOverdue, WorkFailed, ByNode})
		}
	}
	return edges
}

// workEdges is the table made once: every move looks into it.
var workEdges = sync.OnceValue(WorkEdges)

// NextWork is next of the lifecycle of work items.
func NextWork(from WorkState, on Trigger, as By) (to WorkState, ok bool) {
	return next(workEdges(), from, on, as)
}
