//go:build unix

package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"time"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/schemas"
	"cordelia/trust"
)

// assessments is how many verdicts stand in the book when it is measured.
const assessments = 10_000

// trust measures what a verdict and a tier cost. Both are measured in this
// process, inside their transaction: the flush and the door are the same for all
// tools, and measured elsewhere.
func (b *bench) trust() (section, error) {
	var s section
	n := &node{binary: b.binary, home: filepath.Join(b.folder, "trust")}
	lead, err := n.open("")
	if err != nil {
		return s, err
	}
	defer lead.kill()
	if err := gather(lead, "team"); err != nil {
		return s, err
	}
	author, err := register(lead, "author", "Author", "team")
	if err != nil {
		return s, err
	}
	c, err := n.open("author")
	if err != nil {
		return s, err
	}
	defer c.kill()
	few := 100
	const more = 200
	var ids []string
	texts := newNotes(41)
	if err := c.pour(assessments+(b.runs+1)*more+few, 64,
		func(i int) []byte { return c.request("memory_write_warm", texts.item(i, "team")) }, func(line []byte) error {
			var out struct{ ID string }
			err := decode(line, &out)
			ids = append(ids, out.ID)
			return err
		}); err != nil {
		return s, err
	}
	records, done, err := n.ledger(schemas.EntityID(author))
	if err != nil {
		return s, err
	}
	defer done()
	assess := func(from, count int) (latencies, error) {
		var took latencies
		for i := from; i < from+count; i++ {
			one, err := records.assess(schemas.ItemID(ids[i]), i%10 != 0)
			if err != nil {
				return took, err
			}
			took = append(took, one)
		}
		return took, nil
	}
	first, err := assess(0, few)
	if err != nil {
		return s, err
	}
	if _, err := assess(few, assessments-few); err != nil {
		return s, err
	}
	var half, most []float64
	for run := range b.runs {
		took, err := assess(assessments+run*more, more)
		if err != nil {
			return s, err
		}
		half, most = append(half, took.at(0.5)), append(most, took.at(0.99))
	}
	r := row{What: fmt.Sprintf("a verdict after %d others, in its transaction, p50", assessments), Unit: "ms",
		Ours: spreadOf(half)}
	s.Rows = append(s.Rows, r.holding("≤ 1 ms", r.Ours.Median <= 1),
		row{What: "the same, p99", Unit: "ms", Ours: spreadOf(most)},
		row{What: fmt.Sprintf("the first %d verdicts, p50", few), Unit: "ms", Ours: spreadOf([]float64{first.at(0.5)})})

	var with, without []float64
	for run := range b.runs + 1 {
		w, o, err := records.reads(ids, 500)
		if err != nil {
			return s, err
		}
		if run > 0 { // the first warms caches
			with, without = append(with, f2us(w)), append(without, f2us(o))
		}
	}
	tier := compared("an item of a group read by id, p50", "µs", "the same without tiers", with, without)
	s.Rows = append(s.Rows, tier.holding("≤ 1.1 ×", tier.Ratio.Median <= 1.1))
	return s, nil
}

// book is a node's store opened here, with tiers and without.
type ledger struct {
	ctx           context.Context
	tiered, plain *access.Authorizer
	human, author schemas.EntityID
}

func (n *node) ledger(author schemas.EntityID) (b *ledger, done func(), err error) {
	ctx := context.Background()
	st, err := store.Open(ctx, store.Options{Path: n.database()})
	if err != nil {
		return nil, nil, err
	}
	done = func() { st.Close() } //nolint:errcheck // a file of this run
	b = &ledger{ctx: ctx, author: author, tiered: access.New(st, access.Config{TiersOf: trust.TiersOf}),
		plain: access.New(st, access.Config{})}
	db, err := n.read()
	if err != nil {
		done()
		return nil, nil, err
	}
	defer db.Close() //nolint:errcheck // only read
	if err := db.QueryRow(`SELECT root_id FROM entities WHERE id = ?`, author).Scan(&b.human); err != nil {
		done()
		return nil, nil, err
	}
	return b, done, nil
}

// assess gives the time of the verdict without that of its commit.
func (b *ledger) assess(id schemas.ItemID, right bool) (took time.Duration, err error) {
	word := trust.Right
	if !right {
		word = trust.Wrong
	}
	err = b.tiered.Do(b.ctx, access.Principal{Entity: b.human, Method: access.ByHuman, KeySeq: 1},
		access.Op{Tool: "trust_assess", Effect: access.Write}, func(g access.Grant) error {
			found, err := memory.Get(g, []schemas.ItemID{id})
			if err != nil {
				return err
			}
			i := found[0]
			hash, err := hex.DecodeString(i.Provenance.ContentHash)
			if err != nil {
				return err
			}
			v := trust.Verdict{Word: word, On: trust.Memory{ID: i.ID, Version: i.Version, ContentHash: hash,
				Author: i.Author, Owner: i.Owner,
				Visibility: i.Visibility, Group: i.Group}}
			start := time.Now()
			given, err := trust.Assess(g, v)
			took = time.Since(start)
			if err == nil && given.Weight == 0 {
				err = fmt.Errorf("the verdict does not count: %s", given.Why)
			}
			return err
		})
	return took, err
}

// reads reads items one by one with tiers and without, in turn, and gives the p50
// of each in ms.
func (b *ledger) reads(ids []string, count int) (with, without float64, err error) {
	var took [2]latencies
	for i := range count {
		for k, door := range []*access.Authorizer{b.tiered, b.plain} {
			start := time.Now()
			if err := door.Do(b.ctx, access.Principal{Entity: b.author, Method: access.ByKey, KeySeq: 1},
				access.Op{Tool: "memory_read_warm", Effect: access.Read}, func(g access.Grant) error {
					_, err := memory.Get(g, []schemas.ItemID{schemas.ItemID(ids[(i*31)%len(ids)])})
					return err
				}); err != nil {
				return 0, 0, err
			}
			took[k] = append(took[k], time.Since(start))
		}
	}
	return took[0].at(0.5), took[1].at(0.5), nil
}
