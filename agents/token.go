package agents

import (
	"crypto/hmac"
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
	challengeLife = time.Minute
	tokenLife     = 15 * time.Minute
	// answeredKept is how long an answered challenge is remembered after its end,
	// so that a clock set back by less makes none good again.
	answeredKept = 24 * time.Hour
	saltSize     = 16 // random bytes of a nonce; the rest is the node's mark
)

// Voucher marks a message for the node to know again (keys.Identity.Vouch).
type Voucher func(message []byte) [sha256.Size]byte

// NewChallenge makes a challenge for ref, to be signed within a minute. The node stores nothing
// for it, since any caller may ask for any ref. The reply does not depend on what the node
// knows of ref, so it shows neither whether ref exists nor how often its key was rotated. The
// signature itself says which key made it.
func NewChallenge(g access.Grant, vouch Voucher, nodeID, ref, audience string,
	purpose schemas.AuthPurpose) schemas.AuthChallenge {
	c := schemas.AuthChallenge{Audience: audience, NodeID: nodeID, AgentID: schemas.EntityID(ref),
		Purpose: purpose, ExpiresUnixMicro: g.Tx().Micros() + challengeLife.Microseconds()}
	rand.Read(c.Nonce[:saltSize]) //nolint:errcheck // never fails since Go 1.24
	copy(c.Nonce[saltSize:], markOf(c, vouch))
	return c
}

// markOf is the second half of a nonce: it stands for all the challenge says.
func markOf(c schemas.AuthChallenge, vouch Voucher) []byte {
	clear(c.Nonce[saltSize:])
	mark := vouch(c.SigningBytes())
	return mark[:len(c.Nonce)-saltSize]
}

// CheckChallenge refuses a challenge that this node did not make. Whether it is
// still good is decided by Issue.
func CheckChallenge(c schemas.AuthChallenge, vouch Voucher) error {
	if !hmac.Equal(c.Nonce[saltSize:], markOf(c, vouch)) {
		return BadProof(errors.New("the challenge is not this node's"))
	}
	return nil
}

// EndChallenges makes every challenge made so far worthless.
func EndChallenges(tx *store.Tx) error {
	latest := tx.Micros() + challengeLife.Microseconds()
	if _, err := tx.Exec(endChallenges, latest); err != nil {
		return fmt.Errorf("end challenges: %w", err)
	}
	return nil
}

// KeyOf reads the key that has to sign for an entity, so that the signature can
// be checked before the transaction that uses the challenge up.
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

// Issue turns a signed challenge, already checked and verified against key, into
// a token, and remembers that it was answered.
func Issue(g access.Grant, c schemas.AuthChallenge, key keys.Recipient, token keys.Token) (Issued, error) {
	tx := g.Tx()
	r, err := answer(tx, c, key)
	if err != nil {
		return Issued{}, err
	}
	// A wait that a token began finds it as long as it may last, and so learns that its time ended it.
	if _, err := tx.Exec(dropTokens, tx.Micros()-access.MaxWait.Microseconds(),
		tx.Micros()+access.ClockSlack.Microseconds()); err != nil {
		return Issued{}, fmt.Errorf("drop old tokens: %w", err)
	}
	return issue(g, r, token, c.Audience, tokenLife)
}

// issue gives an entity a token that one face of the node takes.
func issue(g access.Grant, r Record, token keys.Token, audience string, life time.Duration) (Issued, error) {
	tx, sum := g.Tx(), token.Hash()
	out := Issued{Token: token, ExpiresAt: tx.Micros() + life.Microseconds()}
	if _, err := tx.Exec(insertToken, sum[:], r.ID, r.Key.KeySeq, audience, tx.Micros(), out.ExpiresAt); err != nil {
		return Issued{}, fmt.Errorf("insert token: %w", err)
	}
	return out, g.Audit(string(r.ID), map[string]any{"purpose": schemas.PurposeSession, "audience": audience})
}

// Admit gives the actor a token for a face of the node.
func Admit(g access.Grant, token keys.Token, audience string, life time.Duration) (Issued, error) {
	if g.Tx() == nil {
		return Issued{}, access.ErrNoGrant
	}
	r, err := load(g.Tx(), g.Actor())
	if err != nil {
		return Issued{}, err
	}
	return issue(g, r, token, audience, life)
}

// Exchange uses a token up, and gives its entity another one instead. It is for the node.
func Exchange(g access.Grant, used keys.Token, from string, token keys.Token, audience string,
	life time.Duration) (Issued, error) {
	p, err := FindToken(g, used, from)
	if err != nil {
		return Issued{}, err
	}
	if err := Discard(g, p.TokenHash); err != nil {
		return Issued{}, err
	}
	r, err := load(g.Tx(), p.Entity)
	if err != nil {
		return Issued{}, err
	}
	if int(r.Key.KeySeq) != p.KeySeq {
		return Issued{}, schemas.Errorf(schemas.CodeUnauthenticated, "the key was replaced meanwhile").
			Try("prove with the new key: POST /auth/challenge, sign its message, then POST /auth/token")
	}
	return issue(g, r, token, audience, life)
}

// Discard ends a token. It is for the node.
func Discard(g access.Grant, hash []byte) error {
	if !g.IsNode() {
		return access.ErrNoGrant
	}
	if _, err := g.Tx().Exec(deleteToken, hash); err != nil {
		return fmt.Errorf("end token: %w", err)
	}
	return nil
}

// Answer uses a signed challenge up, already checked and verified against key,
// for another purpose than a token.
func Answer(g access.Grant, c schemas.AuthChallenge, key keys.Recipient) error {
	if g.Tx() == nil {
		return access.ErrNoGrant
	}
	_, err := answer(g.Tx(), c, key)
	return err
}

// answer notes that c was answered with key (INV-NONCE), and gives who did.
func answer(tx *store.Tx, c schemas.AuthChallenge, key keys.Recipient) (Record, error) {
	// One that ends too late was made before the clock was set back.
	if left := c.ExpiresUnixMicro - tx.Micros(); left <= 0 || left > (challengeLife+access.ClockSlack).Microseconds() {
		return Record{}, BadProof(errors.New("the challenge has expired"))
	}
	if _, err := tx.Exec(dropAnswered, tx.Micros()-answeredKept.Microseconds()); err != nil {
		return Record{}, fmt.Errorf("drop old challenges: %w", err)
	}
	hash := sha256.Sum256(c.Nonce[:])
	fresh, err := tx.Exec(answerChallenge, hash[:], c.ExpiresUnixMicro)
	if err != nil {
		return Record{}, fmt.Errorf("answer challenge: %w", err)
	}
	if fresh == 0 {
		return Record{}, BadProof(errors.New("the challenge was answered, or ended by a restore"))
	}
	r, err := load(tx, c.AgentID)
	if err != nil {
		return Record{}, err
	}
	if r.Key.KeySeq != key.KeySeq {
		return Record{}, BadProof(errors.New("the key was rotated meanwhile"))
	}
	if r.Status != schemas.Active && r.Status != schemas.Registered {
		return Record{}, BadProof(fmt.Errorf("the agent is %s", r.Status))
	}
	return r, nil
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
