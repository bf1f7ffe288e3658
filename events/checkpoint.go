package events

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"cordelia/internal/keys"
	"cordelia/internal/merkle"
	"cordelia/schemas"
)

// MaxCheckpoint is how many bytes a checkpoint may have.
const MaxCheckpoint = 8 << 10

// Checkpoint is a signed statement of what the audit record was: a C2SP signed
// note whose text is origin, size and root (tlog-checkpoint) and these lines:
//
//	time   when it was signed, by the node's clock
//	key    the node's public key; its SHA-256 is the node id in the origin
//	leaf   hash of the newest entry
//	edge   the right edge of the tree, from which the next one grows
//	after  SHA-256 of the checkpoint before it in the file
//	fork   from, until, last: it does not continue the checkpoint before it,
//	       because a restore put back what was up to entry from, and left entries
//	       until until, whose hash is last (0 and - where that is unknown)
//	break  it does not continue the checkpoint before it, and nothing says why
//
// after is left out of the first, and at most one of fork and break is there.
type Checkpoint struct {
	Node  schemas.EntityID
	Edge  merkle.Edge // size and root
	At    int64       // µs UTC
	Key   []byte
	Leaf  merkle.Hash
	After merkle.Hash // zero for the first
	Fork  *Fork
	Break bool

	raw []byte // as it was read or signed
}

// Fork is a restore as the record tells it.
type Fork struct {
	From  int64       // last entry both branches share
	Until int64       // last entry of the branch that was left; 0 = not known
	Last  merkle.Hash // its hash
}

// Size is how many entries the checkpoint covers.
func (c Checkpoint) Size() int64 { return c.Edge.Size }

// Time is when it was signed.
func (c Checkpoint) Time() time.Time { return time.UnixMicro(c.At).UTC() }

// RootText is the root of the tree, in base64.
func (c Checkpoint) RootText() string {
	root := c.Edge.Root()
	return encode(root[:])
}

// Text is the whole note.
func (c Checkpoint) Text() string { return string(c.raw) }

// id names the checkpoint for the one after it.
func (c Checkpoint) id() merkle.Hash { return sha256.Sum256(c.raw) }

func encode(b []byte) string { return base64.StdEncoding.EncodeToString(b) }

func (c Checkpoint) message() schemas.AuditCheckpoint {
	edge := "edge"
	for _, h := range c.Edge.Hashes {
		edge += " " + encode(h[:])
	}
	lines := []string{"time " + c.Time().Format(stampLayout), "key " + encode(c.Key), "leaf " + encode(c.Leaf[:]), edge}
	if c.After != (merkle.Hash{}) {
		lines = append(lines, "after "+encode(c.After[:]))
	}
	switch {
	case c.Fork != nil && c.Fork.Until == 0:
		lines = append(lines, fmt.Sprintf("fork %d 0 -", c.Fork.From))
	case c.Fork != nil:
		lines = append(lines, fmt.Sprintf("fork %d %d %s", c.Fork.From, c.Fork.Until, encode(c.Fork.Last[:])))
	case c.Break:
		lines = append(lines, "break")
	}
	return schemas.AuditCheckpoint{NodeID: c.Node, TreeSize: c.Edge.Size, RootHash: c.Edge.Root(), Lines: lines}
}

const stampLayout = "2006-01-02T15:04:05.000000Z"

// ed25519 is the kind of signature in a signed note.
const ed25519 = 1

// hint is what a note's signature begins with, to find its key.
func hint(origin string, key []byte) []byte {
	sum := sha256.Sum256(append([]byte(origin+"\n"), append([]byte{ed25519}, key...)...))
	return sum[:4]
}

func (c *Checkpoint) sign(by keys.Identity) {
	c.Key, c.Node = by.PublicKey(), by.ID()
	m := c.message()
	text := m.SigningBytes()
	c.raw = fmt.Appendf(text, "\n— %s %s\n", m.Origin(), encode(append(hint(m.Origin(), c.Key), by.Sign(text)...)))
}

// ParseCheckpoint reads one checkpoint and verifies its signature by the key it
// names, and that its node id is that key's. Whose key that should be it cannot
// know.
func ParseCheckpoint(raw []byte) (Checkpoint, error) {
	c, err := parseCheckpoint(raw)
	if err != nil {
		return Checkpoint{}, fmt.Errorf("checkpoint: %w", err)
	}
	return c, nil
}

func parseCheckpoint(raw []byte) (c Checkpoint, err error) {
	if len(raw) > MaxCheckpoint {
		return c, fmt.Errorf("%d bytes are too many", len(raw))
	}
	text, signature, ok := strings.Cut(string(raw), "\n\n— ")
	if !ok {
		return c, fmt.Errorf("it has no signature")
	}
	lines := strings.Split(text, "\n")
	if len(lines) < 7 {
		return c, fmt.Errorf("it has %d lines, at least 7 are needed", len(lines))
	}
	node, ok := strings.CutPrefix(lines[0], "cordelia/")
	if !ok || !schemas.IsAgentID(node) {
		return c, fmt.Errorf("its origin is not cordelia/ and a node id")
	}
	c.Node = schemas.EntityID(node)
	if c.Edge.Size, err = strconv.ParseInt(lines[1], 10, 64); err != nil || c.Edge.Size < 1 {
		return c, fmt.Errorf("its size is no number of entries")
	}
	if err := c.parseLines(lines[3:]); err != nil {
		return c, err
	}
	// What encodes to the same bytes was read right, the root among it.
	m := c.message()
	if string(m.SigningBytes()) != text+"\n" {
		return c, fmt.Errorf("its lines do not belong together")
	}
	if schemas.AgentIDFromKey(c.Key) != c.Node {
		return c, fmt.Errorf("its key is not that of its node")
	}
	name, encoded, _ := strings.Cut(strings.TrimSuffix(signature, "\n"), " ")
	sig, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || name != m.Origin() || len(sig) < 4 || !bytes.Equal(sig[:4], hint(name, c.Key)) {
		return c, fmt.Errorf("its signature cannot be read")
	}
	if err := keys.Verify(c.Key, m.SigningBytes(), sig[4:]); err != nil {
		return c, fmt.Errorf("its signature does not hold: %w", err)
	}
	c.raw = bytes.Clone(raw)
	if canonical := text + "\n\n— " + name + " " + encode(sig) + "\n"; canonical != string(raw) {
		return c, fmt.Errorf("there is something after its signature")
	}
	return c, nil
}

// parseLines reads what follows the root.
func (c *Checkpoint) parseLines(lines []string) error {
	for i, line := range lines {
		name, value, _ := strings.Cut(line, " ")
		var err error
		switch {
		case i == 0 && name == "time":
			var at time.Time
			at, err = time.Parse(stampLayout, value)
			c.At = at.UnixMicro()
		case i == 1 && name == "key":
			c.Key, err = base64.StdEncoding.Strict().DecodeString(value)
		case i == 2 && name == "leaf":
			c.Leaf, err = parseHash(value)
		case i == 3 && name == "edge":
			for _, text := range strings.Fields(value) {
				h, bad := parseHash(text)
				if bad != nil {
					err = bad
				}
				c.Edge.Hashes = append(c.Edge.Hashes, h)
			}
			if !c.Edge.Whole() {
				err = fmt.Errorf("%d hashes for %d entries", len(c.Edge.Hashes), c.Edge.Size)
			}
		case i == 4 && name == "after":
			c.After, err = parseHash(value)
		case i > 3 && i == len(lines)-1 && name == "fork":
			c.Fork, err = parseFork(value)
		case i > 3 && i == len(lines)-1 && line == "break":
			c.Break = true
		default:
			err = fmt.Errorf("not expected here")
		}
		if err != nil {
			return fmt.Errorf("its line %d is wrong: %w", i+4, err)
		}
	}
	return nil
}

func parseHash(text string) (h merkle.Hash, err error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	if err == nil && len(raw) != len(h) {
		err = fmt.Errorf("a hash has %d bytes", len(h))
	}
	copy(h[:], raw)
	return h, err
}

func parseFork(value string) (*Fork, error) {
	var f Fork
	var last string
	if _, err := fmt.Sscanf(value, "%d %d %s", &f.From, &f.Until, &last); err != nil {
		return nil, err
	}
	var err error
	if last != "-" {
		f.Last, err = parseHash(last)
	}
	return &f, err
}

// leafHash is a hash as the database holds it.
func leafHash(raw []byte) (h merkle.Hash, err error) {
	if len(raw) != len(h) {
		return h, fmt.Errorf("a leaf hash has %d bytes", len(raw))
	}
	copy(h[:], raw)
	return h, nil
}
