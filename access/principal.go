package access

import (
	"cordelia/schemas"
)

// Method says how a principal proved who it is.
type Method string

const (
	ByKey   Method = "key"   // this process holds the agent's key
	ByToken Method = "token" // a bearer token, for this one request
	ByHuman Method = "human" // the human's key, at the command line
	ByPages Method = "pages" // a session of the pages, which the human's key opened
	ByNode  Method = "node"  // the node's own routine
)

// Reads reports whether a person reads the answers and decides, rather than a program that
// holds what proves who they are.
func (p Principal) Reads() bool { return p.Method == ByHuman || p.Method == ByPages }

// Principal is a proven identity. It comes from a process's key or a request's
// token, never from a tool argument, a session id or a handle.
type Principal struct {
	Entity    schemas.EntityID
	Method    Method
	KeySeq    int    // generation of the key that was proven; a rotation ends it
	TokenHash []byte // for ByToken and ByPages
	Session   string // the client's session, for provenance only
	// Within is the agent in whose session Entity works as a sub-agent, "" if in its own.
	Within schemas.EntityID
}

// Effect says what an operation does to the state.
type Effect string

const (
	Read    Effect = "read"
	Write   Effect = "write"
	Destroy Effect = "destroy" // takes something away
)

// Op is an operation that a caller wants to begin.
type Op struct {
	Tool   string // the tool the caller's capabilities must name
	Effect Effect
	As     string // a descendant to act as: name, id or id prefix; "" = oneself
	// InPerson refuses As: keys, approvals and trust assessments are not delegated.
	InPerson bool
	// Human refuses agents: what only a person may do.
	Human bool
	// Concurrent: its transactions may run beside those of other agents; see store.WriteConcurrent.
	Concurrent bool
}
