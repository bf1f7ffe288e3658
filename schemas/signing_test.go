package schemas

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/quick"

	"github.com/stretchr/testify/require"
)

// message is any signed message.
type message interface{ SigningBytes() []byte }

// signedMessages holds one filled example of each message.
func signedMessages() []message {
	pattern := func(from byte) (b [32]byte) {
		for i := range b {
			b[i] = from + byte(i)
		}
		return b
	}
	key, enc, nonce := pattern(0x00), pattern(0x20), pattern(0x40)
	agent := AgentIDFromKey(key[:])
	return []message{
		AuthChallenge{"http://127.0.0.1:4711", "node-1", agent, 1, PurposeSession, nonce, 1_795_200_000_000_001},
		RegisterPoP{"russell_wing", key[:], nonce},
		EncKeyBinding{key[:], enc[:], 1},
		KeyRotation{agent, 1, 2, key[:], enc[:], "compromised"},
		ItemProvenance{agent, "0197a3c0-0000-7000-8000-000000000001", pattern(0x60)},
		Reintegration{"node-1", agent, 2, PurposeReintegrate, nonce, 1_795_200_000_000_001, 7, pattern(0xa0),
			pattern(0xc0)},
		ExportRecord{"node-1", "russell_wing", "russell_wing", 3, pattern(0x80)},
	}
}

// The vectors never change: signatures made by old releases must verify.
func TestSigningBytesGolden(t *testing.T) {
	var got strings.Builder
	for _, m := range signedMessages() {
		fmt.Fprintf(&got, "%T %x\n", m, m.SigningBytes())
	}
	const golden = "testdata/signing.golden"
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		require.NoError(t, os.WriteFile(golden, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), got.String(), "signed bytes of released versions stay: give the change a new label")
}

// An encoding that can be read back to exactly what went in is injective.
func TestSigningBytesReadBack(t *testing.T) {
	readsBack := func(name []byte, fields [][]byte) bool {
		label := fmt.Sprintf("cordelia/v1/%x", name)
		gotLabel, gotFields := readSigned(t, signingBytes(label, fields...))
		if gotLabel != label || len(gotFields) != len(fields) {
			return false
		}
		for i := range fields {
			if !bytes.Equal(fields[i], gotFields[i]) {
				return false
			}
		}
		return true
	}
	require.NoError(t, quick.Check(readsBack, &quick.Config{MaxCount: 2000}))
}

// Changing any one field changes the bytes, and every field of the type is in
// them: a field somebody adds and forgets to sign fails here.
func TestEveryFieldIsSigned(t *testing.T) {
	for _, m := range signedMessages() {
		_, fields := readSigned(t, m.SigningBytes())
		typ := reflect.TypeOf(m)
		require.Len(t, fields, typ.NumField(), "%T", m)
		for i := range typ.NumField() {
			changed := reflect.New(typ).Elem()
			changed.Set(reflect.ValueOf(m))
			changed.Field(i).SetZero()
			_, other := readSigned(t, changed.Interface().(message).SigningBytes())
			for j := range fields {
				require.Equal(t, i != j, bytes.Equal(fields[j], other[j]), "%T field %s", m, typ.Field(i).Name)
			}
		}
	}
}

// Bytes moved from one field into its neighbour make another message.
func TestFieldBordersAreSigned(t *testing.T) {
	nonce := [32]byte{}
	require.NotEqual(t,
		AuthChallenge{Audience: "node", NodeID: "-1", Nonce: nonce}.SigningBytes(),
		AuthChallenge{Audience: "node-", NodeID: "1", Nonce: nonce}.SigningBytes())
	require.NotEqual(t,
		EncKeyBinding{[]byte("ab"), []byte("c"), 1}.SigningBytes(),
		EncKeyBinding{[]byte("a"), []byte("bc"), 1}.SigningBytes())
}

func TestLabelsAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range signedMessages() {
		label, _ := readSigned(t, m.SigningBytes())
		require.True(t, strings.HasPrefix(label, "cordelia/v1/"), label)
		require.False(t, seen[label], "label %s is used twice", label)
		seen[label] = true
	}
}

// readSigned is the inverse of signingBytes.
func readSigned(t *testing.T, b []byte) (label string, fields [][]byte) {
	t.Helper()
	l, rest, ok := bytes.Cut(b, []byte{0})
	require.True(t, ok, "no end of label")
	for len(rest) > 0 {
		require.GreaterOrEqual(t, len(rest), 4)
		n := binary.BigEndian.Uint32(rest)
		rest = rest[4:]
		require.GreaterOrEqual(t, len(rest), int(n))
		fields, rest = append(fields, rest[:n]), rest[n:]
	}
	return string(l), fields
}
