package node_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/internal/keys"
	"cordelia/internal/store"
	"cordelia/ops/opstest"
	"cordelia/schemas"
)

// answer signs a challenge as the owner of f and asks for a token.
func answer(h *opstest.House, f keys.File, c schemas.AuthChallenge) error {
	_, err := h.Node.Token(h.T.Context(), c, f.Identity.Sign(c.SigningBytes()))
	return err
}

func challenge(h *opstest.House, id schemas.EntityID) schemas.AuthChallenge {
	h.T.Helper()
	c, err := h.Node.Challenge(h.T.Context(), id)
	require.NoError(h.T, err)
	return c
}

// challenges counts what the database keeps of them.
func challenges(h *opstest.House) int { return h.Number(`SELECT count(*) FROM challenges`) }

func TestChallengesCostNothingUntilTheyAreAnswered(t *testing.T) {
	h := opstest.New(t)
	f, err := h.Node.OpenIdentity(t.Context(), "")
	require.NoError(t, err)
	for range 300 {
		challenge(h, "nobody")
		challenge(h, f.EntityID)
	}
	require.Zero(t, challenges(h))
	require.NoError(t, answer(h, f, challenge(h, f.EntityID)))
	require.Equal(t, 1, challenges(h))
	h.Clock.Move(25 * time.Hour)
	require.NoError(t, answer(h, f, challenge(h, f.EntityID)))
	require.Equal(t, 1, challenges(h), "the old one is forgotten")
}

// A challenge says nothing of whom it is for: neither whether they exist nor how often
// their key was rotated.
func TestAChallengeTellsNothingOfItsAgent(t *testing.T) {
	h := opstest.New(t)
	w := h.Worker("rotated")
	require.NoError(t, h.Node.Store.Write(t.Context(), func(tx *store.Tx) error {
		_, err := tx.Exec(`UPDATE entities SET key_seq = 5 WHERE id = ?`, w.Entity)
		return err
	}))
	rotated, stranger := challenge(h, w.Entity), challenge(h, "nobody")
	rotated.AgentID, rotated.Nonce, rotated.ExpiresUnixMicro = "", [32]byte{}, 0
	stranger.AgentID, stranger.Nonce, stranger.ExpiresUnixMicro = "", [32]byte{}, 0
	require.Equal(t, stranger, rotated)
}

// A nonce is worth one token, for the one it was made for and as long as it was
// made for, whatever the clock does.
func TestOneTokenForOneChallenge_INV_NONCE(t *testing.T) {
	h := opstest.New(t)
	f, err := h.Node.OpenIdentity(t.Context(), "")
	require.NoError(t, err)
	refused := func(c schemas.AuthChallenge, why string) {
		t.Helper()
		require.ErrorIs(t, answer(h, f, c), schemas.ErrUnauthenticated, why)
	}

	used := challenge(h, f.EntityID)
	require.NoError(t, answer(h, f, used))
	refused(used, "a second time")

	c := challenge(h, f.EntityID)
	for i := range c.Nonce {
		changed := c
		changed.Nonce[i] ^= 1
		refused(changed, "a nonce of one's own")
	}
	changed := c
	changed.ExpiresUnixMicro++
	refused(changed, "a longer life")
	other := challenge(h, "somebody-else")
	other.AgentID = f.EntityID
	refused(other, "another's challenge")
	away := opstest.New(t)
	foreign := challenge(away, f.EntityID)
	foreign.NodeID = string(h.Node.ID)
	refused(foreign, "another node's challenge")
	require.NoError(t, answer(h, f, c), "none of that spoiled it")

	start := h.Clock.Now()
	late := challenge(h, f.EntityID)
	h.Clock.Set(start.Add(time.Minute))
	refused(late, "too late")

	h.Clock.Set(start.Add(2 * time.Hour))
	future := challenge(h, f.EntityID)
	require.NoError(t, answer(h, f, challenge(h, f.EntityID))) // old ones may be forgotten now
	h.Clock.Set(start)
	refused(used, "after the clock was set forward and back")
	refused(future, "a challenge of a time that has not come")
	require.NoError(t, answer(h, f, challenge(h, f.EntityID)))
}

func TestEndedChallengesAreWorthless_INV_NONCE(t *testing.T) {
	h := opstest.New(t)
	f, err := h.Node.OpenIdentity(t.Context(), "")
	require.NoError(t, err)
	before := challenge(h, f.EntityID)
	require.NoError(t, h.Node.Routine(t.Context(), "restore",
		func(g access.Grant) error { return agents.EndChallenges(g.Tx()) }))
	require.ErrorIs(t, answer(h, f, before), schemas.ErrUnauthenticated)
	h.Clock.Move(time.Second)
	require.NoError(t, answer(h, f, challenge(h, f.EntityID)))
}

// A token is worth something where it was issued for, and a challenge is answered with the
// key in force, though that changes after the signature was checked.
func TestTokensAreForOneAudienceAndKey_INV_NONCE(t *testing.T) {
	h := opstest.New(t)
	f, err := h.Node.OpenIdentity(t.Context(), "")
	require.NoError(t, err)
	issued, err := h.Node.OwnToken(t.Context(), f)
	require.NoError(t, err)
	_, err = h.Node.Authenticate(t.Context(), issued.Token.Reveal())
	require.NoError(t, err)
	change := func(query string) {
		t.Helper()
		require.NoError(t, h.Node.Store.Write(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(query)
			return err
		}))
	}
	change(`UPDATE tokens SET audience = 'elsewhere'`)
	_, err = h.Node.Authenticate(t.Context(), issued.Token.Reveal())
	require.ErrorIs(t, err, schemas.ErrUnauthenticated)

	c, checked := challenge(h, f.EntityID), keys.Recipient{}
	act := func(do func(g access.Grant) error) error { return h.Node.Routine(t.Context(), "auth_token", do) }
	require.NoError(t, act(func(g access.Grant) (err error) { checked, err = agents.KeyOf(g, f.EntityID); return err }))
	change(`UPDATE entities SET key_seq = key_seq + 1 WHERE id = '` + string(f.EntityID) + `'`)
	require.ErrorIs(t, act(func(g access.Grant) error { return agents.Answer(g, c, checked) }),
		schemas.ErrUnauthenticated)
	require.NoError(t, act(func(g access.Grant) (err error) { checked, err = agents.KeyOf(g, f.EntityID); return err }))
	require.NoError(t, act(func(g access.Grant) error { return agents.Answer(g, c, checked) }), "that spoiled nothing")
}
