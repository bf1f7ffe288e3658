package embedding

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
)

// BenchmarkSigns scans the signs of one scope: linear in what the caller may
// read, and in nothing else.
func BenchmarkSigns(b *testing.B) {
	const dim = 384
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{1000, 100_000} {
		x := index{model: 1, words: dim / 64, scopes: map[int64]*signs{1: {}}}
		s := x.scopes[1]
		for i := range size {
			s.items, s.seqs = append(s.items, int64(i+1)), append(s.seqs, int64(i+1))
			for range x.words {
				s.words = append(s.words, r.Uint64())
			}
		}
		vector := make([]float32, dim)
		for i := range vector {
			vector[i] = float32(r.NormFloat64())
		}
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			for b.Loop() {
				x.nearest([]int64{1}, vector, 1<<62, 500)
			}
		})
	}
}

// Scopes that were not searched lately make room.
func TestSignsAreBounded(t *testing.T) {
	x := index{model: 1, words: 1, scopes: map[int64]*signs{}, clock: 9}
	for i := range int64(5) {
		x.scopes[i+1] = &signs{items: make([]int64, 1<<20), seqs: make([]int64, 1<<20), words: make([]uint64, 1<<20),
			used: i + 5}
	}
	x.shrink() // 5 × 24 MiB fit
	require.Len(t, x.scopes, 5)
	x.scopes[6] = &signs{items: make([]int64, 1<<20), seqs: make([]int64, 1<<20), words: make([]uint64, 1<<20), used: 9}
	x.shrink()
	require.NotContains(t, x.scopes, int64(1))
	require.Len(t, x.scopes, 5)
	for _, s := range x.scopes {
		s.used = 9
		s.words = make([]uint64, 8<<20)
	}
	x.shrink()
	require.Len(t, x.scopes, 5, "never those in use")
}

// A search sees no vector that was stored after it began.
func TestNearestUpTo(t *testing.T) {
	x := index{model: 1, words: 1, scopes: map[int64]*signs{1: {items: []int64{7, 8}, seqs: []int64{1, 2},
		words: []uint64{1, 3}}}}
	vector := make([]float32, 64)
	vector[0] = 1
	require.Equal(t, []Spot{{7, 1}, {8, 2}}, x.nearest([]int64{1}, vector, 2, 10))
	require.Equal(t, []Spot{{7, 1}}, x.nearest([]int64{1}, vector, 1, 10))
	require.Empty(t, x.nearest([]int64{1}, vector, 0, 10), "none was there at the beginning")
	require.Empty(t, x.nearest([]int64{1}, make([]float32, 65), 2, 10), "of another length")
}

// Signs are added in order, each once, and never with a gap before them.
func TestSignsAreAddedInOrder(t *testing.T) {
	read := func(seqs ...int64) *signs {
		s := &signs{}
		for _, n := range seqs {
			s.items, s.seqs, s.words = append(s.items, 10*n), append(s.seqs, n), append(s.words, uint64(n))
		}
		return s
	}
	s := &signs{}
	s.add(read(4, 5), 3, 1)
	require.Empty(t, s.seqs, "what came before is not there any more")
	s.add(read(1, 3), 0, 1)
	s.add(read(3, 4, 5), 1, 1)
	require.Equal(t, read(1, 3, 4, 5), s, "another search was faster with 3")
}

// The scan reads the index alone, and only the scopes asked for; the queue is read by key.
func TestPlans(t *testing.T) {
	s, err := store.Open(t.Context(), store.Options{Path: filepath.Join(t.TempDir(), "cordelia.db"),
		Durability: store.Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	plan := func(query string, args int) string {
		var steps []string
		require.NoError(t, s.Read(context.Background(), func(tx *store.Tx) error {
			rows, err := tx.Query("EXPLAIN QUERY PLAN "+query, make([]any, args)...)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var id, parent, unused int
				var detail string
				if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
					return err
				}
				steps = append(steps, detail)
			}
			return rows.Err()
		}), query)
		return strings.Join(steps, "\n")
	}
	for query, args := range map[string]int{selectNewer: 2, selectSigns: 3} {
		read := plan(query, args)
		require.Contains(t, read, "USING COVERING INDEX embeddings_scan (model=? AND scope=? AND seq>?)")
		require.NotContains(t, read, "TEMP B-TREE", "a sort of all signs")
	}
	require.Contains(t, plan(selectAny, 2), "USING COVERING INDEX embeddings_scan (model=? AND scope=?)")
	behind := plan(selectBehind, 2)
	require.Contains(t, behind, "embedding_queue_due (due_at<?)")
	require.NotContains(t, behind, "SCAN embedding_queue")
	require.Contains(t, plan(selectClaimed, 2), "embedding_queue_claim (claim=?)")
	require.Contains(t, plan(claimItems, 4), "embedding_queue_due (due_at<?)")
}
