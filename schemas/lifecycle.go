package schemas

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

// By says who may pull a trigger.
type By string

const (
	ByNode     By = "node"     // the node's own routines
	ByAncestor By = "ancestor" // the parent, any agent above it, or its human
)

// Edge is one allowed move. AgentEdges is the only place that decides a next
// state.
type Edge struct {
	From AgentStatus
	On   Trigger
	To   AgentStatus
	By   By
}

// AgentEdges is the lifecycle table: the seed's rows plus registered and
// suspended → deactivated. Removed is final.
func AgentEdges() []Edge {
	edges := []Edge{
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
			Edge{from, TTLExpiry, Deactivated, ByNode},
			Edge{from, Deactivate, Deactivated, ByAncestor},
			Edge{from, TaskComplete, Deactivated, ByNode},
		)
	}
	return edges
}

// NextStatus returns where trigger on leads from state from, and who may pull
// it; ok is false when the table has no such edge.
func NextStatus(from AgentStatus, on Trigger) (to AgentStatus, by By, ok bool) {
	for _, e := range AgentEdges() {
		if e.From == from && e.On == on {
			return e.To, e.By, true
		}
	}
	return "", "", false
}
