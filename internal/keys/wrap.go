package keys

import (
	"bytes"
	"crypto/ecdh"
	"crypto/hpke"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"fmt"

	"cordelia/schemas"
)

// A sealed key, private_key_encrypted in the records:
//
//	 0   4  magic "CDKW"
//	 4   1  version 1
//	 5   1  suite 1: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, ChaCha20-Poly1305
//	 6   4  the parent's key sequence, u32 big-endian
//	10   8  SHA-256 of the parent's X25519 public key, its first 8 bytes
//	18  32  key id of the agent
//	50  32  HPKE encapsulated key
//	82  48  the agent's seed, encrypted, and tag
//
// The first 50 bytes are the associated data. A key id is the SHA-256 of an
// Ed25519 public key. The HPKE info binds the key ids of parent and agent, not
// their entity ids: a human's entity id is a slug, and an entity id outlives the
// key that opens the blob.
const (
	wrapMagic    = "CDKW"
	wrapVersion  = 1
	wrapSuite    = 1
	atKeySeq     = 6
	atRecipient  = 10
	atAgent      = 18
	wrapHeader   = 50
	wrapEncapped = 82

	// SealedSize is the length of a sealed key in bytes.
	SealedSize = 130

	infoKeyWrap = "cordelia/v1/keywrap"
)

// Recipient is the public key to which another key is sealed: the newest key in an entity's
// record.
type Recipient struct {
	PublicKey    []byte // raw Ed25519
	EncPublicKey []byte // raw X25519
	KeySeq       uint32 // number of the key, from 1
	Binding      []byte // signature of schemas.EncKeyBinding under PublicKey
}

// Verify returns nil if the owner of r.PublicKey vouches for r.EncPublicKey;
// its errors are those of the function Verify.
func (r Recipient) Verify() error {
	return Verify(r.PublicKey, schemas.EncKeyBinding{
		PublicKey:    r.PublicKey,
		EncPublicKey: r.EncPublicKey,
		KeySeq:       r.KeySeq,
	}.SigningBytes(), r.Binding)
}

// Seal encrypts the agent's seed so that only parent opens it (HPKE base mode, RFC 9180), in
// SealedSize bytes. It verifies parent first: an attacker that swaps the encryption key in a
// record must not receive the agent's key.
func Seal(agent Identity, parent Recipient) ([]byte, error) {
	if err := parent.Verify(); err != nil {
		return nil, fmt.Errorf("seal key: %w", err)
	}
	recipient, err := hpke.DHKEM(ecdh.X25519()).NewPublicKey(parent.EncPublicKey)
	if err != nil {
		return nil, badRecipient(err)
	}
	agentID := keyID(agent.PublicKey())
	enc, sender, err := hpke.NewSender(recipient, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(),
		wrapInfo(parent.PublicKey, agentID))
	if err != nil { // a low-order point
		return nil, badRecipient(err)
	}
	blob := append(make([]byte, 0, SealedSize), wrapMagic...)
	blob = append(blob, wrapVersion, wrapSuite)
	blob = binary.BigEndian.AppendUint32(blob, parent.KeySeq)
	blob = append(blob, recipientID(parent.EncPublicKey)...)
	blob = append(blob, agentID[:]...)
	body, err := sender.Seal(blob, agent.seed())
	if err != nil {
		return nil, fmt.Errorf("seal key: %w", err)
	}
	return append(append(blob, enc...), body...), nil
}

// Open decrypts a sealed key with the parent's. Base mode does not say who
// sealed it, so the agent's key id is computed again from the seed: a stranger's
// key under an agent's name is refused. Every refusal is CodeInvalid.
func Open(parent Identity, blob []byte) (Identity, error) {
	switch {
	case len(blob) != SealedSize || string(blob[:len(wrapMagic)]) != wrapMagic:
		return Identity{}, schemas.Invalidf("this is not a sealed key").
			Expecting("%d bytes that begin with %s", SealedSize, wrapMagic).
			Try("pass private_key_encrypted as %s returned it", schemas.Tool("agent_register"))
	case blob[4] != wrapVersion || blob[5] != wrapSuite:
		return Identity{}, schemas.Invalidf("the sealed key has version %d, suite %d", blob[4], blob[5]).
			Expecting("version %d, suite %d", wrapVersion, wrapSuite).
			Try("upgrade cordelia, or register the agent again")
	case !bytes.Equal(blob[atRecipient:atAgent], recipientID(parent.secret().encPublic)):
		return Identity{}, schemas.Invalidf("the key is sealed to another key than the one it is opened with").
			Expecting("key number %d of the agent's parent", binary.BigEndian.Uint32(blob[atKeySeq:])).
			Try("run `cordelia key unwrap` as the agent's parent")
	}
	wrap, err := wrapKey(parent.seed())
	if err != nil {
		return Identity{}, err
	}
	private, err := hpke.NewDHKEMPrivateKey(wrap)
	if err != nil {
		return Identity{}, fmt.Errorf("open sealed key: %w", err)
	}
	agentID := [sha256.Size]byte(blob[atAgent:wrapHeader])
	opener, err := hpke.NewRecipient(blob[wrapHeader:wrapEncapped], private,
		hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), wrapInfo(parent.PublicKey(), agentID))
	if err != nil {
		return Identity{}, altered(err)
	}
	seed, err := opener.Open(blob[:wrapHeader], blob[wrapEncapped:])
	if err != nil {
		return Identity{}, altered(err)
	}
	defer clear(seed)
	agent, err := FromSeed(seed)
	if err != nil {
		return Identity{}, altered(err)
	}
	if got := keyID(agent.PublicKey()); subtle.ConstantTimeCompare(got[:], agentID[:]) != 1 {
		agent.Erase()
		return Identity{}, altered(nil)
	}
	return agent, nil
}

func badRecipient(err error) error {
	return schemas.Invalidf("the parent's encryption key is not usable").
		Expecting("a raw X25519 public key").
		Try("rotate the parent's key").Because(err)
}

func altered(err error) error {
	return schemas.Invalidf("the sealed key does not open: it was altered, or is not this agent's").
		Try("pass private_key_encrypted whole, as %s returned it, or register the agent again",
			schemas.Tool("agent_register")).Because(err)
}

func keyID(public []byte) [sha256.Size]byte { return sha256.Sum256(public) }

func recipientID(encPublic []byte) []byte {
	sum := sha256.Sum256(encPublic)
	return sum[:atAgent-atRecipient]
}

func wrapInfo(parentPublic []byte, agentID [sha256.Size]byte) []byte {
	parentID := keyID(parentPublic)
	info := append([]byte(infoKeyWrap), 0)
	info = append(info, parentID[:]...)
	return append(info, agentID[:]...)
}
