package schemas

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/google/uuid"
)

// EntityID names a participant. A human's is a slug such as "russell_wing"; an
// agent's is the lower-case hex SHA-256 of its first Ed25519 public key and
// never changes, not even when the key is rotated.
type EntityID string

// GroupID names a memory group: 1–128 of a-z 0-9 . _ -, starting with a letter
// or digit. Prefixes swarm-, staging- and ws- are given out by the node only.
type GroupID string

// ItemID names an L2 memory item.
type ItemID string

// EventID names one event in the log.
type EventID string

// AgentIDFromKey derives an agent's id from its raw 32-byte Ed25519 public key.
func AgentIDFromKey(publicKey []byte) EntityID {
	sum := sha256.Sum256(publicKey)
	return EntityID(hex.EncodeToString(sum[:]))
}

// IsAgentID reports whether s has the shape of an agent id (64 lower-case hex).
func IsAgentID(s string) bool { return len(s) == 64 && isLowerHex(s) }

func isLowerHex(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// CheckHumanID returns an error unless s is a usable human id: 2–64 of a-z 0-9
// _ -, starting with a letter, and not mistakable for an agent id or its prefix.
func CheckHumanID(s string) error {
	if len(s) < 2 || len(s) > 64 || s[0] < 'a' || s[0] > 'z' || !onlyFrom(s, "_-") {
		return Invalidf("human id %q is not a slug", s).
			Expecting("2–64 characters of a-z 0-9 _ -, starting with a letter")
	}
	if s == "node" {
		return Invalidf("human id %q stands for the node itself", s).Expecting("another name")
	}
	if len(s) >= 8 && isLowerHex(s) {
		return Invalidf("human id %q could be mistaken for an agent id prefix", s).
			Expecting("at least one character outside 0-9 a-f, or fewer than 8 characters")
	}
	return nil
}

// CheckGroupID returns an error unless s is a well-formed group id.
func CheckGroupID(s string) error {
	if len(s) < 1 || len(s) > 128 || !alnum(s[0]) || !onlyFrom(s, "._-") {
		return Invalidf("group id %q is not well formed", s).
			Expecting("1–128 characters of a-z 0-9 . _ -, starting with a letter or digit")
	}
	return nil
}

func alnum(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

func onlyFrom(s, extra string) bool {
	for i := range len(s) {
		if alnum(s[i]) {
			continue
		}
		ok := false
		for j := range len(extra) {
			ok = ok || s[i] == extra[j]
		}
		if !ok {
			return false
		}
	}
	return true
}

// NewID returns a fresh UUIDv7: unique, and in order of creation.
func NewID() string {
	id, err := uuid.NewV7()
	if err != nil { // only when the system's random source fails
		panic(fmt.Sprintf("schemas: no randomness: %v", err))
	}
	return id.String()
}
