//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// shuffledTexts are texts of the words of conversations, as often as they are
// said there, so that they get in the way of every question.
func shuffledTexts(data []conversation, count int) []string {
	var words []string
	for _, c := range data {
		for _, t := range c.Turns {
			words = append(words, strings.Fields(t.Text)...)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	out := make([]string, count)
	for i := range out {
		text := make([]string, 8+random.IntN(30))
		for j := range text {
			text[j] = words[random.IntN(len(words))]
		}
		out[i] = strings.Join(text, " ") + fmt.Sprintf(" x%d", i)
	}
	return out
}

// vocabulary is how many words notes are made of.
const vocabulary = 50_000

// notes makes texts whose words are as unequally common as those of a language
// (Zipf, s = 1.07): about 200 bytes each, and no two the same.
type notes struct {
	random *rand.Rand
	zipf   *rand.Zipf
}

func newNotes(seed uint64) *notes {
	r := rand.New(rand.NewPCG(seed, seed))
	return &notes{random: r, zipf: rand.NewZipf(r, 1.07, 2, vocabulary-1)}
}

// word is the n-th most common word; stemming leaves it as it is.
func word(n uint64) string {
	const consonants, vowels = "bdfgklmnprtvz", "aiou"
	var b strings.Builder
	for n += 40; n > 0; n /= uint64(len(consonants) * len(vowels)) {
		m := n % uint64(len(consonants)*len(vowels))
		b.WriteByte(consonants[m/4])
		b.WriteByte(vowels[m%4])
	}
	b.WriteByte('k')
	return b.String()
}

// words gives n words as they come in texts.
func (s *notes) words(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = word(s.zipf.Uint64())
	}
	return out
}

// rare gives n words that few texts have, as people ask for.
func (s *notes) rare(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = word(200 + s.random.Uint64N(4000))
	}
	return out
}

// content is the text of the n-th note.
func (s *notes) content(n int) string {
	return strings.Join(s.words(28), " ") + fmt.Sprintf(" n%dk", n)
}

// item is the n-th note as arguments of memory_write_warm.
func (s *notes) item(n int, group string) map[string]any { return itemOfText(s, n, group) }

// itemOfText is the n-th of texts as arguments of memory_write_warm.
func itemOfText(s texts, n int, group string) map[string]any {
	args := map[string]any{"type": "learning", "data": map[string]any{"type": "insight",
		"content": s.content(n), "source_session": fmt.Sprintf("session %d", n/50)}}
	if group != "" {
		args["group"] = group
	}
	return args
}
