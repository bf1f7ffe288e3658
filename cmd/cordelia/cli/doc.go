// Package cli is what the commands share: the home and the node they open, the person or
// agent they act as, commands made from operations of the catalogue, and how answers, hints
// and refusals are shown to people and to programs. It renders the outputs of ops as the
// types they are, and words their hints as commands.
//
// It refuses to open a home that is not there, to read a passphrase from an argument, and to
// print characters that hide.
package cli
