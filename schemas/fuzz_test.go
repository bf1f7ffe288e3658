package schemas_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// FuzzSigningBytes takes one message apart into fields in two ways: the bytes to
// sign are the same only where all fields are, and never those of another kind.
func FuzzSigningBytes(f *testing.F) {
	f.Add("a", "bc", "d", uint32(1), int64(2), "ab", "c", "d", uint32(1), int64(2))
	f.Add("", "\x00\x00\x00\x00", "", uint32(0), int64(0), "\x00\x00\x00\x00", "", "", uint32(0), int64(0))
	f.Fuzz(func(t *testing.T, a1, a2, a3 string, as uint32, ae int64, b1, b2, b3 string, bs uint32, be int64) {
		a := schemas.AuthChallenge{Audience: a1, NodeID: a2, AgentID: schemas.EntityID(a3), KeySeq: as,
			ExpiresUnixMicro: ae}
		b := schemas.AuthChallenge{Audience: b1, NodeID: b2, AgentID: schemas.EntityID(b3), KeySeq: bs,
			ExpiresUnixMicro: be}
		require.Equal(t, a == b, string(a.SigningBytes()) == string(b.SigningBytes()))
		rotation := schemas.KeyRotation{EntityID: schemas.EntityID(a1), OldSeq: as, NewPublicKey: []byte(a2),
			NewEncPublicKey: []byte(a3)}
		binding := schemas.EncKeyBinding{PublicKey: []byte(b1), EncPublicKey: []byte(b2), KeySeq: bs}
		require.NotEqual(t, string(rotation.SigningBytes()), string(binding.SigningBytes()))
		require.NotEqual(t, string(a.SigningBytes()), string(binding.SigningBytes()))
	})
}

// FuzzIDs holds what names of groups and people are accepted: no bytes outside
// of their alphabet, and no person who could be taken for an agent.
func FuzzIDs(f *testing.F) {
	for _, s := range []string{"team", "a.b_c-9", "-a", "node", "deadbeef", "Ann", "ann\n", "ａnn", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range s {
			if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-' {
				require.Error(t, schemas.CheckGroupID(s))
				require.Error(t, schemas.CheckHumanID(s))
				break
			}
		}
		if schemas.CheckHumanID(s) == nil {
			require.NoError(t, schemas.CheckGroupID(s), "a person's id is a plain one")
			require.False(t, schemas.IsAgentID(s))
		}
	})
}
