package merkle

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/bits"
)

// Hash is a SHA-256.
type Hash = [sha256.Size]byte

// Leaf is the hash of an entry: SHA-256(0x00 ‖ entry) (RFC 6962 §2.1).
func Leaf(entry []byte) Hash { return sha256.Sum256(append([]byte{0}, entry...)) }

// node is the hash of two subtrees: SHA-256(0x01 ‖ left ‖ right).
func node(left, right Hash) Hash {
	var b [1 + 2*sha256.Size]byte
	b[0] = 1
	copy(b[1:], left[:])
	copy(b[1+sha256.Size:], right[:])
	return sha256.Sum256(b[:])
}

// Edge is the right edge of a tree: the roots of its largest complete subtrees,
// from left to right, one for each bit set in Size. With it the tree grows and
// tells its root without the leaves it has. The zero Edge is the empty tree.
type Edge struct {
	Size   int64
	Hashes []Hash
}

// Append adds a leaf.
func (e *Edge) Append(leaf Hash) {
	for size := e.Size; size&1 == 1; size >>= 1 {
		last := len(e.Hashes) - 1
		leaf = node(e.Hashes[last], leaf)
		e.Hashes = e.Hashes[:last]
	}
	e.Hashes = append(e.Hashes, leaf)
	e.Size++
}

// Root is the root of the tree, SHA-256 of nothing for an empty one.
func (e Edge) Root() Hash {
	if len(e.Hashes) == 0 {
		return sha256.Sum256(nil)
	}
	root := e.Hashes[len(e.Hashes)-1]
	for i := len(e.Hashes) - 2; i >= 0; i-- {
		root = node(e.Hashes[i], root)
	}
	return root
}

// Whole reports whether the edge has as many hashes as a tree of its size.
func (e Edge) Whole() bool {
	return e.Size >= 0 && len(e.Hashes) == bits.OnesCount64(uint64(e.Size))
}

// Spans gives the leaves that each hash of the edge covers.
func (e Edge) Spans() []Span { return spans(0, e.Size) }

// Clone is a copy that grows on its own.
func (e Edge) Clone() Edge {
	return Edge{Size: e.Size, Hashes: append([]Hash(nil), e.Hashes...)}
}

// Span is leaves From to To, the latter excluded, counted from 0.
type Span struct{ From, To int64 }

// spans divides leaves that begin at a multiple of the largest part.
func spans(from, to int64) (out []Span) {
	for from < to {
		n := int64(1) << (bits.Len64(uint64(to-from)) - 1)
		out = append(out, Span{from, from + n})
		from += n
	}
	return out
}

// Subtree computes the root over the leaves of a span.
type Subtree func(Span) (Hash, error)

var errOutside = errors.New("merkle: outside of the tree")

// split is the largest power of two below n, where a tree of n > 1 divides.
func split(n int64) int64 { return int64(1) << (bits.Len64(uint64(n-1)) - 1) }

// Inclusion proves that leaf index, counted from 0, is in the tree of size
// leaves (RFC 6962 §2.1.1), the nearest hash first.
func Inclusion(index, size int64, sub Subtree) ([]Hash, error) {
	if index < 0 || index >= size {
		return nil, fmt.Errorf("%w: leaf %d of %d", errOutside, index, size)
	}
	var other []Span // from the root down
	for s := (Span{0, size}); s.To-s.From > 1; {
		mid := s.From + split(s.To-s.From)
		if index < mid {
			other, s.To = append(other, Span{mid, s.To}), mid
		} else {
			other, s.From = append(other, Span{s.From, mid}), mid
		}
	}
	return upwards(other, sub)
}

// Consistency proves that the tree of size leaves begins with the one of the
// first older leaves (RFC 6962 §2.1.2).
func Consistency(older, size int64, sub Subtree) ([]Hash, error) {
	if older < 1 || older > size {
		return nil, fmt.Errorf("%w: %d of %d leaves", errOutside, older, size)
	}
	var other []Span
	s, left := Span{0, size}, true // left: the older tree is a subtree so far
	for s.To != older {
		mid := s.From + split(s.To-s.From)
		if older <= mid {
			other, s.To = append(other, Span{mid, s.To}), mid
		} else {
			other, s.From, left = append(other, Span{s.From, mid}), mid, false
		}
	}
	if !left {
		other = append(other, s)
	}
	return upwards(other, sub)
}

func upwards(spans []Span, sub Subtree) ([]Hash, error) {
	proof := make([]Hash, 0, len(spans))
	for i := len(spans) - 1; i >= 0; i-- {
		h, err := sub(spans[i])
		if err != nil {
			return nil, err
		}
		proof = append(proof, h)
	}
	return proof, nil
}
