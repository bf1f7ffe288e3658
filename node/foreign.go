package node

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/internal/keys"
	"cordelia/schemas"
)

// ForeignRecord is what a node tells another of one of its agents: all public.
type ForeignRecord struct {
	V            int               `json:"v"` // 1
	AgentID      schemas.EntityID  `json:"agent_id"`
	NodeID       schemas.EntityID  `json:"node_id"`
	AgentType    schemas.AgentType `json:"agent_type"`
	DisplayName  string            `json:"display_name"`
	PublicKey    []byte            `json:"public_key"`
	EncPublicKey []byte            `json:"enc_public_key"`
	EncBinding   []byte            `json:"enc_binding"`
}

// RecordOf gives the record of an agent of this node, for another node to adopt.
func (n *Node) RecordOf(ctx context.Context, person access.Principal, ref string) (ForeignRecord, error) {
	var out ForeignRecord
	op := access.Op{Tool: "agent_record", Effect: access.Read, Human: true}
	err := n.Auth.Do(ctx, person, op, func(g access.Grant) error {
		r, err := agents.Get(g, ref)
		if err != nil {
			return err
		}
		if r.Type == "" || r.NodeID != "" || r.Key.KeySeq != 1 {
			return schemas.Conflictf("%s has no record to give", r.Name).
				Expecting("an agent of this node with its first key").Try("cordelia agent list shows the agents")
		}
		out = ForeignRecord{V: 1, AgentID: r.ID, NodeID: n.ID, AgentType: r.Type, DisplayName: r.DisplayName,
			PublicKey: r.Key.PublicKey, EncPublicKey: r.Key.EncPublicKey, EncBinding: r.Key.Binding}
		return nil
	})
	return out, err
}

// Adoption is how to take in an agent of another node.
type Adoption struct {
	Record       ForeignRecord
	Name         string
	Groups       []string
	Capabilities json.RawMessage // nil = those of a worker
}

// maxDisplayName is how long a name for people may be, in bytes, as agent_register takes it.
const maxDisplayName = 200

// Adopt registers an agent of another node under the person who imports its
// record. It keeps its own key, proves itself over HTTP like any other, and
// starts at tier Low.
func (n *Node) Adopt(ctx context.Context, person access.Principal, a Adoption) (agents.Record, error) {
	r := a.Record
	key := keys.Recipient{PublicKey: r.PublicKey, EncPublicKey: r.EncPublicKey, Binding: r.EncBinding, KeySeq: 1}
	switch {
	case r.V != 1:
		return agents.Record{}, schemas.Invalidf("the record has version %d",
			r.V).Expecting("version 1, as cordelia agent record prints it")
	case r.NodeID == n.ID || !schemas.IsAgentID(string(r.NodeID)):
		return agents.Record{}, schemas.Invalidf("the record is not of another node").Try(
			"register agents of this node with: cordelia agent register")
	case schemas.AgentIDFromKey(r.PublicKey) != r.AgentID:
		return agents.Record{}, schemas.Invalidf("the record's id is not the hash of its key").Try(
			"ask for a fresh record: cordelia agent record NAME, on the agent's node")
	case !slices.Contains(schemas.AgentTypes(), r.AgentType):
		return agents.Record{}, schemas.Invalidf("there is no agent_type %q, which the record has",
			schemas.Shorten(string(r.AgentType), 64)).Expecting("one of %s", schemas.Joined(schemas.AgentTypes()))
	case r.DisplayName == "" || len(r.DisplayName) > maxDisplayName || strings.Contains(r.DisplayName, "\x00"):
		return agents.Record{}, schemas.Invalidf("the record's display_name has %d bytes, or holds the character NUL",
			len(r.DisplayName)).Expecting("1–%d bytes", maxDisplayName)
	}
	if err := key.Verify(); err != nil {
		return agents.Record{}, err
	}
	usual := UsualCapabilities(schemas.Custom, a.Groups) // the type is the word of another node
	declared, err := access.ParseOver(usual, a.Capabilities, n.tools)
	if err != nil {
		return agents.Record{}, err
	}
	var out agents.Record
	op := access.Op{Tool: "agent_adopt", Effect: access.Write, Human: true}
	err = n.Auth.Do(ctx, person, op, func(g access.Grant) error {
		out, err = n.Enroll(g, agents.Registration{Type: r.AgentType, DisplayName: r.DisplayName, Name: a.Name,
			Capabilities: declared, Grants: schemas.Grants{Groups: a.Groups}, Key: key, NodeID: string(r.NodeID)}, nil)
		return err
	})
	return out, err
}
