package node

import (
	"context"
	"crypto/rand"
	"fmt"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/internal/keys"
	"cordelia/memory"
	"cordelia/schemas"
)

// httpAudience is whom tokens of the HTTP endpoint are for.
const httpAudience = "http"

// NewChallenge makes a challenge of this node's, for id to answer to audience.
func (n *Node) NewChallenge(g access.Grant, id schemas.EntityID, audience string,
	purpose schemas.AuthPurpose) schemas.AuthChallenge {
	return agents.NewChallenge(g, n.key.Vouch, string(n.ID), string(id), audience, purpose)
}

// CheckChallenge refuses a challenge that this node did not make, or that is over.
func (n *Node) CheckChallenge(c schemas.AuthChallenge) error {
	return agents.CheckChallenge(c, n.key.Vouch)
}

// Challenge makes a challenge for the entity to sign, also for an unknown entity.
func (n *Node) Challenge(ctx context.Context, id schemas.EntityID) (schemas.AuthChallenge, error) {
	var c schemas.AuthChallenge
	err := n.Look(ctx, "auth_challenge", func(g access.Grant) error {
		c = n.NewChallenge(g, id, httpAudience, schemas.PurposeSession)
		return nil
	})
	return c, err
}

// Token turns a signed challenge into a bearer token. The signature is checked
// before the transaction that uses the challenge up.
func (n *Node) Token(ctx context.Context, c schemas.AuthChallenge, signature []byte) (agents.Issued, error) {
	c.Audience, c.NodeID, c.Purpose = httpAudience, string(n.ID), schemas.PurposeSession
	if err := n.CheckChallenge(c); err != nil {
		return agents.Issued{}, err
	}
	var key keys.Recipient
	if err := n.Look(ctx, "auth_token", func(g access.Grant) (err error) {
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
	err = n.Routine(ctx, "auth_token", func(g access.Grant) (err error) {
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
	// The holder of the key may learn what a stranger may not.
	if err := n.Look(ctx, "auth_own", func(g access.Grant) error {
		r, err := agents.Get(g, string(f.EntityID))
		if err == nil && r.Status != schemas.Active && r.Status != schemas.Registered {
			refused := schemas.Deniedf("%s is %s", r.Name, r.Status)
			if back, ok := schemas.BackToActive(r.Status); ok {
				return refused.Try("its parent can %s it: cordelia agent %s %s", back, back, access.RefOf(g.Tx(), r.ID))
			}
			return refused.Try("its parent can register a new one with %s", schemas.Tool("agent_register"))
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

// Authenticate gives the principal a bearer token stands for.
func (n *Node) Authenticate(ctx context.Context, bearer string) (p access.Principal, err error) {
	token, err := keys.ParseToken(bearer)
	if err != nil {
		return p, err
	}
	err = n.Look(ctx, "auth_bearer", func(g access.Grant) (err error) {
		p, err = agents.FindToken(g, token, httpAudience)
		return err
	})
	if err != nil {
		return access.Principal{}, err
	}
	p.Session = bearerSession(p.TokenHash)
	return p, nil
}

// bearerSession names the session that a token is.
func bearerSession(hash []byte) string { return fmt.Sprintf("%s%x", memory.BearerSession, hash[:6]) }

// LineOf lists the agents from the one directly under a person down to id; of a person, itself.
func (n *Node) LineOf(ctx context.Context, id schemas.EntityID) (line []schemas.EntityID, err error) {
	err = n.Look(ctx, "auth_line", func(g access.Grant) (err error) {
		line, err = access.LineOf(g.Tx(), id)
		return err
	})
	return line, err
}

// Epoch is the number of the current set of rights.
func (n *Node) Epoch(ctx context.Context) (epoch int64, err error) {
	err = n.Look(ctx, "epoch", func(g access.Grant) error {
		epoch, err = access.Epoch(g.Tx())
		return err
	})
	return epoch, err
}
