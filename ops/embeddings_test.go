package ops

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/embedding"
	"cordelia/internal/embedding/embeddingtest"
	"cordelia/memory"
	vectors "cordelia/memory/embedding"
	"cordelia/schemas"
)

// newEmbeddedStudy is a study whose node embeds with a stand-in.
func newEmbeddedStudy(t *testing.T) (*study, *embeddingtest.Server) {
	s := newStudy(t)
	server := embeddingtest.New(t, 64, map[string]string{"flivverette": "car"})
	client, err := embedding.New(embedding.Config{URL: server.URL, Model: "stand-in"})
	require.NoError(t, err)
	s.node.Embeddings = memory.NewVectors(client, vectors.Options{Private: true, Wait: 10 * time.Second})
	return s, server
}

func (s *study) embedAll() {
	s.Helper()
	for more := true; more; {
		var err error
		more, err = s.node.RefreshEmbeddings(s.Context())
		require.NoError(s, err)
	}
}

func TestSearchByMeaning(t *testing.T) {
	s, server := newEmbeddedStudy(t)
	w, err := callHot[MemoryWriteWarmOut](s, "ann", memoryWriteWarm,
		`{"type":"learning","data":{"type":"insight","content":"The flivverette is red."}}`)
	require.NoError(t, err)
	s.embedAll()
	found, err := callHot[MemorySearchOut](s, "ann", memorySearch, `{"query":"car"}`)
	require.NoError(t, err)
	require.Equal(t, w.ID, found.Results[0].ID)
	require.Equal(t, "meaning", found.Results[0].Why)
	require.Empty(t, found.Meaning)

	server.Fail(http.StatusInternalServerError)
	found, err = callHot[MemorySearchOut](s, "ann", memorySearch, `{"query":"a red car"}`)
	require.NoError(t, err)
	require.Equal(t, "down", found.Meaning)
	require.Len(t, found.Results, 1, "its words still find it")
	require.Contains(t, found.Text(), "by words alone")
	found, err = callHot[MemorySearchOut](s, "ann", memorySearch, `{}`)
	require.NoError(t, err)
	require.Empty(t, found.Meaning, "without words there is nothing to ask")
	_, err = s.node.RefreshEmbeddings(t.Context())
	require.ErrorIs(t, err, schemas.ErrUnavailable)
	server.Fail(0)
	s.embedAll()
	found, err = callHot[MemorySearchOut](s, "ann", memorySearch, `{"query":"a red car"}`)
	require.NoError(t, err)
	require.Empty(t, found.Meaning)
}

// Who may not search sends nothing to the model.
func TestARefusedSearchAsksNoModel(t *testing.T) {
	s, server := newEmbeddedStudy(t)
	_, err := callHot[MemoryWriteWarmOut](s, "ann", memoryWriteWarm,
		`{"type":"learning","data":{"type":"insight","content":"The flivverette is red."}}`)
	require.NoError(t, err)
	s.embedAll()
	asked := len(server.Asked())
	_, err = callHot[MemorySearchOut](s, "bob", memorySearch, `{"query":"car"}`)
	require.ErrorIs(t, err, schemas.ErrDenied)
	require.Len(t, server.Asked(), asked)
}

// What does not fit into an answer is what meaning added, before any hit by words.
func TestMeaningTakesNoRoom_INV_LEXICAL(t *testing.T) {
	for room := 200; room < 6000; room += 137 {
		var fused, words []memory.Hit
		for i := range 12 {
			h := memory.Hit{ID: schemas.ItemID(fmt.Sprint(i)), Snippet: strings.Repeat("x", 40*(i*7%11)+10)}
			if i%3 != 0 {
				h.ByWords = 1 + i*5%12
				words = append(words, h)
			}
			fused = append(fused, h)
		}
		slices.SortFunc(words, func(a, b memory.Hit) int { return a.ByWords - b.ByWords })
		alone, _, err := fitting(words, room)
		require.NoError(t, err)
		fits, rest, err := fittingHits(fused, room)
		require.NoError(t, err)
		for _, h := range alone {
			require.Contains(t, fits, h)
		}
		require.ElementsMatch(t, fused, slices.Concat(fits, rest))
		require.True(t, slices.IsSortedFunc(fits, func(a, b memory.Hit) int {
			return slices.IndexFunc(fused, func(h memory.Hit) bool { return h.ID == a.ID }) - slices.IndexFunc(fused,
				func(h memory.Hit) bool { return h.ID == b.ID })
		}), "in their order")
	}
}

// Without a model nothing is done.
func TestEmbeddingsAreOff(t *testing.T) {
	s := newStudy(t)
	more, err := s.node.RefreshEmbeddings(t.Context())
	require.NoError(t, err)
	require.False(t, more)
}
