package memory

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/embedding"
	"cordelia/internal/embedding/embeddingtest"
	vectors "cordelia/memory/embedding"
)

// BenchmarkMeaning is what meaning adds to a search of 2000 items: the candidates
// are read and scored, the model is not asked.
func BenchmarkMeaning(b *testing.B) {
	n := &meaningNode{warmNode: newWarmNode(b), server: embeddingtest.New(b, 384, sameWords)}
	n.m = n.embeddings(embedding.Config{}, vectors.Options{Private: true})
	n.group("team-a", ada, CulturePatch{})
	town(n, 5, 2000)
	n.refresh(n.m)
	for _, meaning := range []bool{false, true} {
		b.Run(fmt.Sprintf("meaning=%v", meaning), func(b *testing.B) {
			q, err := NewQuery(Search{Text: "heron gannet note77"})
			require.NoError(b, err)
			if meaning {
				require.NoError(b, n.do(ada, access.Read,
					func(g access.Grant) error { _, err := q.WantsMeaning(g, n.m); return err }))
				require.True(b, q.AskMeaning(context.Background(), n.m))
			}
			for b.Loop() {
				require.NoError(b, n.do(ada, access.Read,
					func(g access.Grant) error { _, err := Find(g, q); return err }))
			}
		})
	}
}
