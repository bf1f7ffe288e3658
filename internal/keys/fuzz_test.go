package keys

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// Nobody signs in this test but one identity, and it signs one message: whatever
// else verifies is a forgery.
func FuzzVerify(f *testing.F) {
	signer := fromSeed(f, bytes.Repeat([]byte{7}, SeedSize)) // the same in every process of the fuzzer
	pub, message := []byte(signer.PublicKey()), []byte("message")
	signature := signer.Sign(message)
	f.Add(pub, message, signature)
	f.Add(pub, message, make([]byte, 64))
	identity := append([]byte{1}, make([]byte, 31)...) // the point under which a signature of zeros holds
	f.Add(identity, message, append(bytes.Clone(identity), make([]byte, 32)...))
	f.Add(make([]byte, 32), []byte{}, append(make([]byte, 32), make([]byte, 32)...))
	f.Fuzz(func(t *testing.T, p, m, s []byte) {
		if Verify(p, m, s) != nil {
			return
		}
		require.Equal(t, pub, p)
		require.Equal(t, message, m)
		require.Equal(t, signature, s, "a second signature")
	})
}

// FuzzRecipient checks what a record says of an entity's keys against the binding
// the entity signed.
func FuzzRecipient(f *testing.F) {
	owner := fromSeed(f, bytes.Repeat([]byte{7}, SeedSize)).Recipient(1)
	f.Add([]byte(owner.PublicKey), []byte(owner.EncPublicKey), uint32(1), []byte(owner.Binding))
	f.Add([]byte(owner.PublicKey), []byte(owner.EncPublicKey), uint32(2), []byte(owner.Binding))
	f.Add([]byte(owner.EncPublicKey), []byte(owner.PublicKey), uint32(1), []byte(owner.Binding))
	f.Fuzz(func(t *testing.T, pub, enc []byte, seq uint32, binding []byte) {
		r := Recipient{PublicKey: pub, EncPublicKey: enc, KeySeq: seq, Binding: binding}
		if err := r.Verify(); err != nil {
			code := schemas.CodeOf(err)
			require.True(t, code == schemas.CodeInvalid || code == schemas.CodeUnauthenticated, "%v", err)
			return
		}
		require.Equal(t, owner, r)
	})
}
