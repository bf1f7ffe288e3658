// Package setup connects this machine's clients to cordelia, and takes that back: the
// commands setup and uninstall. What setup writes it notes in a manifest, by which uninstall
// puts every file back as it was, byte for byte where nothing else changed it.
//
// It refuses to touch what it did not write, and to begin half: what cannot be done is found
// before anything is written.
package setup
