package hot

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"

	"cordelia/access"
	"cordelia/memory/canonical"
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

// Genesis is where an entity's chain begins: SHA-256 of its id.
func Genesis(entity schemas.EntityID) Hash { return sha256.Sum256([]byte(entity)) }

// ContentHash is the SHA-256 of a context's canonical JSON (RFC 8785)
// without ephemeral.integrity and agent.event_queue.
func ContentHash(doc map[string]any) (Hash, error) {
	hashed := maps.Clone(doc)
	for section, field := range map[string]string{"ephemeral": "integrity", "agent": "event_queue"} {
		if object := holder(hashed, section); object != nil {
			object = maps.Clone(object)
			delete(object, field)
			hashed[section] = object
		}
	}
	form, err := canonical.Of(hashed)
	return sha256.Sum256(form), err
}

// ChainHash is the chain's next hash, when the session that makes the count
// sessionCount ends with that content:
//
//	SHA-256("cordelia/v1/l1-chain" ‖ previous ‖ u64 big-endian count ‖ content)
//
// Every part has a fixed length, so no two different inputs share their bytes.
func ChainHash(previous Hash, sessionCount uint64, content Hash) Hash {
	b := append([]byte(chainLabel), previous[:]...)
	b = binary.BigEndian.AppendUint64(b, sessionCount)
	return sha256.Sum256(append(b, content[:]...))
}

// Verify recomputes the chain and the content hash of entity's context.
// Error: CodeConflict saying what is broken and what to do.
func Verify(g access.Grant, entity schemas.EntityID) error {
	r, err := open(g, access.KindRead, entity)
	if err != nil {
		return err
	}
	return r.verify()
}

// Chain is the state of an entity's chain, as a returning agent hands it in.
type Chain struct {
	SessionCount int64
	ChainHash    Hash
	PreviousHash Hash
}

// ReadChain gives the chain of entity's context.
func ReadChain(g access.Grant, entity schemas.EntityID) (Chain, error) {
	r, err := open(g, access.KindRead, entity)
	if err != nil {
		return Chain{}, err
	}
	return r.state(), nil
}

func (r *row) state() Chain {
	return Chain{SessionCount: r.sessions, ChainHash: r.chain, PreviousHash: r.previous}
}

// verify recomputes what the row says of itself (INV-L1-CHAIN). It does not
// repair: a context that was changed behind the node's back is not carried on
// as if nothing had happened.
func (r *row) verify() error {
	broken := func(format string, args ...any) *schemas.Error {
		return schemas.Conflictf(format, args...).Expecting("an unbroken L1 chain")
	}
	genesis := Genesis(r.entity)
	switch {
	case r.sessions == 0 && (r.chain != genesis || r.previous != genesis):
		return broken("the L1 chain of %s does not begin at its genesis", r.entity).
			Try("ask the user to compare with a backup: cordelia restore --dry-run")
	case r.sessions == 1 && r.previous != genesis:
		return broken("the L1 chain of %s is broken: session 1 does not follow its genesis", r.entity).
			Try("ask the user to compare with a backup: cordelia restore --dry-run")
	case r.sessions > 0 && r.chain != ChainHash(r.previous, uint64(r.sessions), r.content):
		return broken("the L1 chain of %s is broken: the hash of session %d does not follow from its content and "+
			"session %d",
			r.entity, r.sessions, r.sessions-1).
			Try("ask the user to compare with a backup: cordelia restore --dry-run")
	}
	if sum := sha256.Sum256(r.raw); !bytes.Equal(sum[:], r.docHash[:]) {
		return broken("the L1 content of %s was changed outside the node after its last write", r.entity).
			Try("read it with %s, then write what is right with %s; a backup shows the difference: cordelia restore "+
				"--dry-run", schemas.Tool("memory_read_hot"),
				schemas.Tool("memory_write_hot", "operation", "replace", "data", schemas.Blank("{…}")))
	}
	return nil
}

// advance ends a session whose content is doc, as it is read after the end
// except for the hashes.
func (r *row) advance(doc map[string]any) error {
	content, err := ContentHash(doc)
	if err != nil {
		return err
	}
	r.previous, r.content = r.chain, content
	r.chain = ChainHash(r.previous, uint64(r.sessions), content)
	return nil
}
