package merkle

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"
)

// reference is the same tree by another implementation.
type reference struct {
	leaves []Hash
	hashes []tlog.Hash // as tlog stores them
}

func (r *reference) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, at := range indexes {
		out[i] = r.hashes[at]
	}
	return out, nil
}

func (r *reference) grow(t *testing.T, n int) {
	for len(r.leaves) < n {
		entry := fmt.Append(nil, "entry ", len(r.leaves))
		stored, err := tlog.StoredHashes(int64(len(r.leaves)), entry, r)
		require.NoError(t, err)
		r.hashes = append(r.hashes, stored...)
		r.leaves = append(r.leaves, Leaf(entry))
	}
}

func (r *reference) sub(s Span) (Hash, error) {
	var e Edge
	for _, l := range r.leaves[s.From:s.To] {
		e.Append(l)
	}
	return e.Root(), nil
}

func asTlog(hashes []Hash) []tlog.Hash {
	out := []tlog.Hash{}
	for _, h := range hashes {
		out = append(out, tlog.Hash(h))
	}
	return out
}

func TestRootsAreThoseOfTlog(t *testing.T) {
	r := &reference{}
	var e Edge
	for n := range 300 {
		r.grow(t, n)
		want, err := tlog.TreeHash(int64(n), r)
		require.NoError(t, err)
		require.Equal(t, want, tlog.Hash(e.Root()), "%d leaves", n)
		require.True(t, e.Whole())
		for i, s := range e.Spans() {
			h, err := r.sub(s)
			require.NoError(t, err)
			require.Equal(t, h, e.Hashes[i])
		}
		r.grow(t, n+1)
		e.Append(r.leaves[n])
	}
}

func TestProofsAreThoseOfTlog(t *testing.T) {
	r := &reference{}
	r.grow(t, 700)
	random := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		size := random.Int64N(int64(len(r.leaves))) + 1
		index := random.Int64N(size)
		root, err := tlog.TreeHash(size, r)
		require.NoError(t, err)

		proof, err := Inclusion(index, size, r.sub)
		require.NoError(t, err)
		want, err := tlog.ProveRecord(size, index, r)
		require.NoError(t, err)
		require.Equal(t, []tlog.Hash(want), asTlog(proof), "leaf %d of %d", index, size)
		require.NoError(t, CheckInclusion(proof, index, size, r.leaves[index], Hash(root)))
		wrongOnes(proof, random, func(p []Hash) {
			require.Error(t, CheckInclusion(p, index, size, r.leaves[index], Hash(root)))
		})
		require.Error(t, CheckInclusion(proof, index, size, r.leaves[(index+1)%700], Hash(root)))

		older := random.Int64N(size) + 1
		was, err := tlog.TreeHash(older, r)
		require.NoError(t, err)
		proof, err = Consistency(older, size, r.sub)
		require.NoError(t, err)
		grown, err := tlog.ProveTree(size, older, r)
		require.NoError(t, err)
		require.Equal(t, []tlog.Hash(grown), asTlog(proof), "%d of %d", older, size)
		require.NoError(t, CheckConsistency(proof, older, size, Hash(was), Hash(root)))
		wrongOnes(proof, random, func(p []Hash) {
			require.Error(t, CheckConsistency(p, older, size, Hash(was), Hash(root)))
		})
		if older < size {
			require.Error(t, CheckConsistency(proof, older, size, Hash(root), Hash(root)))
		}
	}
}

// wrongOnes tries proofs that are not quite p.
func wrongOnes(p []Hash, random *rand.Rand, try func([]Hash)) {
	try(append(append([]Hash{}, p...), Hash{}))
	if len(p) == 0 {
		return
	}
	try(p[1:])
	try(p[:len(p)-1])
	flipped := append([]Hash{}, p...)
	flipped[random.IntN(len(p))][random.IntN(32)] ^= 1
	try(flipped)
}

func TestOutsideOfTheTree(t *testing.T) {
	r := &reference{}
	r.grow(t, 4)
	for _, at := range []int64{-1, 4} {
		_, err := Inclusion(at, 4, r.sub)
		require.ErrorIs(t, err, errOutside)
		require.ErrorIs(t, CheckInclusion(nil, at, 4, Hash{}, Hash{}), errOutside)
	}
	for _, older := range []int64{0, 5} {
		_, err := Consistency(older, 4, r.sub)
		require.ErrorIs(t, err, errOutside)
		require.ErrorIs(t, CheckConsistency(nil, older, 4, Hash{}, Hash{}), errOutside)
	}
}
