// Package schemas holds the words every other package speaks: ids, records,
// enums, lifecycle edges, errors, the bytes that get signed, and the published
// JSON Schemas. It imports the standard library and google/uuid only and does
// no I/O, so a reader can learn the whole vocabulary here.
//
// It refuses to hold behaviour: who may do what is decided in access, what is
// stored where in the domain packages.
package schemas
