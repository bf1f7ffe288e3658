package ops

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/events"
	"cordelia/internal/keys"
	"cordelia/node"
	"cordelia/schemas"
)

type agentRegisterIn struct {
	ParentEntityID string                `json:"parent_entity_id,omitempty" jsonschema:"you; leave it out"`
	AgentType      schemas.AgentType     `json:"agent_type" enum:"claude-code,swarm-worker,autonomous,custom"`
	DisplayName    string                `json:"display_name" jsonschema:"for people"`
	Name           string                `json:"name,omitempty" jsonschema:"short; default from display_name"`
	Capabilities   json.RawMessage       `json:"capabilities,omitempty" like:"capabilities" jsonschema:"memory_read and memory_write {layers, groups, visibility}, tools (+name and -name change the usual ones), max_parallel_ops, ttl_seconds, autonomous, max_delegation_depth; omitted: own L1, the groups given, memory, event and work tools, 1 h"`
	Groups         []string              `json:"groups,omitempty" jsonschema:"groups it joins"`
	BonusGroups    []string              `json:"bonus_groups,omitempty" jsonschema:"groups at tier high"`
	Private        schemas.PrivateGrant  `json:"private,omitempty" enum:"none,read,read_write" jsonschema:"what it may do with your private items"`
	Subscriptions  []events.Subscription `json:"subscriptions,omitempty" text:"event" jsonschema:"events it gets; default all it may read"`
	OwnKey         *ownKey               `json:"own_key,omitempty" jsonschema:"a key it made itself, base64: see docs"`
}

// ownKey is a key the agent made itself; base64 throughout.
type ownKey struct {
	PublicKey    string `json:"public_key" jsonschema:"Ed25519"`
	EncPublicKey string `json:"enc_public_key" jsonschema:"X25519"`
	EncBinding   string `json:"enc_binding" jsonschema:"signature over both"`
	Nonce        string `json:"nonce" jsonschema:"32 random bytes"`
	Proof        string `json:"proof" jsonschema:"signature of the registration"`
}

// AgentRegisterOut is the answer of agent_register.
type AgentRegisterOut struct {
	AgentID             schemas.EntityID     `json:"agent_id"`
	Name                string               `json:"name"`
	PublicKey           string               `json:"public_key"`
	PrivateKeyEncrypted string               `json:"private_key_encrypted,omitempty"` // sealed to the parent
	Status              schemas.AgentStatus  `json:"status"`
	ExpiresAt           string               `json:"effective_expires_at,omitempty"`
	Capabilities        schemas.Capabilities `json:"capabilities"`
	KeyFile             bool                 `json:"key_on_this_machine"` // "cordelia mcp --as NAME" works here
	Note                schemas.Hint         `json:"note,omitempty"`      // that it got another name
	Next                schemas.Hint         `json:"next"`
}

// Text says who was registered and how it is run.
func (o AgentRegisterOut) Text() string {
	return lines(words(", ", fmt.Sprintf("registered %s (%.12s)", o.Name, o.AgentID),
		when(o.Status != schemas.Registered, "%s", o.Status),
		when(o.ExpiresAt != "", "until %s", minute(o.ExpiresAt))), o.Note.String(),
		schemas.Count(len(o.Capabilities.Tools), "tool", "tools")+" (agent_capabilities shows its rights). "+o.Next.String())
}

var agentRegister = Define(Spec{
	Name: "agent_register", Title: "Register an agent", Toolset: Agents, Effect: access.Write,
	SearchHint: "create spawn worker agent identity", AlwaysLoad: true,
	Description: "Register an agent under you, with its own identity and no more rights than yours. Its key " +
		"stays on this machine. Its own process then acts as it: cordelia mcp --as NAME.",
}, func(ctx context.Context, c *Call, in agentRegisterIn) (AgentRegisterOut, error) {
	reg, identity, err := newRegistration(c, in)
	if err != nil {
		return AgentRegisterOut{}, err
	}
	if identity != nil {
		defer identity.Erase()
	}
	out, err := Transact(ctx, c, func(g access.Grant) (AgentRegisterOut, error) {
		if err := parentIsActor(g, in.ParentEntityID); err != nil {
			return AgentRegisterOut{}, err
		}
		reg := reg.insideParent(g)
		if reg.OwnProof != nil {
			if err := reg.OwnProof(g.Actor()); err != nil {
				return AgentRegisterOut{}, err
			}
		}
		r, err := c.Node.Enroll(g, reg.Registration, in.Subscriptions)
		if err != nil {
			return AgentRegisterOut{}, err
		}
		a, err := r.Agent(g)
		if err != nil {
			return AgentRegisterOut{}, err
		}
		out := AgentRegisterOut{AgentID: r.ID, Name: r.Name, PublicKey: a.PublicKey, Status: r.Status,
			ExpiresAt: a.ExpiresAt, Capabilities: r.Capabilities}
		if r.Namesake != "" {
			out.Note = schemas.Hintf("You have another agent %s: %s. This one is %s.", r.Namesake,
				schemas.Tool("agent_list", "agent", r.Namesake), r.Name)
		}
		if r.SealedKey != nil {
			out.PrivateKeyEncrypted = base64.StdEncoding.EncodeToString(r.SealedKey)
		}
		return out, nil
	})
	if err != nil {
		return out, err
	}
	out.Next = schemas.Hintf("It keeps its own key: it proves itself at POST /auth/challenge.")
	if identity == nil {
		return out, nil
	}
	ref := c.Node.RefOf(ctx, out.AgentID)
	if out.Next, out.KeyFile = c.keepKey(ctx, *identity, out.AgentID, ref); out.KeyFile {
		act := schemas.Hintf("as %q", ref)
		if slices.Contains(out.Capabilities.Tools, "task_claim") {
			act = schemas.Hintf("%s", schemas.Tool("task_claim", "as", ref))
		}
		if ref != out.Name {
			out.Next = append(out.Next, schemas.Hintf(" (by the name %s another agent may be meant)", out.Name)...)
		}
		out.Next = slices.Concat(out.Next, schemas.Hintf("; or act as it: "), act, schemas.Hintf("."))
	}
	return out, nil
})

// registering is a registration with the proof a key brought along needs.
type registering struct {
	agents.Registration
	OwnProof   func(parent schemas.EntityID) error
	UsualTools bool // the parent named no tools
}

// insideParent drops from the usual tools those that the parent has not itself. Tools
// that the parent named stay, to be refused.
func (r registering) insideParent(g access.Grant) registering {
	if !r.UsualTools {
		return r
	}
	chain := g.Chain()
	r.Capabilities.Tools = slices.DeleteFunc(slices.Clone(r.Capabilities.Tools), func(tool string) bool {
		return slices.ContainsFunc(access.Evaluate(chain, access.Operation{Tool: tool}, g.Tx().Micros()),
			func(d access.Denial) bool { return d.Reason == access.DeniedTool })
	})
	return r
}

// newRegistration makes the keys and reads the capabilities, before any lock.
func newRegistration(c *Call, in agentRegisterIn) (registering, *keys.Identity, error) {
	var r registering
	declared, err := access.ParseOver(node.UsualCapabilities(in.AgentType, in.Groups), in.Capabilities, c.Node.Tools())
	if err != nil {
		return r, nil, err
	}
	var named struct {
		Tools *json.RawMessage `json:"tools"`
	}
	if len(in.Capabilities) > 0 {
		if err := json.Unmarshal(in.Capabilities, &named); err != nil {
			return r, nil, fmt.Errorf("read capabilities: %w", err)
		}
	}
	r.UsualTools = named.Tools == nil
	r.Registration = agents.Registration{
		Type: in.AgentType, DisplayName: in.DisplayName, Name: in.Name, Capabilities: declared,
		Grants: schemas.Grants{Groups: in.Groups, BonusGroups: in.BonusGroups, Private: in.Private},
	}
	if len(in.DisplayName) == 0 || len(in.DisplayName) > 200 {
		return r, nil, schemas.Invalidf("display_name has %d bytes",
			len(in.DisplayName)).Expecting("1–200 bytes").Try(
			"%s again with a display_name of that length", schemas.Do("agent_register"))
	}
	if in.OwnKey != nil {
		r.Key, r.OwnProof, err = in.OwnKey.decode()
		return r, nil, err
	}
	identity, err := keys.NewIdentity(rand.Reader)
	if err != nil {
		return r, nil, err
	}
	r.Key = identity.Recipient(1)
	r.Seal = func(parent keys.Recipient) ([]byte, error) { return keys.Seal(identity, parent) }
	return r, &identity, nil
}

func (k ownKey) decode() (keys.Recipient, func(schemas.EntityID) error, error) {
	var raw [5][]byte
	for i, f := range []struct{ name, value string }{
		{"public_key", k.PublicKey}, {"enc_public_key", k.EncPublicKey}, {"enc_binding", k.EncBinding},
		{"nonce", k.Nonce}, {"proof", k.Proof}} {
		b, err := base64.StdEncoding.DecodeString(f.value)
		if err != nil || i == 3 && len(b) != 32 {
			return keys.Recipient{}, nil, schemas.Invalidf("own_key.%s is not valid", f.name).
				Expecting("base64; the nonce is 32 bytes").Try("leave own_key out to let the node make the key")
		}
		raw[i] = b
	}
	r := keys.Recipient{PublicKey: raw[0], EncPublicKey: raw[1], Binding: raw[2], KeySeq: 1}
	if err := r.Verify(); err != nil {
		return r, nil, err
	}
	pop := schemas.RegisterPoP{PublicKey: raw[0], Nonce: [32]byte(raw[3])}
	return r, func(parent schemas.EntityID) error {
		pop.ParentID = parent
		return keys.Verify(raw[0], pop.SigningBytes(), raw[4])
	}, nil
}

// parentIsActor refuses a registration under an entity other than the caller: identity never
// comes from an argument.
func parentIsActor(g access.Grant, parent string) error {
	if parent == "" || parent == string(g.Actor()) {
		return nil
	}
	return schemas.Deniedf("an agent registers children under itself, and you are %s", g.NameOf(g.Actor())).
		Expecting("parent_entity_id left out").
		Try("leave it out, or pass as to act as an agent below you; a person registers under themselves with: " +
			"cordelia agent register")
}

// keepKey writes the key file of an agent that this call registered, or that an
// earlier call with the same idempotency key did, and gives the next step. The
// registration stands even if the file cannot be written: the parent's key opens the
// sealed key, and a repetition of the call writes the file.
func (c *Call) keepKey(
	ctx context.Context, identity keys.Identity, id schemas.EntityID, ref string,
) (next schemas.Hint, kept bool) {
	var err error
	if identity.ID() == id {
		err = c.Node.WriteAgentKey(identity)
	} else { // an earlier call registered the agent, perhaps a moment ago or in a process that was killed
		err = c.Node.RestoreAgentKey(ctx, id, c.Caller.Entity, c.Caller.key)
	}
	if err != nil {
		slog.Warn("the key file of a new agent was not written on this machine", "agent", id, "err", err)
		again := ""
		if c.key != "" {
			again = "repeat the call with the same idempotency_key, or "
		}
		return schemas.Hintf("Its key could not be stored on this machine; %srun: cordelia key unwrap %s", again, ref),
			false
	}
	return schemas.Hintf("Run it as its own process: cordelia mcp --as %s", ref), true
}
