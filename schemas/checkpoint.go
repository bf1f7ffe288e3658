package schemas

import (
	"encoding/base64"
	"strconv"
	"strings"
)

// AuditCheckpoint is the node's word that its audit tree (RFC 6962) had this
// root at this size. It alone is signed as text, that of a C2SP signed note
// (tlog-checkpoint), which other tools verify. A node id is 64 hex digits, so no
// label of another message begins like it.
type AuditCheckpoint struct {
	NodeID   EntityID
	TreeSize int64 // leaves
	RootHash [32]byte
	Lines    []string // anything more, without line breaks
}

// Origin names the tree and the key that signs for it.
func (m AuditCheckpoint) Origin() string { return "cordelia/" + string(m.NodeID) }

// SigningBytes gives the bytes to sign.
func (m AuditCheckpoint) SigningBytes() []byte {
	head := []string{m.Origin(), strconv.FormatInt(m.TreeSize, 10), base64.StdEncoding.EncodeToString(m.RootHash[:])}
	return []byte(strings.Join(append(head, m.Lines...), "\n") + "\n")
}
