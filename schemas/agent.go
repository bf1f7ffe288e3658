package schemas

// AgentType classifies an agent (seed §1.3); it picks the row of the scoping
// matrix.
type AgentType string

const (
	ClaudeCode  AgentType = "claude-code"
	SwarmWorker AgentType = "swarm-worker"
	Autonomous  AgentType = "autonomous"
	Custom      AgentType = "custom"
)

// AgentTypes lists every agent type in the seed's order.
func AgentTypes() []AgentType { return []AgentType{ClaudeCode, SwarmWorker, Autonomous, Custom} }

// Tier is accuracy trust cut into four (seed §5.4).
type Tier string

const (
	Untrusted Tier = "untrusted"
	Low       Tier = "low"
	Medium    Tier = "medium"
	High      Tier = "high"
)

// Tiers lists the tiers from least to most trusted.
func Tiers() []Tier { return []Tier{Untrusted, Low, Medium, High} }

// PrivateGrant is how much of the grantor's own private memory an agent may
// touch. It is never implied.
type PrivateGrant string

const (
	NoPrivate    PrivateGrant = "none"
	ReadPrivate  PrivateGrant = "read"
	WritePrivate PrivateGrant = "read_write"
)

// Grants are what the parent explicitly adds to the row the scoping matrix
// picks; always inside the capabilities.
type Grants struct {
	Groups      []string     `json:"groups,omitempty"`       // approved groups, exact ids
	BonusGroups []string     `json:"bonus_groups,omitempty"` // count only at tier High
	Private     PrivateGrant `json:"private,omitempty"`      // the parent's private L2
	AutoMerge   bool         `json:"auto_merge,omitempty"`   // what it brings back may be merged without review
	AcceptFrom  []EntityID   `json:"accept_from,omitempty"`  // who adds it to groups without asking its parent
}

// Agent is the public record of an agent (seed §1.2).
type Agent struct {
	AgentID        EntityID     `json:"agent_id"`
	ParentEntityID EntityID     `json:"parent_entity_id"`
	AgentType      AgentType    `json:"agent_type"`
	DisplayName    string       `json:"display_name"`
	Name           string       `json:"name"` // short, readable, unique under the parent
	CreatedAt      string       `json:"created_at"`
	PublicKey      string       `json:"public_key"` // raw 32 bytes, base64
	Status         AgentStatus  `json:"status"`
	ExpiresAt      string       `json:"expires_at,omitempty"` // earliest expiry along the chain
	Capabilities   Capabilities `json:"capabilities"`
	Grants         Grants       `json:"grants"`
}
