//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
)

// prose makes notes and questions of the words of this project's documents, in runs as they
// stand there: as common, and as far known to the table of word vectors, as those of a language.
type prose struct {
	words  []string
	random *rand.Rand
}

func newProse(seed uint64) (*prose, error) {
	names, err := filepath.Glob(filepath.Join("docs", "*.md"))
	if err != nil {
		return nil, err
	}
	p := &prose{random: rand.New(rand.NewPCG(seed, seed))}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		p.words = append(p.words, strings.FieldsFunc(string(raw),
			func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })...)
	}
	if len(p.words) < vocabulary/5 {
		return nil, fmt.Errorf("docs holds %d words, too few to make notes of: run it in the repository", len(p.words))
	}
	return p, nil
}

// run gives n words that stand one after the other.
func (p *prose) run(n int) string {
	at := p.random.IntN(len(p.words) - n)
	return strings.Join(p.words[at:at+n], " ")
}

// content is the text of the n-th note.
func (p *prose) content(n int) string {
	return fmt.Sprintf("%s. %s. %s. %s. n%dk", p.run(7), p.run(7), p.run(7), p.run(7), n)
}

// question has 5 to 15 words.
func (p *prose) question() string { return p.run(5 + p.random.IntN(11)) }

// proseStore is store for notes in real words, of which each has its vector.
func (b *bench) proseStore(size int, name string) (*node, error) {
	return b.storeOf("prose", size, name, func(c *client, n *node, at, until int) error {
		texts, err := newProse(uint64(until))
		if err != nil {
			return err
		}
		if err := fill(c, texts, at, until, "team"); err != nil {
			return err
		}
		return n.embedded(until)
	})
}

// natural measures questions in real words on the largest store of notes in such words, of which
// each has its vector of words.
func (b *bench) natural() ([]row, error) {
	size := b.large()
	n, err := b.proseStore(size, "natural")
	if err != nil {
		return nil, err
	}
	c, err := n.open("")
	if err != nil {
		return nil, err
	}
	defer c.kill()
	var half, slow []float64
	for run := range b.runs + 1 {
		texts, err := newProse(uint64(190 + run))
		if err != nil {
			return nil, err
		}
		took, err := c.times(4*questions, "memory_search", func(int) any {
			return map[string]any{"query": texts.question()}
		})
		if err != nil {
			return nil, err
		}
		if run > 0 { // the first warms caches
			half, slow = append(half, took.at(0.5)), append(slow, took.at(0.99))
		}
	}
	p50 := row{What: fmt.Sprintf("memory_search, 5 to 15 words of a text, %d items, p50", size), Unit: "ms",
		Ours: spreadOf(half)}
	p99 := row{What: "the same, p99", Unit: "ms", Ours: spreadOf(slow)}
	return []row{p50.holding("≤ 15 ms", p50.Ours.Median <= 15), p99.holding("≤ 60 ms", p99.Ours.Median <= 60)}, nil
}

// embedded waits until that many items have a vector, which a session makes beside its calls.
func (n *node) embedded(items int) error {
	db, err := n.read()
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // only read
	count := 0
	for start := time.Now(); time.Since(start) < 10*time.Minute; time.Sleep(200 * time.Millisecond) {
		if err := db.QueryRow(`SELECT count(*) FROM embeddings`).Scan(&count); err != nil {
			return err
		}
		if count >= items {
			return nil
		}
	}
	return fmt.Errorf("%d of %d items have a vector", count, items)
}
