package ops

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/internal/keys"
	"cordelia/memory/hot"
	"cordelia/review"
	"cordelia/schemas"
)

var reintegrate = Define(Spec{
	Name: "reintegrate", Title: "Come back", Toolset: Review, Effect: access.Write, InPerson: true,
	SearchHint: "return autonomous offline merge staging divergence chain",
	Description: "Autonomous agents: hand in where your chain stands and what you learned for groups; your parent " +
		"reviews it. " +
		"Over HTTP first challenge, then submit the same, the message signed.",
}, comeBack)

type reintegrateIn struct {
	Action       string          `json:"action" enum:"submit,challenge,withdraw"`
	SessionCount int64           `json:"session_count,omitempty" jsonschema:"yours"`
	ChainHash    string          `json:"chain_hash,omitempty" jsonschema:"yours"`
	Memories     []review.Memory `json:"memories,omitempty" jsonschema:"what you bring"`
	Nonce        string          `json:"nonce,omitempty" jsonschema:"of the challenge"`
	Expires      int64           `json:"expires,omitempty" jsonschema:"of the challenge"`
	Signature    string          `json:"signature,omitempty" jsonschema:"of message, base64"`
	Staging      schemas.GroupID `json:"staging,omitempty" jsonschema:"to withdraw"`
}

// ReintegrateOut is the answer of reintegrate.
type ReintegrateOut struct {
	Message      string             `json:"message,omitempty" jsonschema:"base64: sign these bytes with your key"`
	Nonce        string             `json:"nonce,omitempty"`
	Expires      int64              `json:"expires,omitempty"`
	Divergence   schemas.Divergence `json:"divergence,omitempty"`
	Apart        int64              `json:"sessions_apart,omitempty"`
	Staging      schemas.GroupID    `json:"staging,omitempty"`
	Reviews      []string           `json:"reviews,omitempty" jsonschema:"in the order of memories"`
	Merged       []schemas.ItemID   `json:"merged,omitempty" jsonschema:"taken over without review"`
	Because      []string           `json:"review_because,omitempty"`
	Withdrawn    int                `json:"withdrawn,omitempty"`
	SessionCount *int64             `json:"session_count,omitempty" jsonschema:"the node's: go on from here"`
	ChainHash    string             `json:"chain_hash,omitempty"`
	UpdatedAt    string             `json:"updated_at,omitempty"`
	Context      json.RawMessage    `json:"context,omitempty" jsonschema:"your hot context as it is now"`
	LeftOut      []string           `json:"left_out,omitempty" jsonschema:"sections to read with memory_read_hot"`
	Next         schemas.Hint       `json:"next"`

	lean json.RawMessage // what the text shows of Context
	same bool            // the caller gave the node's chain
}

// Text says what became of the return, with all that the next call needs.
func (o ReintegrateOut) Text() string {
	return lines(o.Next.String(), when(o.Message != "", "message %s\nnonce %s\nexpires %d", o.Message, o.Nonce, o.Expires),
		when(o.Staging != "", "staging %s", o.Staging), when(len(o.Reviews) > 0, "reviews: %s", shorts(o.Reviews)),
		when(len(o.Merged) > 0, "merged: %s", shorts(o.Merged)),
		when(o.SessionCount != nil && !o.same, "chain_hash %s", o.ChainHash),
		when(o.SessionCount != nil, "updated_at %s", o.UpdatedAt),
		when(len(o.lean) > 0, "context: %s", oneJSON(o.lean)),
		when(len(o.LeftOut) > 0, "left out, read each as section of memory_read_hot: %s",
			strings.Join(o.LeftOut, ", ")))
}

// returnAudience is whom the challenge of a return is answered to.
const returnAudience = "reintegrate"

func comeBack(ctx context.Context, c *Call, in reintegrateIn) (ReintegrateOut, error) {
	if in.Action == "withdraw" {
		return Transact(ctx, c, in.withdraw)
	}
	if digits := len(in.ChainHash); digits >= shownOfChain && digits < hex.EncodedLen(len(hot.Hash{})) {
		if err := c.Do(ctx, func(g access.Grant) error { return wholeChain(g, &in) }); err != nil {
			return ReintegrateOut{}, err
		}
	}
	b, err := review.Prepare(review.Claim{Action: in.Action, SessionCount: in.SessionCount, ChainHash: in.ChainHash,
		Memories: in.Memories, Tainted: c.tainted()}, c.Caller.Entity, c.signItem())
	if err != nil {
		return ReintegrateOut{}, err
	}
	if in.Action == "challenge" {
		return c.challengeReturn(ctx, b)
	}
	ch, proof, key, err := c.proveReturn(ctx, b, in)
	if err != nil {
		return ReintegrateOut{}, err
	}
	return Transact(ctx, c, func(g access.Grant) (ReintegrateOut, error) {
		if err := agents.Answer(g, ch, key); errors.Is(err, schemas.ErrUnauthenticated) {
			return ReintegrateOut{}, in.badReturn(err)
		} else if err != nil {
			return ReintegrateOut{}, err
		}
		done, err := review.Submit(g, b, proof)
		if err != nil {
			return ReintegrateOut{}, err
		}
		out, err := returned(g, done)
		out.same = out.ChainHash == in.ChainHash
		return out, err
	})
}

// withdraw takes back what the caller handed in.
func (in reintegrateIn) withdraw(g access.Grant) (out ReintegrateOut, err error) {
	out.Withdrawn, err = review.Withdraw(g, in.Staging)
	out.Next = schemas.Hintf("%s withdrawn and removed",
		schemas.Count(out.Withdrawn, "memory was", "memories were"))
	return out, err
}

// challengeReturn gives the caller the message to sign for what it hands in.
func (c *Call) challengeReturn(ctx context.Context, b *review.Batch) (ReintegrateOut, error) {
	var ch schemas.AuthChallenge
	if err := c.Do(ctx, func(g access.Grant) error {
		ch = c.returnChallenge(g, g.Actor())
		return nil
	}); err != nil {
		return ReintegrateOut{}, err
	}
	return ReintegrateOut{Message: base64.StdEncoding.EncodeToString(b.Statement(ch).SigningBytes()),
		Nonce:   base64.StdEncoding.EncodeToString(ch.Nonce[:]),
		Expires: ch.ExpiresUnixMicro,
		Next: schemas.Hintf("sign message within 60 seconds and repeat this call with action submit, nonce, expires " +
			"and signature")}, nil
}

// wholeChain puts the actor's chain hash in the place of its beginning, of which memory_session
// shows that many digits. What begins otherwise stays as it is.
func wholeChain(g access.Grant, in *reintegrateIn) error {
	known, err := hot.ReadChain(g, g.Actor())
	if err == nil && strings.HasPrefix(known.ChainHash.String(), in.ChainHash) {
		in.ChainHash = known.ChainHash.String()
	}
	return err
}

func (c *Call) returnChallenge(g access.Grant, id schemas.EntityID) schemas.AuthChallenge {
	return c.Node.NewChallenge(g, id, returnAudience, schemas.PurposeReintegrate)
}

// proveReturn checks the caller's signature over all it hands in, or makes it where
// this process holds the caller's key.
func (c *Call) proveReturn(ctx context.Context, b *review.Batch,
	in reintegrateIn) (ch schemas.AuthChallenge, p review.Proof, key keys.Recipient, err error) {
	me := c.Caller.Entity
	bySelf := c.Caller.Sign != nil && in.Nonce == "" && in.Signature == ""
	if err = c.Node.Look(ctx, "reintegrate", func(g access.Grant) error {
		if bySelf {
			ch = c.returnChallenge(g, me)
		}
		key, err = agents.KeyOf(g, me)
		return err
	}); err != nil {
		return ch, p, key, err
	}
	if !bySelf {
		nonce, err := base64.StdEncoding.DecodeString(in.Nonce)
		if err != nil || len(nonce) != len(ch.Nonce) {
			return ch, p, key, in.badReturn(errors.New("the nonce is not one of this node"))
		}
		if p.Signature, err = base64.StdEncoding.DecodeString(in.Signature); err != nil {
			return ch, p, key, in.badReturn(err)
		}
		ch = schemas.AuthChallenge{Audience: returnAudience, NodeID: string(c.Node.ID), AgentID: me,
			Purpose: schemas.PurposeReintegrate,
			Nonce:   [32]byte(nonce), ExpiresUnixMicro: in.Expires}
		if err := c.Node.CheckChallenge(ch); err != nil {
			return ch, p, key, in.badReturn(err)
		}
	}
	p.Statement = b.Statement(ch).SigningBytes()
	if bySelf {
		p.Signature, _ = c.Caller.Sign(p.Statement)
	}
	if err := keys.Verify(key.PublicKey, p.Statement, p.Signature); err != nil {
		return ch, p, key, in.badReturn(err)
	}
	return ch, p, key, nil
}

// badReturn is the one answer to every proof of a return that fails.
func (in reintegrateIn) badReturn(cause error) error {
	return schemas.Errorf(schemas.CodeUnauthenticated, "this return is not proven by the agent's key").
		Expecting("the message of a challenge for exactly what is handed in, signed within 60 "+
			"seconds").
		Try("%s with the same memories, sign its message, then repeat it with action submit",
			schemas.Tool("reintegrate", "action", "challenge", "session_count", in.SessionCount, "chain_hash",
				in.ChainHash)).Because(cause)
}

// returned is the answer to a return: what became of what was brought, and the
// context the agent goes on with.
func returned(g access.Grant, r review.Returned) (ReintegrateOut, error) {
	entity, view, err := hotOf(g, "")
	if err != nil {
		return ReintegrateOut{}, err
	}
	doc, err := hot.Read(g, entity, view)
	if err != nil {
		return ReintegrateOut{}, err
	}
	out := ReintegrateOut{Divergence: r.Divergence, Apart: r.Sessions, Staging: r.Group, Because: r.Because,
		SessionCount: &r.Known.SessionCount,
		ChainHash:    r.Known.ChainHash.String(), UpdatedAt: doc.UpdatedAt}
	if out.Context, out.LeftOut, err = doc.Part("", hotBytes/2); err != nil {
		return ReintegrateOut{}, err
	}
	if out.lean, _, err = doc.Without(hot.NodeOwned()...).Part("", hotBytes/2); err != nil {
		return ReintegrateOut{}, err
	}
	for _, w := range r.Merged {
		out.Merged = append(out.Merged, w.ID)
	}
	if len(out.Merged) == 0 {
		out.Reviews = r.Reviews
	}
	out.Next = out.advice()
	return out, nil
}

// advice says how the chains compare, what became of the memories, and how to go on.
func (o ReintegrateOut) advice() (h schemas.Hint) {
	say := func(format string, args ...any) {
		h = append(h, schemas.Hintf(format+". ", args...)...)
	}
	switch o.Divergence {
	case schemas.ChainMatch:
		say("your chain is the node's")
	case schemas.ChainGap:
		say("%s not on the node's chain: put what they left into %s",
			schemas.Count(int(o.Apart), "of your sessions is", "of your sessions are"), schemas.Tool("memory_write_hot"))
	case schemas.ChainFork:
		say("your chain is not the node's: take over context before you go on")
	case schemas.ChainReplay:
		say("this was handed in before")
	}
	switch {
	case len(o.Merged) > 0:
		say("%s", schemas.Count(len(o.Merged), "memory was merged", "memories were merged"))
	case len(o.Reviews) > 0:
		say("%s for your parent (%s), 30 days at most; review.closed comes with %s",
			schemas.Count(len(o.Reviews), "memory waits", "memories wait"), strings.Join(o.Because, "; "),
			schemas.Tool("events_poll"))
	}
	return append(h, schemas.Hintf("go on from session %d with %s", *o.SessionCount,
		schemas.Tool("memory_session", "action", "start"))...)
}
