// Package canonical is how memory takes and keeps JSON: one form of a value, which is hashed and
// signed (RFC 8785), and decoding that leaves nothing different from what was sent.
//
// It refuses members that appear twice, invalid UTF-8, numbers that would not be kept as they
// are, and what is nested too deep.
package canonical
