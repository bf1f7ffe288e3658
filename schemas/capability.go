package schemas

// Layer is a memory layer.
type Layer string

const (
	L1 Layer = "l1" // hot: one context per entity
	L2 Layer = "l2" // warm: items
)

// Visibility says who an L2 item is for.
type Visibility string

const (
	Private Visibility = "private" // its owner
	Group   Visibility = "group"   // the members of its group
	Public  Visibility = "public"  // all readers on the node; written by humans only
)

// MemoryScope is one half (read or write) of what an agent may touch. An absent
// list grants nothing.
type MemoryScope struct {
	Layers     []Layer      `json:"layers"`
	Groups     []string     `json:"groups"` // group patterns; '*' matches any run
	Visibility []Visibility `json:"visibility"`
}

// Capabilities is the permission boundary declared for an agent (seed §2).
// The order between two of them is in package access.
type Capabilities struct {
	MemoryRead         MemoryScope `json:"memory_read"`
	MemoryWrite        MemoryScope `json:"memory_write"`
	Tools              []string    `json:"tools"`                // exact tool names, no wildcards
	MaxParallelOps     int         `json:"max_parallel_ops"`     // 1–100
	TTLSeconds         int64       `json:"ttl_seconds"`          // 0 = no limit, the top of the order
	Autonomous         bool        `json:"autonomous"`           // may work without its parent's sign of life
	MaxDelegationDepth int         `json:"max_delegation_depth"` // 0 = may not register agents
}

// Limits of the capability fields.
const (
	MaxParallelOpsLimit = 100
	MaxTTLSeconds       = 315_360_000 // ten years; ×1e9 still fits an int64
	MaxTreeDepth        = 8
	DefaultTTLSeconds   = 3600 // for an omitted ttl, or the parent's remaining time if less
)
