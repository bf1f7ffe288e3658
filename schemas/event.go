package schemas

// EventType names what happened; EventKinds says of each when it comes, and to whom.
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
	EventTaskAsks           EventType = "task.asks"
	EventTaskHeld           EventType = "task.held"
	EventTaskReplanned      EventType = "task.replanned"
	EventTaskCancelled      EventType = "task.cancelled"
	EventReviewRequested    EventType = "review.requested"
	EventReviewClosed       EventType = "review.closed"
	EventRoleMessage        EventType = "role.message"
	EventRoleReported       EventType = "role.reported"
)

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
	ItemID  ItemID  `json:"item_id"`            // what was written
	Type    string  `json:"type"`               // what kind of memory it is
	GroupID GroupID `json:"group_id,omitempty"` // where it may be read
}

// MemoryConflict is the payload of memory.conflict: two items of one group
// were found to contradict each other after they were written.
type MemoryConflict struct {
	ItemID  ItemID  `json:"item_id"`            // what was written
	WithID  ItemID  `json:"with_item_id"`       // what it contradicts
	GroupID GroupID `json:"group_id,omitempty"` // of both
}

// GroupMemberJoined is the payload of group.member_joined.
type GroupMemberJoined struct {
	GroupID  GroupID  `json:"group_id"`  // the group
	EntityID EntityID `json:"entity_id"` // the new member
	Role     string   `json:"role"`      // what it may do there
}

// GroupMemberLeft is the payload of group.member_left.
type GroupMemberLeft struct {
	GroupID  GroupID  `json:"group_id"`  // the group
	EntityID EntityID `json:"entity_id"` // the former member
}

// GroupInvitation is the payload of group.invitation: an inviter wants agents of the reader
// in its groups (pending: one event stands for all that wait), or what became of an invitation
// of the reader's. It names no group, because that name is the inviter's words.
type GroupInvitation struct {
	InvitationID string      `json:"invitation_id"` // the invitation
	EntityID     EntityID    `json:"entity_id"`     // who is invited
	InviterID    EntityID    `json:"inviter_id"`    // who invites
	State        ReviewState `json:"state"`         // what became of it
}

// SwarmTaskComplete is the payload of swarm.task_complete; Result is an enum,
// the full result is fetched by id.
type SwarmTaskComplete struct {
	SwarmID GroupID  `json:"swarm_id"` // the swarm
	AgentID EntityID `json:"agent_id"` // who had the item
	Result  string   `json:"result"`   // how the work ended
}

// TrustScoreChanged is the payload of trust.score_changed; scores are 0–1.
type TrustScoreChanged struct {
	AgentID  EntityID `json:"agent_id"`  // whose score it is
	OldScore float64  `json:"old_score"` // before
	NewScore float64  `json:"new_score"` // now
}

// AgentStatusChanged is the payload of agent.status_changed.
type AgentStatusChanged struct {
	AgentID   EntityID    `json:"agent_id"`             // the agent
	OldStatus AgentStatus `json:"old_status,omitempty"` // before; a new agent has none
	NewStatus AgentStatus `json:"new_status"`           // now
}

// WorkOffered is the payload of work.ready: work that can be claimed. One event
// stands for all that became ready at once.
type WorkOffered struct {
	TaskID  string  `json:"task_id"`            // of the first item
	GroupID GroupID `json:"group_id,omitempty"` // whose members may claim it
	Items   int     `json:"items"`              // how many became ready
}

// WorkChanged is the payload of the other work events.
type WorkChanged struct {
	WorkID  string    `json:"work_id"`            // the item
	TaskID  string    `json:"task_id"`            // the task it is of
	GroupID GroupID   `json:"group_id,omitempty"` // the group it is in
	AgentID EntityID  `json:"agent_id,omitempty"` // who holds it, or held it last
	State   WorkState `json:"state"`              // its state now
}

// TaskChanged is the payload of the task events.
type TaskChanged struct {
	TaskID  string    `json:"task_id"`            // the task
	GroupID GroupID   `json:"group_id,omitempty"` // the group it is in
	State   TaskState `json:"state"`              // its state now
	Round   int       `json:"round,omitempty"`    // the round it is in
}

// ReviewRequested is the payload of review.requested: memories of an agent that
// came back wait for its parent.
type ReviewRequested struct {
	GroupID    GroupID    `json:"group_id"`             // the staging group; of a proposal, the one it is for
	AgentID    EntityID   `json:"agent_id"`             // who asks
	Items      int        `json:"items"`                // how many memories or questions
	Divergence Divergence `json:"divergence,omitempty"` // of a return: how its sessions fit those here
	Ref        string     `json:"ref,omitempty"`        // the question of a role
	Cause      string     `json:"cause,omitempty"`      // the work of the role that its question follows from
}

// ReviewClosed is the payload of review.closed: all of a staging group was decided,
// or its time is over.
type ReviewClosed struct {
	GroupID   GroupID  `json:"group_id"`      // as in review.requested
	AgentID   EntityID `json:"agent_id"`      // who asked
	Approved  int      `json:"approved"`      // how many were approved
	Rejected  int      `json:"rejected"`      // how many were rejected
	Withdrawn int      `json:"withdrawn"`     // how many were taken back
	Expired   int      `json:"expired"`       // how many were not decided in time
	Ref       string   `json:"ref,omitempty"` // the question of a role that was decided
}

// RoleMessage is the payload of role.message: a message lies there for the reader.
type RoleMessage struct {
	MessageID string   `json:"message_id"`      // the message
	From      EntityID `json:"from"`            // who sent it
	Kind      string   `json:"kind"`            // what it is for
	Late      bool     `json:"late,omitempty"`  // an answer after the deadline
	Cause     string   `json:"cause,omitempty"` // the work of the role that it follows from
}

// RoleReported is the payload of role.reported: how work or a task ended that a role which
// reports to the reader delegated.
type RoleReported struct {
	AgentID EntityID `json:"agent_id"` // the role
	Ref     string   `json:"ref"`      // the work item or the task
	Kind    string   `json:"kind"`     // which of the two
	Outcome string   `json:"outcome"`  // how it ended
}
