package memory

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	vectors "cordelia/memory/embedding"
)

// withWords is a node whose vectors are those that every program makes.
func withWords(t *testing.T) *meaningNode {
	n := &meaningNode{warmNode: newWarmNode(t), m: NewVectors(vectors.Words{}, vectors.Options{Private: true})}
	for i := range 40 {
		n.write(ada, learning(fmt.Sprintf("Lunch on day %d was noodles and soup.", i)))
	}
	return n
}

// The mean of word vectors finds what shares no word with a question, says so, and is silent where
// words cover the question.
func TestWordVectorsFind(t *testing.T) {
	n := withWords(t)
	hit := n.write(ada, learning("The physician prescribed medicine against the fever.")).ID
	n.refresh(n.m)
	const question = "which drugs did the doctor give"
	found, down := n.byMeaning(n.m, ada, Search{Text: question})
	require.False(t, down)
	require.NotEmpty(t, found.Hits)
	require.Equal(t, hit, found.Hits[0].ID)
	require.False(t, found.Weak, "it means nearly the same")
	for _, h := range found.Hits[1:] {
		require.NotContains(t, h.Why, "meaning", "lunch is not near")
	}
	found, _ = n.byMeaning(n.m, ada, Search{Text: "noodles and soup for lunch"})
	for _, h := range found.Hits {
		require.NotEqual(t, hit, h.ID)
		require.NotContains(t, h.Why, "meaning")
	}
	found, _ = n.byMeaning(n.m, ada, Search{Text: "which song did the choir sing"})
	require.True(t, found.Weak || len(found.Hits) == 0)
}

// A text of which the table has no word gets no vector and leaves the queue; a question of such
// words is one by words, and no model is down. Of what stays in the process nothing is audited.
func TestWhatTheTableLacks(t *testing.T) {
	n := withWords(t)
	n.refresh(n.m)
	before := n.one(`SELECT count(*) FROM embeddings`)
	w := n.write(ada, learning("部署は毎週金曜日に行われる。"))
	n.refresh(n.m)
	require.Equal(t, before, n.one(`SELECT count(*) FROM embeddings`))
	require.Equal(t, "0", n.one(`SELECT count(*) FROM embedding_queue`))
	found, down := n.byMeaning(n.m, ada, Search{Text: "部署は"})
	require.False(t, down)
	require.Equal(t, w.ID, found.Hits[0].ID)
	require.Equal(t, "0", n.one(`SELECT count(*) FROM audit WHERE target LIKE 'model/%'`))
	var behind bool
	require.NoError(t, n.do(access.NodeEntity, access.Read, func(g access.Grant) (err error) {
		behind, err = n.m.Behind(g)
		return err
	}))
	require.False(t, behind)
	_, answered := n.m.Query(context.Background(), "xqzzk", 100)
	require.True(t, answered)
}
