package embedding

import (
	"context"

	"cordelia/memory/text"
	"cordelia/memory/wordvec"
)

// Words is the model that every program has: a text means the mean of its words, by the table of
// word vectors. It sees no order of words and knows English alone; it costs microseconds and fails
// for no text.
type Words struct{}

// Model names the table that the vectors depend on.
func (Words) Model() string { return wordvec.Name }

// Query gives the vector of a question, nil if the table has none of its words.
func (Words) Query(_ context.Context, asked string) ([]float32, error) { return meanOf(asked), nil }

// Documents gives the vectors of items, nil for those of whose words the table has none.
func (Words) Documents(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = meanOf(t)
	}
	return out, nil
}

// meanOf adds the vectors of the words of s, each word once; words that say little count half.
func meanOf(s string) []float32 {
	var sum [wordvec.Dim]int
	seen, any := map[string]bool{}, false
	for _, w := range text.Words(s) {
		v := wordvec.Of(w.Term)
		if v == "" || seen[w.Term] {
			continue
		}
		seen[w.Term] = true
		weight := 2
		if text.Weak(w.Term) {
			weight = 1
		}
		for i := range sum {
			sum[i] += weight * int(int8(v[i]))
		}
	}
	out := make([]float32, len(sum))
	for i, x := range sum {
		out[i] = float32(x)
		any = any || x != 0
	}
	if !any {
		return nil
	}
	return out
}
