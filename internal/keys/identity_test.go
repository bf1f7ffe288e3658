package keys

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// vector is one case of testdata/keywrap_vectors.json, which another
// implementation of RFC 9180 made.
type vector struct {
	ParentSeed, ParentPub, ParentID, ParentEncPub hexBytes
	AgentSeed, AgentPub, AgentID, Blob            hexBytes
	BlobB64                                       []byte
	ParentKeySeq                                  uint32
}

type hexBytes []byte

func (h *hexBytes) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

func vectors(t *testing.T) []vector {
	t.Helper()
	raw, err := os.ReadFile("testdata/keywrap_vectors.json")
	require.NoError(t, err)
	var vs []vector
	require.NoError(t, json.Unmarshal(raw, &vs))
	require.Len(t, vs, 3)
	return vs
}

func newIdentity(t testing.TB) Identity {
	t.Helper()
	id, err := NewIdentity(rand.Reader)
	require.NoError(t, err)
	return id
}

func fromSeed(t testing.TB, seed []byte) Identity {
	t.Helper()
	id, err := FromSeed(seed)
	require.NoError(t, err)
	return id
}

// requireCode checks the class of an error and that it says what to do.
func requireCode(t *testing.T, want schemas.Code, err error) *schemas.Error {
	t.Helper()
	require.Error(t, err)
	var e *schemas.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, want, e.Code, e.Error())
	require.NotEmpty(t, e.Expected+e.Hint.String(), e.Error())
	return e
}

func TestIdentityMatchesVectors(t *testing.T) {
	for _, v := range vectors(t) {
		parent, agent := fromSeed(t, v.ParentSeed), fromSeed(t, v.AgentSeed)
		require.EqualValues(t, v.ParentPub, parent.PublicKey())
		require.EqualValues(t, v.ParentEncPub, parent.EncPublicKey())
		require.EqualValues(t, v.AgentPub, agent.PublicKey())
		require.Equal(t, hex.EncodeToString(v.AgentID), string(agent.ID()))
	}
}

func TestNewIdentityReadsRandom(t *testing.T) {
	seed := bytes.Repeat([]byte{7}, SeedSize)
	id, err := NewIdentity(bytes.NewReader(seed))
	require.NoError(t, err)
	require.Equal(t, fromSeed(t, seed).PublicKey(), id.PublicKey())

	_, err = NewIdentity(bytes.NewReader(seed[1:]))
	require.Error(t, err)
	_, err = FromSeed(seed[1:])
	requireCode(t, schemas.CodeInvalid, err)
}

func TestSignAndVerify(t *testing.T) {
	id := newIdentity(t)
	message := []byte("message")
	sig := id.Sign(message)
	require.NoError(t, Verify(id.PublicKey(), message, sig))

	for name, bad := range map[string]struct{ pub, message, sig []byte }{
		"other key":       {newIdentity(t).PublicKey(), message, sig},
		"other message":   {id.PublicKey(), []byte("massage"), sig},
		"short signature": {id.PublicKey(), message, sig[:63]},
		"no signature":    {id.PublicKey(), message, nil},
		"s not reduced":   {id.PublicKey(), message, addGroupOrder(sig)},
	} {
		t.Run(name, func(t *testing.T) {
			requireCode(t, schemas.CodeUnauthenticated, Verify(bad.pub, bad.message, bad.sig))
		})
	}
	requireCode(t, schemas.CodeInvalid, Verify(id.PublicKey()[:31], message, sig))
}

// addGroupOrder gives the other spelling of a signature: s + L.
func addGroupOrder(sig []byte) []byte {
	order, _ := hex.DecodeString("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
	out, carry := bytes.Clone(sig), 0
	for i, b := range order {
		carry += int(out[32+i]) + int(b)
		out[32+i] = byte(carry)
		carry >>= 8
	}
	return out
}

func TestEncKeyBinding(t *testing.T) {
	id := newIdentity(t)
	require.NoError(t, id.Recipient(3).Verify())

	swapped := id.Recipient(3)
	swapped.EncPublicKey = newIdentity(t).EncPublicKey()
	requireCode(t, schemas.CodeUnauthenticated, swapped.Verify())

	replayed := id.Recipient(3)
	replayed.KeySeq = 4
	requireCode(t, schemas.CodeUnauthenticated, replayed.Verify())
}

// weakKeys are the 14 encodings of the points of small order, little-endian.
func weakKeys(t *testing.T) [][]byte {
	t.Helper()
	var all [][]byte
	for _, y := range []string{
		"00" + strings.Repeat("00", 31),
		"01" + strings.Repeat("00", 31),
		"ec" + strings.Repeat("ff", 30) + "7f",
		"ed" + strings.Repeat("ff", 30) + "7f",
		"ee" + strings.Repeat("ff", 30) + "7f",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
	} {
		pub, err := hex.DecodeString(y)
		require.NoError(t, err)
		signed := bytes.Clone(pub)
		signed[31] |= 0x80
		all = append(all, pub, signed)
	}
	require.Len(t, all, 14)
	return all
}

func TestSmallOrderKeysAreRefused(t *testing.T) {
	forged := make([]byte, ed25519.SignatureSize)
	forged[0] = 1 // R is the identity, S is 0
	accepted := 0
	for _, pub := range weakKeys(t) {
		requireCode(t, schemas.CodeInvalid, CheckPublicKey(pub))
		for i := range 64 {
			message := []byte{byte(i)}
			if ed25519.Verify(pub, message, forged) {
				accepted++
			}
			requireCode(t, schemas.CodeInvalid, Verify(pub, message, forged))
		}
	}
	require.Positive(t, accepted, "the standard library refuses these by now: is CheckPublicKey still needed?")

	beyond := bytes.Repeat([]byte{0xff}, 32) // y = 2^255 − 1 is not reduced
	requireCode(t, schemas.CodeInvalid, CheckPublicKey(beyond))
	for range 100 {
		require.NoError(t, CheckPublicKey(newIdentity(t).PublicKey()))
	}
}

func TestErase(t *testing.T) {
	id := newIdentity(t)
	private, again := id.secret().private, id
	id.Erase()
	id.Erase()
	require.Equal(t, make([]byte, ed25519.PrivateKeySize), []byte(private))
	require.Panics(t, func() { again.Sign(nil) })
	Identity{}.Erase()
}
