// Package keys holds everything that touches a private key: identities, their
// signatures, keys sealed for a parent, key files and bearer tokens. It is the
// only importer of crypto/ed25519 and crypto/hpke.
//
// Invariants:
//   - An entity has one 32-byte seed; the Ed25519 key and, by HKDF, the X25519
//     wrapping key come from it, so there is one thing to back up and no key
//     serves two purposes.
//   - A seed or token leaves only through Seal, CreateFile, Protect and Token.Reveal. No
//     verb of fmt, no JSON and no log shows one, wherever it is nested.
//   - What was opened, from a blob or a file, has the public key it claims.
//   - Secrets are overwritten after use where Go allows it; what the standard
//     library copied for itself stays until the garbage collector reuses it.
//
// It refuses public keys under which forgeries verify, sealed keys with any
// byte changed, key files others could have read or written, and key files that
// would cost more than a gibibyte to unlock. It decides nothing about who may
// do what: that is package access.
package keys
