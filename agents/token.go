package agents

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"cordelia/access"
	"cordelia/internal/keys"
	"cordelia/internal/store"
	"cordelia/schemas"
)

const (
	challengeLife  = time.Minute
	tokenLife      = 15 * time.Minute
	openChallenges = 64 // per entity
)

// NewChallenge makes a challenge for ref, to be signed within a minute. Someone
// unknown gets one too, which nothing answers: the reply must not tell who
// exists.
func NewChallenge(g access.Grant, nodeID, ref, audience string, purpose schemas.AuthPurpose) (schemas.AuthChallenge, error) {
	tx := g.Tx()
	c := schemas.AuthChallenge{Audience: audience, NodeID: nodeID, AgentID: schemas.EntityID(ref), KeySeq: 1,
		Purpose: purpose, ExpiresUnixMicro: tx.Micros() + challengeLife.Microseconds()}
	rand.Read(c.Nonce[:]) //nolint:errcheck // never fails since Go 1.24
	// Someone unknown costs the same statements: their challenges go under the
	// empty id, which no answer can name.
	r, err := load(tx, c.AgentID)
	switch {
	case err == nil:
		c.KeySeq = r.Key.KeySeq
	case errors.Is(err, schemas.ErrNotFound):
		r.ID = ""
	default:
		return c, err
	}
	if _, err := tx.Exec(dropChallenges, tx.Micros()); err != nil {
		return c, fmt.Errorf("drop old challenges: %w", err)
	}
	// The oldest gives way, not the newest: anyone may ask in anyone's name, and
	// must not keep them from answering.
	if _, err := tx.Exec(crowdOut, r.ID, openChallenges-1); err != nil {
		return c, fmt.Errorf("crowd out challenges: %w", err)
	}
	hash := sha256.Sum256(c.Nonce[:])
	if _, err := tx.Exec(insertChallenge, hash[:], r.ID, audience, purpose, c.ExpiresUnixMicro); err != nil {
		return c, fmt.Errorf("insert challenge: %w", err)
	}
	return c, nil
}

// KeyOf reads the key that has to sign for an entity, so that the signature can
// be checked before the transaction that consumes the challenge.
func KeyOf(g access.Grant, id schemas.EntityID) (keys.Recipient, error) {
	r, err := load(g.Tx(), id)
	if errors.Is(err, schemas.ErrNotFound) {
		return keys.Recipient{}, BadProof(err)
	}
	return r.Key, err
}

// BadProof is the one answer to every proof of identity that fails.
func BadProof(cause error) error {
	return schemas.Errorf(schemas.CodeUnauthenticated, "this proof of identity is not valid").
		Expecting("a fresh challenge, signed within 60 seconds by the entity's current key").
		Try("POST /auth/challenge, sign its message, then POST /auth/token").Because(cause)
}

// Issued is a fresh bearer token.
type Issued struct {
	Token     keys.Token
	ExpiresAt int64 // UTC µs
}

// Issue turns a signed challenge, already verified against key, into a token
// (INV-NONCE).
func Issue(g access.Grant, c schemas.AuthChallenge, key keys.Recipient, token keys.Token) (Issued, error) {
	tx := g.Tx()
	hash := sha256.Sum256(c.Nonce[:])
	var expires int64
	err := tx.QueryRow(takeChallenge, hash[:], c.AgentID, c.Audience, c.Purpose, tx.Micros()).Scan(&expires)
	if errors.Is(err, store.ErrNoRows) || err == nil && expires != c.ExpiresUnixMicro {
		return Issued{}, BadProof(err)
	}
	if err != nil {
		return Issued{}, fmt.Errorf("take challenge: %w", err)
	}
	r, err := load(tx, c.AgentID)
	if err != nil {
		return Issued{}, err
	}
	if r.Key.KeySeq != key.KeySeq || c.KeySeq != key.KeySeq {
		return Issued{}, BadProof(errors.New("the key was rotated meanwhile"))
	}
	if r.Status != schemas.Active && r.Status != schemas.Registered {
		return Issued{}, BadProof(fmt.Errorf("the agent is %s", r.Status))
	}
	if _, err := tx.Exec(dropTokens, tx.Micros()); err != nil {
		return Issued{}, fmt.Errorf("drop old tokens: %w", err)
	}
	sum := token.Hash()
	out := Issued{Token: token, ExpiresAt: tx.Micros() + tokenLife.Microseconds()}
	if _, err := tx.Exec(insertToken, sum[:], r.ID, r.Key.KeySeq, c.Audience, tx.Micros(), out.ExpiresAt); err != nil {
		return Issued{}, fmt.Errorf("insert token: %w", err)
	}
	return out, g.Audit(string(r.ID), map[string]any{"purpose": c.Purpose, "audience": c.Audience})
}

// FindToken says whose token this is; whether it is still good is decided with
// every operation.
func FindToken(g access.Grant, token keys.Token, audience string) (access.Principal, error) {
	hash := token.Hash()
	p := access.Principal{Method: access.ByToken, TokenHash: hash[:]}
	var got string
	err := g.Tx().QueryRow(findToken, hash[:], g.Tx().Micros()).Scan(&p.Entity, &p.KeySeq, &got)
	if errors.Is(err, store.ErrNoRows) || err == nil && got != audience {
		return p, schemas.Errorf(schemas.CodeUnauthenticated, "the bearer token is not valid or has expired").
			Try("POST /auth/challenge, sign its message, then POST /auth/token")
	}
	return p, err
}
