// Package merkle is the tree of RFC 6962 over hashes of leaves: its root, kept
// up with the few hashes at its right edge, and the proofs that one leaf is in it
// and that one tree begins with another. It is pure: it reads no file and knows
// no entry.
//
// It refuses proofs of the wrong length and indexes outside of the tree.
package merkle
