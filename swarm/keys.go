package swarm

import (
	"bytes"
	"crypto/rand"
	"errors"
	"runtime"
	"sync"

	"cordelia/internal/keys"
)

// Key is the key of an agent to be made.
type Key struct {
	Identity keys.Identity
	parent   keys.Recipient
	sealed   []byte // to parent
}

// MakeKeys makes n keys and seals them to the parent, on all processors: making that many
// inside a transaction would block all writers. The caller erases them.
func MakeKeys(n int, parent keys.Recipient) ([]Key, error) {
	made, errs := make([]Key, n), make([]error, n)
	var wg sync.WaitGroup
	for worker := range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := worker; i < n; i += runtime.GOMAXPROCS(0) {
				k := &made[i]
				if k.Identity, errs[i] = keys.NewIdentity(rand.Reader); errs[i] != nil {
					continue
				}
				k.parent = parent
				k.sealed, errs[i] = keys.Seal(k.Identity, parent)
			}
		})
	}
	wg.Wait()
	return made, errors.Join(errs...)
}

// seal gives the key as sealed, anew if the parent has another key by now.
func (k *Key) seal(parent keys.Recipient) ([]byte, error) {
	if bytes.Equal(parent.EncPublicKey, k.parent.EncPublicKey) {
		return k.sealed, nil
	}
	return keys.Seal(k.Identity, parent)
}
