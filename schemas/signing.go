package schemas

import "encoding/binary"

// Every signed message is one of the types below or an AuditCheckpoint, and SigningBytes is the
// only way to its bytes: the label, a zero byte, then each field as a u32 big-endian length and
// its bytes (numbers are 8 bytes big-endian). A label names one message and holds no zero byte,
// and every field carries its length, so two different messages never have the same bytes and a
// signature made for one purpose is worth nothing for another.
//
// The bytes are pinned by golden vectors. A message that has to change gets a
// new label; the old one stays as it is, because signatures outlive releases.
const (
	labelAuthChallenge  = "cordelia/v1/auth"
	labelRegisterPoP    = "cordelia/v1/register-pop"
	labelEncKeyBinding  = "cordelia/v1/enc-key-binding"
	labelKeyRotation    = "cordelia/v1/key-rotation"
	labelItemProvenance = "cordelia/v1/item-provenance"
	labelReintegration  = "cordelia/v1/reintegration"
	labelExportRecord   = "cordelia/v1/export-record"
)

// AuthPurpose is what a proof of identity is good for.
type AuthPurpose string

const (
	PurposeSession     AuthPurpose = "session"     // a bearer token on this node
	PurposeReintegrate AuthPurpose = "reintegrate" // coming back from autonomous work
	PurposeCrossNode   AuthPurpose = "cross-node"  // speaking to another node
)

// AuthChallenge is what a caller signs to prove who it is (seed §1.4). It names
// the node, so that a signature fetched by one node cannot be replayed to
// another.
type AuthChallenge struct {
	Audience         string   // who will accept the token
	NodeID           string   // the node that made the challenge
	AgentID          EntityID // who answers it; may be a human
	KeySeq           uint32   // which of the entity's keys signs, from 1; 0 where the signature alone says so
	Purpose          AuthPurpose
	Nonce            [32]byte // single use
	ExpiresUnixMicro int64    // µs since 1970 UTC
}

// SigningBytes gives the bytes to sign.
func (m AuthChallenge) SigningBytes() []byte {
	return signingBytes(labelAuthChallenge,
		[]byte(m.Audience), []byte(m.NodeID), []byte(m.AgentID), u64(uint64(m.KeySeq)),
		[]byte(m.Purpose), m.Nonce[:], u64(uint64(m.ExpiresUnixMicro)))
}

// RegisterPoP proves that an agent which registers its own public key holds the private key.
type RegisterPoP struct {
	ParentID  EntityID
	PublicKey []byte // raw Ed25519, 32 bytes
	Nonce     [32]byte
}

// SigningBytes gives the bytes to sign.
func (m RegisterPoP) SigningBytes() []byte {
	return signingBytes(labelRegisterPoP, []byte(m.ParentID), m.PublicKey, m.Nonce[:])
}

// EncKeyBinding ties an entity's encryption key to its signing key. Code that seals to
// EncPublicKey checks it first.
type EncKeyBinding struct {
	PublicKey    []byte // raw Ed25519, 32 bytes; signs
	EncPublicKey []byte // raw X25519, 32 bytes
	KeySeq       uint32 // of both keys, from 1
}

// SigningBytes gives the bytes to sign.
func (m EncKeyBinding) SigningBytes() []byte {
	return signingBytes(labelEncKeyBinding, m.PublicKey, m.EncPublicKey, u64(uint64(m.KeySeq)))
}

// KeyRotation replaces an entity's keys; its id stays. The old key and the
// parent sign it, or the parent alone with a reason.
type KeyRotation struct {
	EntityID        EntityID
	OldSeq          uint32
	NewSeq          uint32
	NewPublicKey    []byte // raw Ed25519, 32 bytes
	NewEncPublicKey []byte // raw X25519, 32 bytes
	Reason          string
}

// SigningBytes gives the bytes to sign.
func (m KeyRotation) SigningBytes() []byte {
	return signingBytes(labelKeyRotation,
		[]byte(m.EntityID), u64(uint64(m.OldSeq)), u64(uint64(m.NewSeq)),
		m.NewPublicKey, m.NewEncPublicKey, []byte(m.Reason))
}

// ItemProvenance is the author's word that it wrote this content as this item.
type ItemProvenance struct {
	Author      EntityID
	ItemID      ItemID
	ContentHash [32]byte // SHA-256 of the content
}

// SigningBytes gives the bytes to sign.
func (m ItemProvenance) SigningBytes() []byte {
	return signingBytes(labelItemProvenance, []byte(m.Author), []byte(m.ItemID), m.ContentHash[:])
}

// ExportRecord is the signer's word that this node held a record of an export exactly so
// when it was written: content, author, provenance, place and all.
type ExportRecord struct {
	NodeID string   // the node that wrote the export
	Entity EntityID // whose export it is
	Signer EntityID // the person, or the node itself
	KeySeq uint32   // which of the signer's keys signs, from 1
	Record [32]byte // SHA-256 of the record as canonical JSON (RFC 8785), without its signature
}

// SigningBytes gives the bytes to sign.
func (m ExportRecord) SigningBytes() []byte {
	return signingBytes(labelExportRecord,
		[]byte(m.NodeID), []byte(m.Entity), []byte(m.Signer), u64(uint64(m.KeySeq)), m.Record[:])
}

// Reintegration is the word of an agent that comes back (seed §6.2): where its L1
// chain stands and what it brings, for one challenge of one node.
type Reintegration struct {
	NodeID           string
	AgentID          EntityID
	KeySeq           uint32
	Purpose          AuthPurpose // PurposeReintegrate
	Nonce            [32]byte    // of the challenge
	ExpiresUnixMicro int64
	SessionCount     uint64
	ChainHash        [32]byte
	Memories         [32]byte // SHA-256 of the list of memories as canonical JSON (RFC 8785), empty fields left out
}

// SigningBytes gives the bytes to sign.
func (m Reintegration) SigningBytes() []byte {
	return signingBytes(labelReintegration,
		[]byte(m.NodeID), []byte(m.AgentID), u64(uint64(m.KeySeq)), []byte(m.Purpose), m.Nonce[:],
		u64(uint64(m.ExpiresUnixMicro)), u64(m.SessionCount), m.ChainHash[:], m.Memories[:])
}

func signingBytes(label string, fields ...[]byte) []byte {
	b := append([]byte(label), 0)
	for _, f := range fields {
		b = binary.BigEndian.AppendUint32(b, uint32(len(f)))
		b = append(b, f...)
	}
	return b
}

func u64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
