//go:build unix

package main

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// bareSearch is the full-text query alone, on the same file: the best of one
// scope by bm25.
const bareSearch = `SELECT rowid FROM items_fts WHERE items_fts MATCH ? ORDER BY bm25(items_fts) LIMIT 200`

// reader opens the node's database to read it beside the node.
func (n *node) reader() (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+filepath.ToSlash(n.database())+"?mode=ro&_pragma=query_only(1)&_pragma=cache_size(-4096)&_dqs=0")
}

// search measures questions of three and of thirty words.
func (b *bench) search() (section, error) {
	var s section
	n, err := b.filled()
	if err != nil {
		return s, err
	}
	c, err := n.open("")
	if err != nil {
		return s, err
	}
	defer c.kill()
	db, err := n.reader()
	if err != nil {
		return s, err
	}
	defer db.Close() //nolint:errcheck // only read
	var scope int64
	if err := db.QueryRow(`SELECT n FROM scopes WHERE visibility = 'private' ORDER BY items DESC LIMIT 1`).Scan(&scope); err != nil {
		return s, err
	}
	for _, kind := range []struct {
		name  string
		words func(*notes) []string
	}{
		{"3 words", func(t *notes) []string { return t.rare(3) }},
		{"30 words", func(t *notes) []string { return t.words(30) }},
	} {
		var ours, floors, above, slow []float64
		for run := range b.runs {
			f, err := bareTimes(db, scope, newNotes(uint64(90+run)), kind.words)
			if err != nil {
				return s, err
			}
			texts := newNotes(uint64(90 + run))
			o, err := c.times(questions, "memory_search", func(int) any {
				return map[string]any{"query": strings.Join(kind.words(texts), " ")}
			})
			if err != nil {
				return s, err
			}
			ours, floors = append(ours, o.at(0.5)), append(floors, f.at(0.5))
			above, slow = append(above, o.at(0.5)-1.5*f.at(0.5)), append(slow, o.at(0.99))
		}
		r := beside(fmt.Sprintf("memory_search, %s, %d items, p50", kind.name, b.items), "ms", "the bare full-text query", ours, floors)
		if kind.name == "30 words" {
			r = r.holding("≤ 20 ms", r.Ours.Median <= 20)
		}
		over := row{What: "the same, above 1.5 × the bare query", Unit: "ms", Ours: spreadOf(above)}
		s.Rows = append(s.Rows, r, over.holding("≤ 8 ms", over.Ours.Median <= 8),
			row{What: "the same, p99", Unit: "ms", Ours: spreadOf(slow)})
	}
	return s, nil
}

const questions = 60

func bareTimes(db *sql.DB, scope int64, texts *notes, words func(*notes) []string) (latencies, error) {
	st, err := db.Prepare(bareSearch)
	if err != nil {
		return nil, err
	}
	defer st.Close() //nolint:errcheck // only read
	var list latencies
	for range questions {
		match := fmt.Sprintf(`meta : "s%d" AND body : (%s)`, scope, strings.Join(words(texts), " OR "))
		start := time.Now()
		rows, err := st.QueryContext(context.Background(), match)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				return nil, err
			}
		}
		if err := rows.Close(); err != nil {
			return nil, err
		}
		list = append(list, time.Since(start))
	}
	return list, nil
}

// scopes measures the same questions to a small store alone, and beside many
// items of others.
func (b *bench) scopes() (section, error) {
	var s section
	const own = 5000
	crowd, err := b.filled()
	if err != nil {
		return s, err
	}
	small := &node{binary: b.binary, home: filepath.Join(b.folder, "alone")}
	var readers []*client
	for _, n := range []*node{small, crowd} {
		lead, err := n.open("")
		if err != nil {
			return s, err
		}
		defer lead.kill()
		if err := enrol(lead, "reader", "Reader"); err != nil && !strings.Contains(err.Error(), "conflict") {
			return s, err
		}
		c, err := n.open("reader")
		if err != nil {
			return s, err
		}
		defer c.kill()
		if err := fill(c, newNotes(3), 0, own, ""); err != nil {
			return s, err
		}
		readers = append(readers, c)
	}
	var alone, beside100k []float64
	for run := range b.runs {
		for i, c := range readers {
			texts := newNotes(uint64(50 + run))
			l, err := c.times(questions, "memory_search", func(int) any { return map[string]any{"query": strings.Join(texts.rare(3), " ")} })
			if err != nil {
				return s, err
			}
			if i == 0 {
				alone = append(alone, l.at(0.5))
			} else {
				beside100k = append(beside100k, l.at(0.5))
			}
		}
	}
	r := beside(fmt.Sprintf("memory_search in %d own items beside %d of others, p50", own, b.items), "ms", "the same items alone", beside100k, alone)
	s.Rows = append(s.Rows, r.holding("independent (≤ 1.25 ×)", r.Ratio.Median <= 1.25))
	return s, nil
}
