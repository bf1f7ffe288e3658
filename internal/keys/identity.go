package keys

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"io"

	"cordelia/schemas"
)

// SeedSize is the length of a seed in bytes.
const SeedSize = ed25519.SeedSize

const infoWrapKey = "cordelia/v1/x25519-wrap"

// Identity is an entity's private key. Copies share one secret. The zero
// Identity holds none and panics when used.
type Identity struct {
	redacted
	secret func() *secret
}

// secret keeps only the Ed25519 key, whose first half is the seed; the wrapping
// key is derived when something is opened, because crypto/ecdh cannot erase one.
type secret struct {
	private   ed25519.PrivateKey
	encPublic []byte
}

// NewIdentity makes an identity from 32 bytes of random, which is
// crypto/rand.Reader outside of tests.
func NewIdentity(random io.Reader) (Identity, error) {
	seed := make([]byte, SeedSize)
	defer clear(seed)
	if _, err := io.ReadFull(random, seed); err != nil {
		return Identity{}, fmt.Errorf("new identity: %w", err)
	}
	return FromSeed(seed)
}

// FromSeed gives the identity of a 32-byte seed. It keeps a copy; the caller
// clears its own. Any other length is CodeInvalid.
func FromSeed(seed []byte) (Identity, error) {
	if len(seed) != SeedSize {
		return Identity{}, schemas.Invalidf("a seed of %d bytes", len(seed)).Expecting("%d bytes", SeedSize)
	}
	wrap, err := wrapKey(seed)
	if err != nil {
		return Identity{}, err
	}
	s := &secret{
		private:   ed25519.NewKeyFromSeed(seed),
		encPublic: wrap.PublicKey().Bytes(),
	}
	return Identity{secret: func() *secret { return s }}, nil
}

// wrapKey derives the X25519 key that opens what is sealed to this entity.
// Separate keys from one seed: no conversion, no key used for two things.
func wrapKey(seed []byte) (*ecdh.PrivateKey, error) {
	x, err := hkdf.Key(sha256.New, seed, nil, infoWrapKey, 32)
	if err != nil {
		return nil, fmt.Errorf("derive wrapping key: %w", err)
	}
	defer clear(x)
	return ecdh.X25519().NewPrivateKey(x)
}

// PublicKey gives the raw 32-byte Ed25519 public key.
func (id Identity) PublicKey() []byte {
	return append([]byte(nil), id.secret().private[SeedSize:]...)
}

// EncPublicKey gives the raw 32-byte X25519 public key others seal to.
func (id Identity) EncPublicKey() []byte {
	return append([]byte(nil), id.secret().encPublic...)
}

// ID gives the lower-case hex SHA-256 of the public key: the id of the agent
// whose first key this is.
func (id Identity) ID() schemas.EntityID { return schemas.AgentIDFromKey(id.PublicKey()) }

// Sign signs a message made by one of the schemas types' SigningBytes (RFC
// 8032, 64 bytes).
func (id Identity) Sign(message []byte) []byte { return ed25519.Sign(id.secret().private, message) }

// EncKeyBinding signs that EncPublicKey belongs to PublicKey, as key number
// seq of the entity.
func (id Identity) EncKeyBinding(seq uint32) []byte {
	return id.Sign(schemas.EncKeyBinding{
		PublicKey:    id.PublicKey(),
		EncPublicKey: id.EncPublicKey(),
		KeySeq:       seq,
	}.SigningBytes())
}

// Recipient gives what others need to seal to this identity, as key number seq
// of the entity.
func (id Identity) Recipient(seq uint32) Recipient {
	return Recipient{
		PublicKey:    id.PublicKey(),
		EncPublicKey: id.EncPublicKey(),
		KeySeq:       seq,
		Binding:      id.EncKeyBinding(seq),
	}
}

// Erase overwrites the secret in every copy of id. Signing with it afterwards
// panics.
func (id Identity) Erase() {
	if id.secret != nil {
		s := id.secret()
		clear(s.private)
		s.private = nil
	}
}

// seed aliases the secret: callers neither keep nor change it.
func (id Identity) seed() []byte { return id.secret().private[:SeedSize] }
