package review

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	"cordelia/memory"
	"cordelia/memory/canonical"
	"cordelia/memory/hot"
	"cordelia/schemas"
)

// Limits of one return.
const (
	MaxMemories = 200
	MaxBytes    = 512 << 10 // of all memories as canonical JSON
	MaxOpen     = 3         // returns of one agent that wait
	maxSessions = 1 << 40
)

// Memory is an item an agent brings back for a group.
type Memory struct {
	Type       memory.ItemType `json:"type" jsonschema:"of item"`
	Data       json.RawMessage `json:"data" jsonschema:"as memory_write_warm takes it"`
	Group      schemas.GroupID `json:"group" jsonschema:"for which"`
	Subject    string          `json:"subject,omitempty" jsonschema:"with key"`
	Key        string          `json:"key,omitempty" jsonschema:"property"`
	ValidFrom  string          `json:"valid_from,omitempty" jsonschema:"time"`
	ValidTo    string          `json:"valid_to,omitempty" jsonschema:"time"`
	Confidence *float64        `json:"confidence,omitempty" jsonschema:"0-1"`
	Source     memory.Source   `json:"source,omitempty" enum:"agent,tool,external"`
}

// Claim is what a returning agent says: where its chain stands and what is new.
type Claim struct {
	Action       string // submit or challenge: the call it comes with
	SessionCount int64
	ChainHash    string // hex
	Memories     []Memory
	Tainted      bool // this process knows the agent's session to have read what comes from outside
}

// Batch is a checked Claim, with everything done that needs no lock.
type Batch struct {
	sessions int64
	chain    hot.Hash
	digest   [sha256.Size]byte // of the memories
	drafts   []*memory.Draft
	groups   []schemas.GroupID // of each draft
}

// Prepare checks c and reports every violation at once. caller is whose return it
// is; sign signs the items.
func Prepare(c Claim, caller schemas.EntityID, sign memory.Sign) (*Batch, error) {
	b := &Batch{sessions: c.SessionCount}
	var bad violations
	if c.SessionCount < 0 || c.SessionCount > maxSessions {
		bad.add("/session_count", "must be from 0 to %d", int64(maxSessions))
	}
	var err error
	if b.chain, err = hot.ParseHash(c.ChainHash); err != nil {
		bad.add("/chain_hash", "must be 64 hex digits, or 12 or more of those that memory_session shows")
	}
	if b.digest, err = digestOf(c.Memories); err != nil {
		return nil, err
	}
	for i, m := range c.Memories {
		d, err := m.prepare(fmt.Sprintf("/memories/%d", i), &bad, c.Tainted, caller, sign)
		if err != nil {
			return nil, err
		}
		b.drafts, b.groups = append(b.drafts, d), append(b.groups, m.Group)
	}
	if len(bad) > 0 {
		return nil, schemas.Invalidf("nothing was handed in").Try("correct what is listed and %s again",
			schemas.Do("reintegrate", "action", c.Action)).With(bad...)
	}
	return b, nil
}

// violations collects what is wrong with a return.
type violations []schemas.Violation

func (v *violations) add(path, format string, args ...any) {
	*v = append(*v, schemas.Violation{Path: path, Msg: fmt.Sprintf(format, args...)})
}

// digestOf is the hash that the agent signs: of all memories as canonical JSON.
func digestOf(list []Memory) (digest [sha256.Size]byte, err error) {
	if len(list) > MaxMemories {
		return digest, schemas.Invalidf("%d memories are handed in", len(list)).Expecting("at most %d", MaxMemories).
			Try("hand in the rest with a second return")
	}
	if list == nil {
		list = []Memory{}
	}
	raw, err := json.Marshal(list)
	if err == nil {
		raw, err = canonical.JSON(raw)
	}
	if err != nil {
		return digest, schemas.Invalidf("the memories have no canonical form").
			Expecting("JSON whose numbers and texts can be written in one way").
			Try("write them as plain JSON and hand them in again").
			Because(err)
	}
	if len(raw) > MaxBytes {
		return digest, schemas.Invalidf("the memories have %d bytes", len(raw)).Expecting("at most %d", MaxBytes).
			Try("hand in the rest with a second return")
	}
	return sha256.Sum256(raw), nil
}

// prepare makes the draft of a memory, and adds what is wrong with it, at is its path in the call.
func (m Memory) prepare(at string, bad *violations, tainted bool, caller schemas.EntityID,
	sign memory.Sign) (*memory.Draft, error) {
	if m.Group == "" {
		bad.add(at+"/group", "is missing: write what is yours alone with memory_write_warm")
	}
	d, err := memory.Prepare(memory.Write{Type: m.Type, Data: m.Data, Visibility: schemas.Group, Group: m.Group,
		Subject: m.Subject, Key: m.Key, ValidFrom: m.ValidFrom, ValidTo: m.ValidTo, Confidence: m.Confidence,
		Source: m.Source, Tainted: tainted}, caller, sign)
	if e, ok := errors.AsType[*schemas.Error](err); ok && len(e.Violations) > 0 {
		for _, v := range e.Violations {
			bad.add(at+v.Path, "%s", v.Msg)
		}
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if m.Source == memory.FromUser {
		bad.add(at+"/source", "must be agent, tool or external: the node did not hear the user")
	}
	if d.Hides() {
		bad.add(at+"/confidence", "below 0.3 is for your own memory until it was validated")
	}
	if d.Validated != nil && *d.Validated {
		bad.add(at+"/data/validated", "is for the reviewer to say")
	}
	return d, nil
}

// Statement is what the agent signs, for a challenge of this node.
func (b *Batch) Statement(c schemas.AuthChallenge) schemas.Reintegration {
	return schemas.Reintegration{NodeID: c.NodeID, AgentID: c.AgentID, KeySeq: c.KeySeq, Purpose: c.Purpose,
		Nonce:            c.Nonce,
		ExpiresUnixMicro: c.ExpiresUnixMicro, SessionCount: uint64(b.sessions), ChainHash: b.chain, Memories: b.digest}
}
