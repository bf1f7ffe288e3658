package keys

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"cordelia/schemas"
)

// A token is "cdl1_", 32 secret bytes, "_" and a CRC-32 (IEEE) of all before
// that "_", both in unpadded base64url. Prefix and checksum let secret scanners
// tell a token from noise; the checksum proves nothing.
const (
	tokenPrefix = "cdl1_"
	tokenBody   = len(tokenPrefix) + 43 // where the second "_" stands
	tokenSize   = tokenBody + 1 + 6

	infoToken = "cordelia/v1/token"
)

// Token is a bearer token. The node stores only its Hash.
type Token struct {
	redacted
	text func() string
}

// NewToken makes the token that answers a verified challenge. Its secret comes from 32 bytes of
// random and the caller's signature of message by HKDF-SHA256 (RFC 5869): bound to the caller's
// key, and unknown to a process that saw only the signature. random is crypto/rand.Reader
// outside of tests.
func NewToken(random io.Reader, message, signature []byte) (Token, error) {
	ikm := make([]byte, 32, 32+len(signature))
	defer func() { clear(ikm) }()
	if _, err := io.ReadFull(random, ikm); err != nil {
		return Token{}, fmt.Errorf("new token: %w", err)
	}
	ikm = append(ikm, signature...)
	salt := sha256.Sum256(message)
	secret, err := hkdf.Key(sha256.New, ikm, salt[:], infoToken, 32)
	if err != nil {
		return Token{}, fmt.Errorf("new token: %w", err)
	}
	defer clear(secret)
	text := tokenPrefix + base64.RawURLEncoding.EncodeToString(secret)
	text += "_" + tokenChecksum(text)
	return tokenOf(text), nil
}

// ParseToken reads a token a caller presented. It checks shape and checksum
// only; whether the token is good is a look-up of its Hash. The error is
// CodeUnauthenticated and does not repeat the input.
func ParseToken(s string) (Token, error) {
	if len(s) != tokenSize || s[:len(tokenPrefix)] != tokenPrefix || s[tokenBody] != '_' ||
		s[tokenBody+1:] != tokenChecksum(s[:tokenBody]) || !is32Bytes(s[len(tokenPrefix):tokenBody]) {
		return Token{}, schemas.Errorf(schemas.CodeUnauthenticated, "this is not a token").
			Expecting("%s, 43 characters, _ and 6 characters, complete and unchanged", tokenPrefix).
			Try("answer a new challenge to get a token")
	}
	return tokenOf(s), nil
}

func tokenOf(text string) Token { return Token{text: func() string { return text }} }

// Reveal gives the token's text, for the one answer that hands it out.
func (t Token) Reveal() string { return t.text() }

// Hash gives the SHA-256 of the token's text, under which the node keeps it.
func (t Token) Hash() [sha256.Size]byte { return sha256.Sum256([]byte(t.text())) }

func tokenChecksum(s string) string {
	sum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(s)))
	return base64.RawURLEncoding.EncodeToString(sum)
}

func is32Bytes(s string) bool {
	// the decoder skips line breaks, so the length counts too
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return err == nil && len(b) == 32
}
