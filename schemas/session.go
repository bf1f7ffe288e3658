package schemas

// ArchivePrefix begins the ids of agents' archives; the agent's own id follows.
const ArchivePrefix = "agent-archive-"

// SessionRecord is the content of an L2 session item.
type SessionRecord struct {
	Type              string   `json:"type"` // "session"
	ID                string   `json:"id"`
	Date              string   `json:"date"` // UTC day
	Focus             string   `json:"focus"`
	Highlights        []string `json:"highlights"`
	Decisions         []string `json:"decisions"`
	EntitiesMentioned []string `json:"entities_mentioned"`
}
