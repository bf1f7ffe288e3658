// Package text reads plain text for the memory's search: words and their stems,
// triples of letters for spelling, the speaker and the date in front of a note,
// and the kinds of questions that a text could answer.
//
// It is pure: it knows no items, no store and no caller. The same input gives the
// same output on each machine, and any bytes are valid input.
package text
