package schemas

import (
	"slices"
	"sync"
)

// EventKind is what there is to say of a type of event; docs/events.md is made of it.
type EventKind struct {
	Type    EventType
	When    string // what happened
	Readers string // who gets it
	Payload any    // its struct, empty
}

// Who gets events of several types.
const (
	readersGroup        = "the group"
	readersMember       = "the group; the member"
	readersWork         = "the submitter; the group"
	readersTask         = "the submitter; the group, unless its members see only their own part"
	readersOnlyAsked    = "the submitter"
	readersAgentsParent = "the agent; its parent; coordinators of the swarms it is in"
)

// EventKinds lists every type of event: the seed's six (§9.1) and the project's.
func EventKinds() []EventKind {
	return []EventKind{
		{EventMemoryWritten, "a memory was written into a group, shared with it, or changed there", readersGroup,
			MemoryWritten{}},
		{EventMemoryConflict, "what was written contradicts another memory of the group", readersGroup,
			MemoryConflict{}},
		{EventGroupMemberJoined, "an agent became a member", readersMember + "; of a new swarm, the member alone",
			GroupMemberJoined{}},
		{EventGroupMemberLeft, "a member left or was removed", readersMember, GroupMemberLeft{}},
		{EventGroupInvitation, "an agent is invited into a group, or an invitation was decided",
			"who decides: the agent's parent and the person above it; of a decision, the inviter", GroupInvitation{}},
		{EventSwarmTaskComplete, "work of a swarm is done or failed", "the swarm's group", SwarmTaskComplete{}},
		{EventSwarmWorkerLost, "a worker of a swarm lost the item it held", "the swarm's group", SwarmWorkerLost{}},
		{EventSwarmDisbanded, "a swarm ended", "the swarm's group", SwarmDisbanded{}},
		{EventTrustScoreChanged, "the accuracy that an observer counts for an agent changed",
			"the agent; the observer", TrustScoreChanged{}},
		{EventAgentStatusChanged, "an agent was registered, or its status changed",
			readersAgentsParent + "; of a registration, its parent alone", AgentStatusChanged{}},
		{EventWorkReady, "work can be claimed; one event for all that became ready at once",
			"whom the work is assigned to, else the group", WorkOffered{}},
		{EventWorkDone, "an item is done", readersWork + " (of a swarm: swarm.task_complete)", WorkChanged{}},
		{EventWorkFailed, "an item failed, or its deadline passed",
			readersWork + " (of a swarm, once it had a holder: swarm.task_complete)", WorkChanged{}},
		{EventWorkHeld, "an item was reported done, and a person looks at it first", readersWork, WorkChanged{}},
		{EventWorkBlocked, "an item needs a person, who tries it again or cancels it", readersWork, WorkChanged{}},
		{EventWorkCancelled, "an item was cancelled", readersWork + "; its holder", WorkChanged{}},
		{EventTaskAccepted, "a task's result was accepted", readersTask, TaskChanged{}},
		{EventTaskAbandoned, "a task was given up", readersTask, TaskChanged{}},
		{EventTaskAsks, "a task waits for answers of its submitter", readersOnlyAsked, TaskChanged{}},
		{EventTaskHeld, "a task's result waits for a person", "the submitter; the person above it", TaskChanged{}},
		{EventTaskReplanned, "a round failed, and a new plan is made", readersOnlyAsked, TaskChanged{}},
		{EventTaskCancelled, "a task was cancelled", readersTask, TaskChanged{}},
		{EventReviewRequested, "memories of an agent, or a question of a role, wait for a decision",
			"of memories, the agent's parent and the person above it; of a question, whom the role asks",
			ReviewRequested{}},
		{EventReviewClosed, "what waited was decided, or its time is over",
			"who asked; of an agent's return that was not decided in time, also who was asked", ReviewClosed{}},
		{EventRoleMessage, "a message to a role was kept", "whom it is for", RoleMessage{}},
		{EventRoleReported, "what a role delegated has ended, and trust asks for a report",
			"whom the role reports to", RoleReported{}},
	}
}

// eventTypes is the list of types made once: every event is checked against it.
var eventTypes = sync.OnceValue(func() (list []EventType) {
	for _, k := range EventKinds() {
		list = append(list, k.Type)
	}
	return list
})

// EventTypes lists every event type, in the order of EventKinds.
func EventTypes() []EventType { return slices.Clone(eventTypes()) }

// Known reports whether there is an event of type t.
func (t EventType) Known() bool { return slices.Contains(eventTypes(), t) }
