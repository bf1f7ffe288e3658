package schemas

import "slices"

// EventType names what happened; the registry below is the whole list.
type EventType string

const (
	EventMemoryWritten      EventType = "memory.written"
	EventMemoryConflict     EventType = "memory.conflict"
	EventGroupMemberJoined  EventType = "group.member_joined"
	EventGroupMemberLeft    EventType = "group.member_left"
	EventGroupInvitation    EventType = "group.invitation"
	EventSwarmTaskComplete  EventType = "swarm.task_complete"
	EventSwarmWorkerLost    EventType = "swarm.worker_lost"
	EventSwarmDisbanded     EventType = "swarm.disbanded"
	EventTrustScoreChanged  EventType = "trust.score_changed"
	EventAgentStatusChanged EventType = "agent.status_changed"
	EventWorkReady          EventType = "work.ready"
	EventWorkDone           EventType = "work.done"
	EventWorkFailed         EventType = "work.failed"
	EventWorkHeld           EventType = "work.held"
	EventWorkBlocked        EventType = "work.blocked"
	EventWorkCancelled      EventType = "work.cancelled"
	EventTaskAccepted       EventType = "task.accepted"
	EventTaskAbandoned      EventType = "task.abandoned"
	EventTaskAsks           EventType = "task.asks" // the submitter is asked something
	EventTaskHeld           EventType = "task.held" // a person decides over the result
	EventTaskReplanned      EventType = "task.replanned"
	EventTaskCancelled      EventType = "task.cancelled"
	EventReviewRequested    EventType = "review.requested"
	EventReviewClosed       EventType = "review.closed"
	EventRoleMessage        EventType = "role.message"
	EventRoleReported       EventType = "role.reported" // how something a role did ended
)

// EventTypes lists every event type: the seed's six (§9.1) and the project's.
func EventTypes() []EventType {
	return []EventType{
		EventMemoryWritten, EventMemoryConflict,
		EventGroupMemberJoined, EventGroupMemberLeft, EventGroupInvitation,
		EventSwarmTaskComplete, EventSwarmWorkerLost, EventSwarmDisbanded,
		EventTrustScoreChanged, EventAgentStatusChanged,
		EventWorkReady, EventWorkDone, EventWorkFailed, EventWorkHeld, EventWorkBlocked, EventWorkCancelled,
		EventTaskAccepted, EventTaskAbandoned, EventTaskAsks, EventTaskHeld, EventTaskReplanned, EventTaskCancelled,
		EventReviewRequested, EventReviewClosed, EventRoleMessage, EventRoleReported,
	}
}

// Known reports whether t is in the registry.
func (t EventType) Known() bool { return slices.Contains(EventTypes(), t) }

// Event is the one envelope (role seed §4.2). Payloads carry ids, names given
// by the node and enums, never text another agent wrote: they reach a model
// unasked.
type Event struct {
	ID        EventID        `json:"id"`
	Type      EventType      `json:"type"`
	Source    string         `json:"source"` // the entity that caused it, or "node"
	Domain    string         `json:"domain"` // the group or entity it concerns
	Payload   any            `json:"payload"`
	Timestamp string         `json:"timestamp"` // RFC 3339, UTC
	Metadata  map[string]any `json:"metadata,omitempty"`
}

// QueuedEvent is how the L1 event queue shows an event (seed §9.2).
type QueuedEvent struct {
	Event     EventType `json:"event"`
	Payload   any       `json:"payload"`
	Timestamp string    `json:"timestamp"`
}

// MemoryWritten is the payload of memory.written.
type MemoryWritten struct {
	ItemID  ItemID  `json:"item_id"`
	Type    string  `json:"type"` // entity, session or learning
	GroupID GroupID `json:"group_id,omitempty"`
}

// MemoryConflict is the payload of memory.conflict: two items of one group
// were found to contradict each other after they were written.
type MemoryConflict struct {
	ItemID  ItemID  `json:"item_id"`
	WithID  ItemID  `json:"with_item_id"`
	GroupID GroupID `json:"group_id,omitempty"`
}

// GroupMemberJoined is the payload of group.member_joined.
type GroupMemberJoined struct {
	GroupID  GroupID  `json:"group_id"`
	EntityID EntityID `json:"entity_id"`
	Role     string   `json:"role"`
}

// GroupMemberLeft is the payload of group.member_left.
type GroupMemberLeft struct {
	GroupID  GroupID  `json:"group_id"`
	EntityID EntityID `json:"entity_id"`
}

// GroupInvitation is the payload of group.invitation: an inviter wants agents of the reader
// in its groups (pending: one event stands for all that wait), or what became of an invitation
// of the reader's. It names no group, because that name is the inviter's words.
type GroupInvitation struct {
	InvitationID string      `json:"invitation_id"`
	EntityID     EntityID    `json:"entity_id"` // who is invited
	InviterID    EntityID    `json:"inviter_id"`
	State        ReviewState `json:"state"`
}

// SwarmTaskComplete is the payload of swarm.task_complete; Result is an enum,
// the full result is fetched by id.
type SwarmTaskComplete struct {
	SwarmID GroupID  `json:"swarm_id"`
	AgentID EntityID `json:"agent_id"`
	Result  string   `json:"result"`
}

// TrustScoreChanged is the payload of trust.score_changed; scores are 0–1.
type TrustScoreChanged struct {
	AgentID  EntityID `json:"agent_id"`
	OldScore float64  `json:"old_score"`
	NewScore float64  `json:"new_score"`
}

// AgentStatusChanged is the payload of agent.status_changed.
type AgentStatusChanged struct {
	AgentID   EntityID    `json:"agent_id"`
	OldStatus AgentStatus `json:"old_status"`
	NewStatus AgentStatus `json:"new_status"`
}

// WorkOffered is the payload of work.ready: work that can be claimed. One event
// stands for all that became ready at once.
type WorkOffered struct {
	TaskID  string  `json:"task_id"` // of the first
	GroupID GroupID `json:"group_id,omitempty"`
	Items   int     `json:"items"`
}

// WorkChanged is the payload of the other work events; AgentID is the last holder of
// the item.
type WorkChanged struct {
	WorkID  string    `json:"work_id"`
	TaskID  string    `json:"task_id"`
	GroupID GroupID   `json:"group_id,omitempty"`
	AgentID EntityID  `json:"agent_id,omitempty"`
	State   WorkState `json:"state"`
}

// TaskChanged is the payload of the task events.
type TaskChanged struct {
	TaskID  string    `json:"task_id"`
	GroupID GroupID   `json:"group_id,omitempty"`
	State   TaskState `json:"state"`
	Round   int       `json:"round,omitempty"`
}

// ReviewRequested is the payload of review.requested: memories of an agent that
// came back wait for its parent.
type ReviewRequested struct {
	GroupID    GroupID    `json:"group_id"` // the staging group; of a proposal, the one it is for
	AgentID    EntityID   `json:"agent_id"`
	Items      int        `json:"items"`
	Divergence Divergence `json:"divergence,omitempty"` // of a return
}

// ReviewClosed is the payload of review.closed: all of a staging group was decided,
// or its time is over.
type ReviewClosed struct {
	GroupID   GroupID  `json:"group_id"`
	AgentID   EntityID `json:"agent_id"`
	Approved  int      `json:"approved"`
	Rejected  int      `json:"rejected"`
	Withdrawn int      `json:"withdrawn"`
	Expired   int      `json:"expired"`
	Ref       string   `json:"ref,omitempty"` // the question of a role that was decided
}

// RoleMessage is the payload of role.message: a message lies there for the reader.
type RoleMessage struct {
	MessageID string   `json:"message_id"`
	From      EntityID `json:"from"`
	Kind      string   `json:"kind"` // request, response or notification
	Late      bool     `json:"late,omitempty"`
}

// RoleReported is the payload of role.reported: how work or a task ended that a role which
// reports to the reader delegated.
type RoleReported struct {
	AgentID EntityID `json:"agent_id"` // of the role
	Ref     string   `json:"ref"`      // the work item or the task
	Kind    string   `json:"kind"`     // work or task
	Outcome string   `json:"outcome"`  // done, failed or cancelled
}
