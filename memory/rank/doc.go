// Package rank orders the items that a search found. It is arithmetic over plain values: it
// reads no database and asks no permission. Its caller reads the items, decides which of them
// may show, and gives them as Docs; the order that comes back depends on nothing else.
//
// terms.go weighs the words of a query, soft.go and trade.go say what stands for them, score.go
// scores Docs by them, order.go, diversify.go and speaker.go correct that order, fuse.go joins it
// with an order by meaning.
//
// Invariants:
//   - INV-VOICES: no author but the reader, with the agents below it, fills the first page of a
//     search for words, or the lines shown unasked, while others' items match about as well.
//   - INV-LEXICAL: a model of meanings adds hits and orders them as far as it agrees with the
//     words; one that knows nothing costs at most a hundredth of the mean reciprocal rank.
//
// It refuses nothing: the same Docs and counts give the same order.
package rank
