package memory

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"

	"cordelia/access"
	"cordelia/schemas"
)

// Hash is a SHA-256 of the L1 chain.
type Hash [sha256.Size]byte

// String is h in lower-case hex, as contexts show it.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ParseHash reads what String gives.
func ParseHash(text string) (h Hash, err error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(h) {
		return h, fmt.Errorf("%q is no hash", text)
	}
	return Hash(raw), nil
}

// chainLabel keeps chain hashes apart from every other hash (spec: L1 chain).
const chainLabel = "cordelia/v1/l1-chain"

// HotGenesis is where an entity's chain begins: SHA-256 of its id.
func HotGenesis(entity schemas.EntityID) Hash { return sha256.Sum256([]byte(entity)) }

// HotContentHash is the SHA-256 of a context's canonical JSON (RFC 8785)
// without ephemeral.integrity and agent.event_queue.
func HotContentHash(doc map[string]any) (Hash, error) {
	hashed := maps.Clone(doc)
	for section, field := range map[string]string{"ephemeral": "integrity", "agent": "event_queue"} {
		if object := holder(hashed, section); object != nil {
			object = maps.Clone(object)
			delete(object, field)
			hashed[section] = object
		}
	}
	canonical, err := canonicalOf(hashed)
	return sha256.Sum256(canonical), err
}

// HotChainHash is the chain's next hash, when the session that makes the count
// sessionCount ends with that content:
//
//	SHA-256("cordelia/v1/l1-chain" ‖ previous ‖ u64 big-endian count ‖ content)
//
// Every part has a fixed length, so no two different inputs share their bytes.
func HotChainHash(previous Hash, sessionCount uint64, content Hash) Hash {
	b := append([]byte(chainLabel), previous[:]...)
	b = binary.BigEndian.AppendUint64(b, sessionCount)
	return sha256.Sum256(append(b, content[:]...))
}

// VerifyHot recomputes the chain and the content hash of entity's context.
// Error: CodeConflict saying what is broken and what to do.
func VerifyHot(g access.Grant, entity schemas.EntityID) error {
	h, err := openHot(g, access.KindRead, entity)
	if err != nil {
		return err
	}
	return h.verify()
}

// HotChain is the state of an entity's chain, as a returning agent hands it in.
type HotChain struct {
	SessionCount int64
	ChainHash    Hash
	PreviousHash Hash
	Genesis      Hash
}

// ReadHotChain gives the chain of entity's context.
func ReadHotChain(g access.Grant, entity schemas.EntityID) (HotChain, error) {
	h, err := openHot(g, access.KindRead, entity)
	if err != nil {
		return HotChain{}, err
	}
	return h.state(), nil
}

func (h *hot) state() HotChain {
	return HotChain{SessionCount: h.sessions, ChainHash: h.chain, PreviousHash: h.previous,
		Genesis: HotGenesis(h.entity)}
}

// verify recomputes what the row says of itself (INV-L1-CHAIN). It does not
// repair: a context that was changed behind the node's back is not carried on
// as if nothing had happened.
func (h *hot) verify() error {
	broken := func(format string, args ...any) *schemas.Error {
		return schemas.Conflictf(format, args...).Expecting("an unbroken L1 chain")
	}
	genesis := HotGenesis(h.entity)
	switch {
	case h.sessions == 0 && (h.chain != genesis || h.previous != genesis):
		return broken("the L1 chain of %s does not begin at its genesis", h.entity).
			Try("ask the user to compare with a backup: cordelia restore --dry-run")
	case h.sessions == 1 && h.previous != genesis:
		return broken("the L1 chain of %s is broken: session 1 does not follow its genesis", h.entity).
			Try("ask the user to compare with a backup: cordelia restore --dry-run")
	case h.sessions > 0 && h.chain != HotChainHash(h.previous, uint64(h.sessions), h.content):
		return broken("the L1 chain of %s is broken: the hash of session %d does not follow from its content and "+
			"session %d",
			h.entity, h.sessions, h.sessions-1).
			Try("ask the user to compare with a backup: cordelia restore --dry-run")
	}
	if sum := sha256.Sum256(h.raw); !bytes.Equal(sum[:], h.docHash[:]) {
		return broken("the L1 content of %s was changed outside the node after its last write", h.entity).
			Try("read it with %s, then write what is right with %s; a backup shows the difference: cordelia restore "+
				"--dry-run", schemas.Tool("memory_read_hot"), schemas.Tool("memory_write_hot", "operation", "replace"))
	}
	return nil
}

// advance ends a session whose content is doc, as it is read after the end
// except for the hashes.
func (h *hot) advance(doc map[string]any) error {
	content, err := HotContentHash(doc)
	if err != nil {
		return err
	}
	h.previous, h.content = h.chain, content
	h.chain = HotChainHash(h.previous, uint64(h.sessions), content)
	return nil
}
