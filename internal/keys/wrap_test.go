package keys

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

func TestVectorsOpen(t *testing.T) {
	for _, v := range vectors(t) {
		require.Len(t, v.Blob, SealedSize)
		require.EqualValues(t, v.Blob, v.BlobB64)
		agent, err := Open(fromSeed(t, v.ParentSeed), v.Blob)
		require.NoError(t, err)
		require.EqualValues(t, v.AgentSeed, agent.seed())
		require.Equal(t, hex.EncodeToString(v.AgentID), string(agent.ID()))

		// our header is the vector's: what follows it is random
		sealed, err := Seal(agent, fromSeed(t, v.ParentSeed).Recipient(v.ParentKeySeq))
		require.NoError(t, err)
		require.EqualValues(t, v.Blob[:wrapHeader], sealed[:wrapHeader])
		require.NotEqualValues(t, v.Blob[wrapHeader:], sealed[wrapHeader:])
	}
}

func TestSealThenOpen(t *testing.T) {
	parent, agent := newIdentity(t), newIdentity(t)
	blob, err := Seal(agent, parent.Recipient(0x01020304))
	require.NoError(t, err)
	require.Len(t, blob, SealedSize)
	require.Equal(t, []byte{1, 2, 3, 4}, blob[atKeySeq:atRecipient])
	opened, err := Open(parent, blob)
	require.NoError(t, err)
	require.Equal(t, agent.seed(), opened.seed())

	_, err = Open(newIdentity(t), blob)
	requireCode(t, schemas.CodeInvalid, err)
}

func TestEveryFlippedByteIsRefused(t *testing.T) {
	parent := newIdentity(t)
	blob, err := Seal(newIdentity(t), parent.Recipient(1))
	require.NoError(t, err)
	for i := range blob {
		for _, flip := range []byte{0x01, 0x80, 0xff} {
			blob[i] ^= flip
			_, err := Open(parent, blob)
			requireCode(t, schemas.CodeInvalid, err)
			blob[i] ^= flip
		}
	}
	for i := 4; i < atKeySeq; i++ { // another version or suite is named as such
		blob[i]++
		_, err := Open(parent, blob)
		require.ErrorContains(t, err, "has version")
		blob[i]--
	}
	for _, n := range []int{0, 3, wrapHeader, SealedSize - 1} {
		_, err := Open(parent, blob[:n])
		requireCode(t, schemas.CodeInvalid, err)
	}
	_, err = Open(parent, append(blob, 0))
	requireCode(t, schemas.CodeInvalid, err)
	_, err = Open(parent, blob)
	require.NoError(t, err)
}

// Base mode lets anybody seal to the parent: an attacker who may write the
// record puts his own key under the agent's id.
func TestStrangersKeyUnderAgentsNameIsRefused(t *testing.T) {
	parent, agent, stranger := newIdentity(t), newIdentity(t), newIdentity(t)
	mixed := &secret{private: append(append([]byte(nil), stranger.seed()...), agent.PublicKey()...)}
	chimera := Identity{secret: func() *secret { return mixed }}
	blob, err := Seal(chimera, parent.Recipient(1))
	require.NoError(t, err)
	require.EqualValues(t, agent.ID(), hex.EncodeToString(blob[atAgent:wrapHeader]))
	_, err = Open(parent, blob)
	requireCode(t, schemas.CodeInvalid, err)
}

func TestSealRefusesUnusableRecipients(t *testing.T) {
	agent, parent := newIdentity(t), newIdentity(t)

	swapped := parent.Recipient(1)
	swapped.EncPublicKey = newIdentity(t).EncPublicKey()
	_, err := Seal(agent, swapped)
	requireCode(t, schemas.CodeUnauthenticated, err)

	for _, enc := range [][]byte{nil, make([]byte, 31), make([]byte, 32)} { // the last has low order
		vouched := Recipient{PublicKey: parent.PublicKey(), EncPublicKey: enc, KeySeq: 1}
		vouched.Binding = parent.Sign(schemas.EncKeyBinding{
			PublicKey: vouched.PublicKey, EncPublicKey: enc, KeySeq: 1,
		}.SigningBytes())
		_, err := Seal(agent, vouched)
		requireCode(t, schemas.CodeInvalid, err)
	}
}

func FuzzOpen(f *testing.F) {
	parent := newIdentity(f)
	blob, err := Seal(newIdentity(f), parent.Recipient(1))
	require.NoError(f, err)
	f.Add(blob)
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := Open(parent, b); err != nil {
			requireCode(t, schemas.CodeInvalid, err)
		} else {
			require.Equal(t, blob, b)
		}
	})
}
