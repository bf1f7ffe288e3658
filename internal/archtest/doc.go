// Package archtest holds the architecture as data and fails when the tree leaves
// it: layers and their imports, who may use which outside package, where the
// invariants are stated, enforced and tested, and what no file may contain.
//
// It has only tests and needs nothing but the source.
package archtest
