package memory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/embedding"
	"cordelia/internal/embedding/embeddingtest"
)

// BenchmarkSigns scans the signs of one scope: linear in what the caller may
// read, and in nothing else.
func BenchmarkSigns(b *testing.B) {
	const dim = 384
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{1000, 100_000} {
		x := signIndex{model: 1, words: dim / 64, scopes: map[int64]*signs{1: {}}}
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
				x.nearest([]int64{1}, vector, 1<<62, rescored)
			}
		})
	}
}

// BenchmarkMeaning is what meaning adds to a search of 2000 items: the candidates
// are read and scored, the model is not asked.
func BenchmarkMeaning(b *testing.B) {
	n := &meaningNode{warmNode: newWarmNode(b), server: embeddingtest.New(b, 384, sameWords)}
	n.m = n.embeddings(embedding.Config{}, EmbeddingOptions{Private: true})
	n.group("team-a", ada, CulturePatch{})
	town(n, 5, 2000)
	n.refresh(n.m)
	for _, meaning := range []bool{false, true} {
		b.Run(fmt.Sprintf("meaning=%v", meaning), func(b *testing.B) {
			q, err := NewQuery(Search{Text: "heron gannet note77"})
			require.NoError(b, err)
			if meaning {
				require.NoError(b, n.do(ada, access.Read,
					func(g access.Grant) error { _, err := n.m.Wants(g, q); return err }))
				require.True(b, n.m.Mean(context.Background(), q))
			}
			for b.Loop() {
				require.NoError(b, n.do(ada, access.Read,
					func(g access.Grant) error { _, err := Find(g, q); return err }))
			}
		})
	}
}
