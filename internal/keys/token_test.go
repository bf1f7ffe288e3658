package keys

import (
	"bytes"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

func newToken(t testing.TB) Token {
	t.Helper()
	token, err := NewToken(rand.Reader, []byte("message"), bytes.Repeat([]byte{9}, 64))
	require.NoError(t, err)
	return token
}

func TestNewToken(t *testing.T) {
	random, message, sig := bytes.Repeat([]byte{1}, 32), []byte("message"), bytes.Repeat([]byte{2}, 64)
	token, err := NewToken(bytes.NewReader(random), message, sig)
	require.NoError(t, err)
	text := token.Reveal()
	require.Regexp(t, `^cdl1_[A-Za-z0-9_-]{43}_[A-Za-z0-9_-]{6}$`, text)

	salt := sha256.Sum256(message)
	want, err := hkdf.Key(sha256.New, append(bytes.Clone(random), sig...), salt[:], "cordelia/v1/token", 32)
	require.NoError(t, err)
	got, err := base64.RawURLEncoding.DecodeString(text[5:48])
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, sha256.Sum256([]byte(text)), token.Hash())

	for name, other := range map[string]struct{ random, message, sig []byte }{
		"random":    {bytes.Repeat([]byte{3}, 32), message, sig},
		"message":   {random, []byte("massage"), sig},
		"signature": {random, message, bytes.Repeat([]byte{4}, 64)},
	} {
		another, err := NewToken(bytes.NewReader(other.random), other.message, other.sig)
		require.NoError(t, err)
		require.NotEqual(t, text, another.Reveal(), name)
	}
	_, err = NewToken(bytes.NewReader(random[1:]), message, sig)
	require.Error(t, err)
}

func TestParseToken(t *testing.T) {
	token := newToken(t)
	text := token.Reveal()
	parsed, err := ParseToken(text)
	require.NoError(t, err)
	require.Equal(t, token.Hash(), parsed.Hash())

	bad := []string{"", "cdl1_", text[1:], text[:len(text)-1], text + "x", " " + text, strings.ToUpper(text),
		withChecksum(text[:20] + "\n" + text[21:tokenBody])}
	// 43 characters carry two bits more than 32 bytes have: they must be zero
	spelt := base64.RawURLEncoding.EncodeToString(make([]byte, 32))
	bad = append(bad, withChecksum("cdl1_"+spelt[:42]+"B"))
	for i := range text {
		flipped := []byte(text)
		flipped[i] ^= 1
		bad = append(bad, string(flipped))
	}
	for _, s := range bad {
		_, err := ParseToken(s)
		e := requireCode(t, schemas.CodeUnauthenticated, err)
		if len(s) > 10 {
			require.NotContains(t, e.Error(), s)
		}
	}
}

// withChecksum completes a token so that only its characters are wrong.
func withChecksum(s string) string { return s + "_" + tokenChecksum(s) }

func FuzzParseToken(f *testing.F) {
	f.Add(newToken(f).Reveal())
	f.Add("cdl1_")
	f.Add(withChecksum("cdl1_" + strings.Repeat("\n", 43)))
	f.Fuzz(func(t *testing.T, s string) {
		token, err := ParseToken(s)
		if err != nil {
			requireCode(t, schemas.CodeUnauthenticated, err)
			return
		}
		require.Equal(t, s, token.Reveal())
		secret, err := base64.RawURLEncoding.DecodeString(s[5:48])
		require.NoError(t, err)
		require.Equal(t, s, withChecksum("cdl1_"+base64.RawURLEncoding.EncodeToString(secret)),
			"two spellings of one token")
	})
}
