package embedding

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sort"
	"sync"

	"cordelia/internal/store"
)

// querier is the reading half of a transaction.
type querier interface {
	Query(query string, args ...any) (*sql.Rows, error)
	QueryRow(query string, args ...any) store.Row
}

// maxSigns is how many bytes of signs are kept, before scopes not searched lately are let go.
const maxSigns = 128 << 20

// index holds the signs of the vectors in the scopes this process searched,
// so that a search costs a scan of what its caller may read and nothing else.
// What it says is only where to look: every row is read and checked again.
type index struct {
	mu     sync.RWMutex
	model  int64
	words  int // per vector
	scopes map[int64]*signs
	clock  int64 // counts searches
}

// signs are those of one scope, in order of seq.
type signs struct {
	items, seqs []int64 // item 0: gone
	words       []uint64
	gone        int
	used        int64
}

// Spot is where a vector lies: the number of its item, and which of its vectors it is.
type Spot struct{ Item, Seq int64 }

// MarshalJSON gives the pair the query unpacks.
func (p Spot) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "[%d,%d]", p.Item, p.Seq), nil }

func (s *signs) last() int64 {
	if s == nil || len(s.seqs) == 0 {
		return 0
	}
	return s.seqs[len(s.seqs)-1]
}

// refresh reads what is new in scopes.
func (x *index) refresh(tx querier, model model, scopes []int64) error {
	words := (model.dim + 63) / 64
	known, last := make([][2]int64, len(scopes)), make(map[int64]int64, len(scopes))
	x.mu.RLock()
	for i, n := range scopes {
		if x.model == model.n {
			last[n] = x.scopes[n].last()
		}
		known[i] = [2]int64{n, last[n]}
	}
	x.mu.RUnlock()
	rows, err := tx.Query(selectNewer, model.n, store.List(known))
	newer, err := store.Collect(rows, err, store.Column[int64])
	if err != nil {
		return fmt.Errorf("look for signs: %w", err)
	}
	fresh := make(map[int64]*signs, len(newer))
	for _, n := range newer {
		if fresh[n], err = read(tx, model.n, n, last[n], words); err != nil {
			return err
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.model != model.n || x.scopes == nil {
		x.model, x.words, x.scopes = model.n, words, map[int64]*signs{}
	}
	x.clock++
	for _, n := range scopes {
		if x.scopes[n] == nil {
			x.scopes[n] = &signs{}
		}
		x.scopes[n].used = x.clock
		if f := fresh[n]; f != nil {
			x.scopes[n].add(f, last[n], words)
		}
	}
	x.shrink()
	return nil
}

// read reads the signs of a scope after seq. One scope at a time comes in the order of the index;
// several together SQLite would sort, in megabytes that it keeps.
func read(tx querier, model, scope, seq int64, words int) (*signs, error) {
	rows, err := tx.Query(selectSigns, model, scope, seq)
	if err != nil {
		return nil, fmt.Errorf("read signs: %w", err)
	}
	defer rows.Close() //nolint:errcheck // only read
	s := &signs{}
	for rows.Next() {
		var item int64
		var bits sql.RawBytes
		if err := rows.Scan(&seq, &item, &bits); err != nil {
			return nil, fmt.Errorf("read signs: %w", err)
		}
		if len(bits) != 8*words {
			continue
		}
		s.items, s.seqs = append(s.items, item), append(s.seqs, seq)
		for w := range words {
			s.words = append(s.words, binary.LittleEndian.Uint64(bits[8*w:]))
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read signs: %w", err)
	}
	return s, nil
}

// add appends what s lacks of more, which was read after seq: another search may have been faster. If
// one let the scope go meanwhile, s lacks what came before, and the next search reads it whole.
func (s *signs) add(more *signs, seq int64, words int) {
	if s.last() < seq {
		return
	}
	from := sort.Search(len(more.seqs), func(i int) bool { return more.seqs[i] > s.last() })
	s.items, s.seqs = append(s.items, more.items[from:]...), append(s.seqs, more.seqs[from:]...)
	s.words = append(s.words, more.words[from*words:]...)
}

// shrink lets go of the scopes not searched for longest, never of those of the
// search under way.
func (x *index) shrink() {
	size := 0
	for _, s := range x.scopes {
		size += 8*len(s.words) + 16*len(s.items)
	}
	for size > maxSigns {
		oldest := int64(0)
		for n, s := range x.scopes {
			if s.used < x.clock && (oldest == 0 || s.used < x.scopes[oldest].used) {
				oldest = n
			}
		}
		if oldest == 0 {
			return
		}
		size -= 8*len(x.scopes[oldest].words) + 16*len(x.scopes[oldest].items)
		delete(x.scopes, oldest)
	}
}

// nearest finds the spots of at most most vectors that differ in the fewest
// signs from vector, among those up to seq.
func (x *index) nearest(scopes []int64, vector []float32, upTo int64, most int) []Spot {
	x.mu.RLock()
	defer x.mu.RUnlock()
	wanted := signsOf(vector)
	if len(wanted) != x.words {
		return nil
	}
	counts := make([]int, 64*x.words+1)
	distances := make([][]uint16, len(scopes))
	for i, n := range scopes {
		s := x.scopes[n]
		if s == nil { // let go by another search meanwhile
			continue
		}
		distances[i] = make([]uint16, len(s.items))
		for at, item := range s.items {
			if item == 0 || s.seqs[at] > upTo {
				distances[i][at] = math.MaxUint16
				continue
			}
			d := 0
			for w, word := range s.words[at*x.words : (at+1)*x.words] {
				d += bits.OnesCount64(word ^ wanted[w])
			}
			distances[i][at] = uint16(d) //nolint:gosec // at most MaxDimensions
			counts[d]++
		}
	}
	limit, total := 0, 0
	for limit < 64*x.words && total+counts[limit] <= most {
		total += counts[limit]
		limit++
	}
	out := make([]Spot, 0, most)
	for _, strict := range []bool{true, false} { // the ties at the limit come last, as far as there is room
		for i, n := range scopes {
			for at, d := range distances[i] {
				if len(out) < most && (strict && int(d) < limit || !strict && int(d) == limit) {
					out = append(out, Spot{x.scopes[n].items[at], x.scopes[n].seqs[at]})
				}
			}
		}
	}
	return out
}

// forget drops spots that are no more.
func (x *index) forget(scopes []int64, gone []Spot) {
	if len(gone) == 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, n := range scopes {
		s := x.scopes[n]
		if s == nil {
			continue
		}
		for _, p := range gone {
			at := sort.Search(len(s.seqs), func(i int) bool { return s.seqs[i] >= p.Seq })
			if at < len(s.seqs) && s.seqs[at] == p.Seq && s.items[at] == p.Item {
				s.items[at] = 0
				s.gone++
			}
		}
		if s.gone > len(s.items)/4 {
			s.compact(x.words)
		}
	}
}

// compact removes the entries that are gone. The last one stays: it says how far
// the scope was read.
func (s *signs) compact(words int) {
	to := 0
	for at, item := range s.items {
		if item == 0 && at < len(s.items)-1 {
			continue
		}
		s.items[to], s.seqs[to] = item, s.seqs[at]
		copy(s.words[to*words:], s.words[at*words:(at+1)*words])
		to++
	}
	s.items, s.seqs, s.words = slices.Clip(s.items[:to]), slices.Clip(s.seqs[:to]), slices.Clip(s.words[:to*words])
	s.gone = 0
	if to > 0 && s.items[to-1] == 0 {
		s.gone = 1
	}
}

// Near is what lies near a query: where vectors of the model lie, those that differ in the
// fewest signs first.
type Near struct {
	Model int64 // 0 = another model is in use by now
	Spots []Spot
}

// Nearest finds at most most vectors in scopes that may be near a query's. It reads signs
// alone: the caller compares the vectors themselves with Dot, and forgets what is no more.
func (m *Vectors) Nearest(tx querier, scopes []int64, vector []float32, most int) (Near, error) {
	now, err := m.current(tx)
	if err != nil || now.n == 0 || now.dim != len(vector) {
		return Near{}, err
	}
	var upTo int64
	if err := tx.QueryRow(selectCounter).Scan(&upTo); err != nil {
		return Near{}, fmt.Errorf("read vectors: %w", err)
	}
	if err := m.signs.refresh(tx, now, scopes); err != nil {
		return Near{}, err
	}
	return Near{now.n, m.signs.nearest(scopes, vector, upTo, most)}, nil
}

// Forget drops vectors that are no more.
func (m *Vectors) Forget(scopes []int64, gone []Spot) { m.signs.forget(scopes, gone) }
