package ops

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/internal/keys"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// answer signs a challenge as the house's lead and asks for a token.
func (h *house) answer(f keys.File, c schemas.AuthChallenge) error {
	_, err := h.node.Token(h.t.Context(), c, f.Identity.Sign(c.SigningBytes()))
	return err
}

func (h *house) challenge(id schemas.EntityID) schemas.AuthChallenge {
	h.t.Helper()
	c, err := h.node.Challenge(h.t.Context(), id)
	require.NoError(h.t, err)
	return c
}

// rows counts what the database keeps of challenges.
func (h *house) rows() (n int) {
	h.t.Helper()
	require.NoError(h.t, h.node.Store.Read(h.t.Context(), func(tx *store.Tx) error {
		return tx.QueryRow(`SELECT count(*) FROM challenges`).Scan(&n)
	}))
	return n
}

func TestChallengesCostNothingUntilTheyAreAnswered(t *testing.T) {
	h := newHouse(t)
	f, err := h.node.OpenIdentity(t.Context(), "")
	require.NoError(t, err)
	for range 300 {
		h.challenge("nobody")
		h.challenge(f.EntityID)
	}
	require.Zero(t, h.rows())
	require.NoError(t, h.answer(f, h.challenge(f.EntityID)))
	require.Equal(t, 1, h.rows())
	h.clock.advance(25 * time.Hour)
	require.NoError(t, h.answer(f, h.challenge(f.EntityID)))
	require.Equal(t, 1, h.rows(), "the old one is forgotten")
}

// A challenge says nothing of whom it is for: neither whether they exist nor how often
// their key was rotated.
func TestAChallengeTellsNothingOfItsAgent(t *testing.T) {
	h := newHouse(t)
	w := h.worker("rotated")
	require.NoError(t, h.node.Store.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(`UPDATE entities SET key_seq = 5 WHERE id = ?`, w.Entity)
		return err
	}))
	rotated, stranger := h.challenge(w.Entity), h.challenge("nobody")
	rotated.AgentID, rotated.Nonce, rotated.ExpiresUnixMicro = "", [32]byte{}, 0
	stranger.AgentID, stranger.Nonce, stranger.ExpiresUnixMicro = "", [32]byte{}, 0
	require.Equal(t, stranger, rotated)
}

// A nonce is worth one token, for the one it was made for and as long as it was
// made for, whatever the clock does.
func TestOneTokenForOneChallenge_INV_NONCE(t *testing.T) {
	h := newHouse(t)
	f, err := h.node.OpenIdentity(t.Context(), "")
	require.NoError(t, err)
	refused := func(c schemas.AuthChallenge, why string) {
		t.Helper()
		require.ErrorIs(t, h.answer(f, c), schemas.ErrUnauthenticated, why)
	}

	used := h.challenge(f.EntityID)
	require.NoError(t, h.answer(f, used))
	refused(used, "a second time")

	c := h.challenge(f.EntityID)
	for i := range c.Nonce {
		changed := c
		changed.Nonce[i] ^= 1
		refused(changed, "a nonce of one's own")
	}
	changed := c
	changed.ExpiresUnixMicro++
	refused(changed, "a longer life")
	other := h.challenge("somebody-else")
	other.AgentID = f.EntityID
	refused(other, "another's challenge")
	away := newHouseOf(t, "bob")
	foreign := away.challenge(f.EntityID)
	foreign.NodeID = string(h.node.ID)
	refused(foreign, "another node's challenge")
	require.NoError(t, h.answer(f, c), "none of that spoiled it")

	start := h.clock.Now()
	late := h.challenge(f.EntityID)
	h.clock.set(start.Add(time.Minute))
	refused(late, "too late")

	h.clock.set(start.Add(2 * time.Hour))
	future := h.challenge(f.EntityID)
	require.NoError(t, h.answer(f, h.challenge(f.EntityID))) // old ones may be forgotten now
	h.clock.set(start)
	refused(used, "after the clock was set forward and back")
	refused(future, "a challenge of a time that has not come")
	require.NoError(t, h.answer(f, h.challenge(f.EntityID)))
}

func TestEndedChallengesAreWorthless_INV_NONCE(t *testing.T) {
	h := newHouse(t)
	f, err := h.node.OpenIdentity(t.Context(), "")
	require.NoError(t, err)
	before := h.challenge(f.EntityID)
	require.NoError(t, h.node.Routine(t.Context(), "restore",
		func(g access.Grant) error { return agents.EndChallenges(g.Tx()) }))
	require.ErrorIs(t, h.answer(f, before), schemas.ErrUnauthenticated)
	h.clock.advance(time.Second)
	require.NoError(t, h.answer(f, h.challenge(f.EntityID)))
}

// A token is worth something where it was issued for, and a challenge is answered with the
// key in force, though that changes after the signature was checked.
func TestTokensAreForOneAudienceAndKey_INV_NONCE(t *testing.T) {
	h := newHouse(t)
	f, err := h.node.OpenIdentity(t.Context(), "")
	require.NoError(t, err)
	issued, err := h.node.OwnToken(t.Context(), f)
	require.NoError(t, err)
	_, err = h.node.Authenticate(t.Context(), issued.Token.Reveal())
	require.NoError(t, err)
	change := func(query string) {
		t.Helper()
		require.NoError(t, h.node.Store.Write(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(query)
			return err
		}))
	}
	change(`UPDATE tokens SET audience = 'elsewhere'`)
	_, err = h.node.Authenticate(t.Context(), issued.Token.Reveal())
	require.ErrorIs(t, err, schemas.ErrUnauthenticated)

	c, checked := h.challenge(f.EntityID), keys.Recipient{}
	act := func(do func(g access.Grant) error) error { return h.node.Routine(t.Context(), "auth_token", do) }
	require.NoError(t, act(func(g access.Grant) (err error) { checked, err = agents.KeyOf(g, f.EntityID); return err }))
	change(`UPDATE entities SET key_seq = key_seq + 1 WHERE id = '` + string(f.EntityID) + `'`)
	require.ErrorIs(t, act(func(g access.Grant) error { return agents.Answer(g, c, checked) }),
		schemas.ErrUnauthenticated)
	require.NoError(t, act(func(g access.Grant) (err error) { checked, err = agents.KeyOf(g, f.EntityID); return err }))
	require.NoError(t, act(func(g access.Grant) error { return agents.Answer(g, c, checked) }), "that spoiled nothing")
}
