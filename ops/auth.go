package ops

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/internal/keys"
	"cordelia/memory"
	"cordelia/schemas"
)

// httpAudience is whom tokens of the HTTP endpoint are for.
const httpAudience = "http"

// Challenge makes a challenge for the entity to sign; anyone gets one, known or
// not.
func (n *Node) Challenge(ctx context.Context, id schemas.EntityID) (schemas.AuthChallenge, error) {
	var c schemas.AuthChallenge
	err := n.look(ctx, "auth_challenge", func(g access.Grant) error {
		c = agents.NewChallenge(g, n.key.Vouch, string(n.ID), string(id), httpAudience, schemas.PurposeSession)
		return nil
	})
	return c, err
}

// Token turns a signed challenge into a bearer token. The signature is checked
// before the transaction that uses the challenge up.
func (n *Node) Token(ctx context.Context, c schemas.AuthChallenge, signature []byte) (agents.Issued, error) {
	c.Audience, c.NodeID, c.Purpose = httpAudience, string(n.ID), schemas.PurposeSession
	if err := agents.CheckChallenge(c, n.key.Vouch); err != nil {
		return agents.Issued{}, err
	}
	var key keys.Recipient
	if err := n.look(ctx, "auth_token", func(g access.Grant) (err error) {
		key, err = agents.KeyOf(g, c.AgentID)
		return err
	}); err != nil {
		return agents.Issued{}, err
	}
	msg := c.SigningBytes()
	if err := keys.Verify(key.PublicKey, msg, signature); err != nil {
		return agents.Issued{}, agents.BadProof(err)
	}
	token, err := keys.NewToken(rand.Reader, msg, signature)
	if err != nil {
		return agents.Issued{}, err
	}
	var out agents.Issued
	err = n.routine(ctx, "auth_token", func(g access.Grant) (err error) {
		if out, err = agents.Issue(g, c, key, token); err != nil {
			return err
		}
		hash := token.Hash()
		return memory.CarryTaint(g, access.Principal{Entity: c.AgentID, Session: bearerSession(hash[:])})
	})
	return out, err
}

// OwnToken makes a token for the agent whose key this process holds.
func (n *Node) OwnToken(ctx context.Context, f keys.File) (agents.Issued, error) {
	// Whoever holds the key may be told what a stranger may not.
	if err := n.look(ctx, "auth_own", func(g access.Grant) error {
		r, err := agents.Get(g, string(f.EntityID))
		if err == nil && r.Status != schemas.Active && r.Status != schemas.Registered {
			return schemas.Deniedf("%s is %s", r.Name, r.Status).
				Try("its parent can lift that: cordelia agent resume %s, or: cordelia agent reactivate %s", r.Name,
					r.Name)
		}
		return err
	}); err != nil {
		return agents.Issued{}, err
	}
	c, err := n.Challenge(ctx, f.EntityID)
	if err != nil {
		return agents.Issued{}, err
	}
	return n.Token(ctx, c, f.Identity.Sign(c.SigningBytes()))
}

// Authenticate gives the caller a bearer token stands for.
func (n *Node) Authenticate(ctx context.Context, bearer string) (Caller, error) {
	token, err := keys.ParseToken(bearer)
	if err != nil {
		return Caller{}, err
	}
	var c Caller
	err = n.look(ctx, "auth_bearer", func(g access.Grant) (err error) {
		c.Principal, err = agents.FindToken(g, token, httpAudience)
		return err
	})
	if err != nil {
		return Caller{}, err
	}
	c.Session = bearerSession(c.TokenHash)
	return c, nil
}

// bearerSession names the session that a token is.
func bearerSession(hash []byte) string { return fmt.Sprintf("%s%x", memory.BearerSession, hash[:6]) }

// TopOf gives the agent directly under a person that id is or is below; a person is
// its own top.
func (n *Node) TopOf(ctx context.Context, id schemas.EntityID) (top schemas.EntityID, err error) {
	err = n.look(ctx, "auth_top", func(g access.Grant) (err error) {
		top, err = access.TopOf(g.Tx(), id)
		return err
	})
	return top, err
}

// Visible lists the operations of the toolsets that the caller's capabilities,
// along its whole chain, name; no toolsets means all.
func (n *Node) Visible(ctx context.Context, caller Caller, toolsets []Toolset) (map[string]bool, error) {
	allowed, err := n.Auth.Tools(ctx, caller.Principal, Names())
	if err != nil {
		return nil, err
	}
	visible := map[string]bool{}
	for _, o := range Catalogue() {
		if o.among(toolsets) && allowed[o.Name] {
			visible[o.Name] = true
		}
	}
	return visible, nil
}

// Had reports whether a tool was visible to the caller when its rights were last
// looked up in this process. What it says no to may be visible by now.
func (n *Node) Had(caller Caller, toolsets []Toolset, tool string) bool {
	o := Find(tool)
	return o != nil && o.among(toolsets) && n.Auth.Had(caller.Principal, tool)
}

// among reports whether o is in one of the toolsets; nil is all of them.
func (o *Operation) among(toolsets []Toolset) bool {
	return len(toolsets) == 0 || slices.Contains(toolsets, o.Toolset)
}

// Standing reports whether a caller's identity still stands, whatever the age of
// its token.
func (n *Node) Standing(ctx context.Context, c Caller) (bool, error) {
	return n.Auth.Standing(ctx, c.Principal)
}

// Epoch is the number of the current set of rights.
func (n *Node) Epoch(ctx context.Context) (epoch int64, err error) {
	err = n.look(ctx, "epoch", func(g access.Grant) error {
		epoch, err = access.Epoch(g.Tx())
		return err
	})
	return epoch, err
}
