package schemas

import "encoding/json"

// Strategy says how the agents of a swarm work together (seed §4.3).
type Strategy string

const (
	Broadcast    Strategy = "broadcast"    // every member sees every write at once
	InPipeline   Strategy = "pipeline"     // slots are stages; each builds on what the one before it got accepted
	Hierarchical Strategy = "hierarchical" // a coordinator assigns, and the results go to it
)

// Strategies lists every strategy.
func Strategies() []Strategy { return []Strategy{Broadcast, InPipeline, Hierarchical} }

// MaxSwarmAgents is how many agents a swarm may have at a time.
const MaxSwarmAgents = 64

// SwarmManifest describes a swarm to be made (seed §4.2).
type SwarmManifest struct {
	SwarmID            GroupID       `json:"swarm_id,omitempty"` // "" = made from the goal and the day
	GroupID            GroupID       `json:"group_id,omitempty"` // the same, if given
	Goal               string        `json:"goal"`
	Strategy           Strategy      `json:"strategy"`
	CoordinatorSlot    string        `json:"coordinator_slot,omitempty"`     // a slot of one agent, or
	CoordinatorAgentID string        `json:"coordinator_agent_id,omitempty"` // an agent there is
	Agents             []SwarmSlot   `json:"agents"`
	Culture            *SwarmCulture `json:"culture,omitempty"`
}

// SwarmSlot is a role in a swarm, and how many agents have it.
type SwarmSlot struct {
	Slot         string          `json:"slot"`
	AgentType    AgentType       `json:"agent_type,omitempty"`   // swarm-worker
	Capabilities json.RawMessage `json:"capabilities,omitempty"` // what the strategy needs
	Count        int             `json:"count,omitempty"`        // 1
	Work         []string        `json:"work,omitempty"`         // intents of work items to begin with
}

// SwarmCulture is how a swarm goes about its memory (seed §4.5); what is absent
// is chatty, push, permissive and a day.
type SwarmCulture struct {
	BroadcastEagerness string `json:"broadcast_eagerness,omitempty"`
	TTLDefault         *int64 `json:"ttl_default,omitempty"` // seconds; 0 = none
	NotificationPolicy string `json:"notification_policy,omitempty"`
	DeparturePolicy    string `json:"departure_policy,omitempty"`
}

// LossReason says why a worker lost what it held.
type LossReason string

const (
	LossExpired LossReason = "expired" // no sign of life for the length of its lease
	LossRevoked LossReason = "revoked" // it ended, or lost the right to it
)

// SwarmWorkerLost is the payload of swarm.worker_lost.
type SwarmWorkerLost struct {
	SwarmID GroupID    `json:"swarm_id"` // the swarm
	GroupID GroupID    `json:"group_id"` // where the item is
	AgentID EntityID   `json:"agent_id"` // who lost it
	WorkID  string     `json:"work_id"`  // the item
	Reason  LossReason `json:"reason"`   // why
	State   WorkState  `json:"state"`    // the item's state now
}

// SwarmDisbanded is the payload of swarm.disbanded.
type SwarmDisbanded struct {
	SwarmID GroupID `json:"swarm_id"` // the swarm
}
