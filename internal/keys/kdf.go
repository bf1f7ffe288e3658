package keys

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/chacha20poly1305"
)

const kdfNone = "none"

// The cost of new key files is the second recommended option of RFC 9106
// (64 MiB, 3 passes, 4 lanes); the most a file may ask for keeps a planted one
// from exhausting the machine.
const (
	kdfMemoryKiB    = 64 << 10
	kdfPasses       = 3
	kdfLanes        = 4
	kdfSaltSize     = 16
	kdfMaxMemoryKiB = 1 << 20
	kdfMaxPasses    = 10
)

// kdf turns a passphrase into a key by argon2id.
type kdf struct {
	memoryKiB uint32
	passes    uint32
	lanes     uint8
	salt      [kdfSaltSize]byte
}

func newKDF() kdf {
	k := kdf{memoryKiB: kdfMemoryKiB, passes: kdfPasses, lanes: kdfLanes}
	rand.Read(k.salt[:])
	return k
}

// String gives the PHC string.
func (k kdf) String() string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s", argon2.Version,
		k.memoryKiB, k.passes, k.lanes, base64.RawStdEncoding.EncodeToString(k.salt[:]))
}

func (k kdf) derive(passphrase []byte) []byte {
	return argon2.IDKey(passphrase, k.salt[:], k.passes, k.memoryKiB, k.lanes, chacha20poly1305.KeySize)
}

// parseKDF reads what String wrote, and nothing else: the text must come out
// the same again.
func parseKDF(path, s string) (kdf, error) {
	var k kdf
	unknown := damaged(path, "is locked in an unknown way").Expecting("kdf none or an argon2id PHC string")
	parts := strings.Split(s, "$")
	if len(parts) != 5 {
		return kdf{}, unknown
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &k.memoryKiB, &k.passes, &k.lanes); err != nil {
		return kdf{}, unknown
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return kdf{}, unknown
	}
	copy(k.salt[:], salt) // of another length, it comes out different
	if k.String() != s || k.passes == 0 || k.lanes == 0 {
		return kdf{}, unknown
	}
	if k.memoryKiB > kdfMaxMemoryKiB || k.passes > kdfMaxPasses {
		return kdf{}, damaged(path, fmt.Sprintf("would cost too much to unlock (m=%d KiB, t=%d)", k.memoryKiB,
			k.passes)).
			Expecting("at most m=%d KiB, t=%d", kdfMaxMemoryKiB, kdfMaxPasses)
	}
	return k, nil
}
