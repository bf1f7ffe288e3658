package schemas

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The text is fixed: checkpoints outlive releases.
func TestCheckpointSigningBytes(t *testing.T) {
	id := AgentIDFromKey(make([]byte, 32))
	m := AuditCheckpoint{NodeID: id, TreeSize: 7, RootHash: [32]byte{1}, Lines: []string{"time now"}}
	require.Equal(t, "cordelia/"+string(id)+"\n7\nAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\ntime now\n",
		string(m.SigningBytes()))
}

// No other message has the bytes of a checkpoint: theirs hold a zero byte in the
// first line, and begin otherwise.
func TestCheckpointIsNoOtherMessage(t *testing.T) {
	start := AuditCheckpoint{NodeID: AgentIDFromKey(make([]byte, 32))}.Origin()
	for _, m := range signedMessages() {
		require.False(t, bytes.HasPrefix(m.SigningBytes(), []byte(start)))
		label, _, _ := strings.Cut(string(m.SigningBytes()), "\x00")
		require.Less(t, len(label), len(start))
	}
}
