package keys

import (
	"crypto/ed25519"
	"encoding/hex"
	"slices"

	"cordelia/schemas"
)

// Verify returns nil if sig is pub's signature of message. A public key that
// CheckPublicKey refuses is CodeInvalid, a signature that does not hold
// CodeUnauthenticated. crypto/ed25519 itself refuses non-canonical signatures.
func Verify(pub, message, sig []byte) error {
	if err := CheckPublicKey(pub); err != nil {
		return err
	}
	if !ed25519.Verify(pub, message, sig) {
		return schemas.Errorf(schemas.CodeUnauthenticated, "the signature does not hold under this public key").
			Expecting("an Ed25519 signature of exactly the bytes asked for").
			Try("sign the message again, with the key the public key belongs to")
	}
	return nil
}

// CheckPublicKey returns CodeInvalid for bytes that must not be used as an Ed25519 key: a wrong
// length, a y that is not reduced modulo p, and the points of small order, under which
// crypto/ed25519 verifies signatures made without a key. A key that is no point of the curve
// passes, and verifies nothing.
func CheckPublicKey(pub []byte) error {
	if len(pub) != ed25519.PublicKeySize {
		return schemas.Invalidf("a public key of %d bytes", len(pub)).
			Expecting("%d bytes, raw Ed25519", ed25519.PublicKeySize)
	}
	y := slices.Clone(pub)
	y[31] &= 0x7f // the sign of x
	slices.Reverse(y)
	switch y := hex.EncodeToString(y); {
	case y >= fieldPrime:
		return weakKey("is not canonical")
	case smallOrder(y):
		return weakKey("has small order")
	}
	return nil
}

// fieldPrime is p = 2^255 − 19 in big-endian hex.
const fieldPrime = "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed"

// smallOrder tells whether y, in big-endian hex, belongs to a point whose order
// divides the cofactor 8. With both signs of x, and p and p + 1 for 0 and 1,
// these are 14 encodings of eight points.
func smallOrder(y string) bool {
	switch y {
	case "0000000000000000000000000000000000000000000000000000000000000000", // order 4
		"0000000000000000000000000000000000000000000000000000000000000001", // the identity
		"7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffec", // order 2
		"05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826", // order 8
		"7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7": // order 8
		return true
	}
	return false
}

func weakKey(how string) error {
	return schemas.Invalidf("the public key %s: signatures under it prove nothing", how).
		Expecting("the public key of a freshly made Ed25519 key pair").
		Try("make a new key pair, or leave public_key out and %s makes one", schemas.Tool("agent_register"))
}
