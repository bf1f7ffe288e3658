package keys

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
)

const infoVouch = "cordelia/v1/vouch"

// Vouch gives a mark by which this identity alone can recognise its own message later:
// HMAC-SHA-256 (RFC 2104) under a separate key, derived from the seed by HKDF-SHA256 (RFC
// 5869).
func (id Identity) Vouch(message []byte) [sha256.Size]byte {
	key, err := hkdf.Key(sha256.New, id.seed(), nil, infoVouch, sha256.Size)
	if err != nil { // only for a length out of bounds
		panic("keys: " + err.Error())
	}
	defer clear(key)
	mac := hmac.New(sha256.New, key)
	mac.Write(message)
	return [sha256.Size]byte(mac.Sum(nil))
}
