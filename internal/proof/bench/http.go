//go:build unix

package main

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// clients64 is how many clients are connected at once, each as another agent.
const clients64 = 64

// ration is what a mixed load is made of, in tenths; the rest is memory_read_hot.
type ration struct {
	name                    string
	writes, opens, searches int
}

var (
	readsWrites = ration{name: "reads and writes", writes: 2, opens: 2}
	withSearch  = ration{name: "reads, writes and searches", writes: 2, opens: 2, searches: 1}
)

// kind of the n-th operation. The order is fixed, so that both sides get the
// same.
func (r ration) kind(n int) string {
	switch at := (n * 7) % 10; {
	case at < r.writes:
		return "write"
	case at < r.writes+r.opens:
		return "open"
	case at < r.writes+r.opens+r.searches:
		return "search"
	}
	return "hot"
}

// sides are the two servers that a load is offered to.
type sides struct {
	b     *bench
	node  *node
	ours  []*wire
	floor []*wire
	ids   []string // of items to open

	mu    sync.Mutex
	bare  *bare
	plain *plainIndex
	stops []func()
}

func (s *sides) stop() {
	for _, f := range s.stops {
		f()
	}
}

// http measures clients over HTTP at rates that do not wait for answers.
func (b *bench) http() (section, error) {
	var sec section
	s := &sides{b: b}
	defer s.stop()
	if err := s.open(); err != nil {
		return sec, err
	}
	if err := s.warm(); err != nil {
		return sec, err
	}
	for _, r := range []ration{readsWrites, withSearch} {
		if err := s.measure(r, &sec); err != nil {
			return sec, err
		}
	}
	return sec, s.overload(&sec)
}

// open starts both servers and connects all clients.
func (s *sides) open() (err error) {
	size := min(s.b.items, 10_000)
	if s.node, err = s.b.store(size, "http"); err != nil {
		return err
	}
	if s.bare, err = s.b.bareStore(size, "http-bare"); err != nil {
		return err
	}
	s.stops = append(s.stops, func() { s.bare.close() }) //nolint:errcheck // a file of this run
	if s.plain, err = s.b.plain(size); err != nil {
		return err
	}
	s.stops = append(s.stops, s.plain.close)
	if s.ids, err = s.node.newest(500); err != nil {
		return err
	}
	ours, err := s.node.serve()
	if err != nil {
		return err
	}
	s.stops = append(s.stops, ours.stop)
	cmd := exec.Command(s.b.empty, "http")
	floor, err := serve(cmd, cmd.StdoutPipe)
	if err != nil {
		return err
	}
	s.stops = append(s.stops, floor.stop)
	return s.connect(ours, floor)
}

// newest are the items written last.
func (n *node) newest(count int) (ids []string, err error) {
	db, err := n.read()
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // only read
	rows, err := db.Query(`SELECT id FROM items ORDER BY n DESC LIMIT ?`, count)
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Close()
}

// connect registers the agents and opens a connection for each.
func (s *sides) connect(ours, floor *served) error {
	lead, err := s.node.open("")
	if err != nil {
		return err
	}
	defer lead.kill()
	var tokens []string
	for i := range clients64 {
		name := fmt.Sprintf("client-%d", i)
		id, err := register(lead, name, name, "team")
		if err != nil {
			return err
		}
		token, err := s.node.token(ours, id)
		if err != nil {
			return err
		}
		tokens = append(tokens, token)
	}
	for _, token := range tokens { // late, because a server waits 5 s for the first request
		if s.ours, err = s.dial(s.ours, ours.host, token); err != nil {
			return err
		}
		if s.floor, err = s.dial(s.floor, floor.host, ""); err != nil {
			return err
		}
	}
	return nil
}

func (s *sides) dial(list []*wire, host, token string) ([]*wire, error) {
	w, err := dial(host, token)
	if err == nil {
		s.stops = append(s.stops, w.close)
		list = append(list, w)
	}
	return list, err
}

// warm has every client of both sides do each kind of operation.
func (s *sides) warm() error {
	for side, list := range [][]operation{s.ofOurs(withSearch, 0), s.ofFloor(withSearch, 0)} {
		if _, err := atOnce(len(list), func(i int) (none struct{}, err error) {
			for n := range 10 {
				if err := list[i](n); err != nil {
					return none, fmt.Errorf("first %s of the %s server: %w", withSearch.kind(n),
						[]string{"node's", "empty"}[side], err)
				}
			}
			return none, nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// ofOurs are the clients of the node, one operation each at a time.
func (s *sides) ofOurs(r ration, seed uint64) (list []operation) {
	for i, w := range s.ours {
		texts, done := newNotes(seed*100+uint64(i)+1000), 0
		hot := w.tool("memory_read_hot", map[string]any{})
		list = append(list, func(n int) error {
			done++
			request := hot
			switch r.kind(n) {
			case "write":
				request = w.tool("memory_write_warm", texts.item(int(seed)*1_000_000+i*10_000+done, "team"))
			case "open":
				request = w.tool("memory_read_warm", map[string]any{"ids": []string{s.ids[(n*31)%len(s.ids)]}})
			case "search":
				request = w.tool("memory_search", map[string]any{"query": strings.Join(texts.rare(3), " ")})
			}
			body, err := w.roundTrip(request)
			if err != nil {
				return err
			}
			return decode(body, nil)
		})
	}
	return list
}

// ofFloor are the clients of the empty server: every operation is a call of its
// tool, and a write also the bare rows, a search also the plain index.
func (s *sides) ofFloor(r ration, seed uint64) (list []operation) {
	for i, w := range s.floor {
		texts := newNotes(seed*100 + uint64(i) + 1000)
		empty := w.tool("empty", map[string]any{})
		list = append(list, func(n int) error {
			body, err := w.roundTrip(empty)
			if err != nil {
				return err
			}
			switch r.kind(n) {
			case "write":
				s.mu.Lock()
				defer s.mu.Unlock()
				if err := s.bare.write(s.bare.row()); err != nil {
					return err
				}
			case "search":
				if err := s.plain.ask(texts.rare(3)); err != nil {
					return err
				}
			}
			return decode(body, nil)
		})
	}
	return list
}

// measure finds saturation and offers shares of it to both sides in turn.
func (s *sides) measure(r ration, sec *section) error {
	var saturations, floors []float64
	seed := uint64(0)
	for range s.b.runs {
		seed++
		f, _, err := closedLoop(3*time.Second, s.ofFloor(r, seed))
		if err != nil {
			return fmt.Errorf("empty server: %w", err)
		}
		o, _, err := closedLoop(3*time.Second, s.ofOurs(r, seed))
		if err != nil {
			return err
		}
		saturations, floors = append(saturations, o), append(floors, f)
	}
	full := compared(fmt.Sprintf("%s, %d clients, most a second", r.name, clients64), "1/s",
		"the empty server and the bare rows", saturations, floors)
	sec.Rows = append(sec.Rows, full)
	curve := chart{Name: "http", Log: true, Title: "HTTP, " + r.name + ": time in ms by operations offered a second",
		Lines: map[string][]point{}}
	shares := []float64{0.1, 0.25, 0.5, 0.75, 0.9}
	if r.searches > 0 {
		shares = []float64{0.5}
	}
	for _, share := range shares {
		rate, runs := full.Ours.Median*share, s.b.runs
		if share != 0.5 { // a point of the curve, without a bar
			runs = min(runs, 3)
		}
		// a p99 of enough
		lasting := min(15*time.Second, max(4*time.Second, time.Duration(1000/rate*float64(time.Second))))
		var o50, o99, f50, f99 []float64
		for range runs {
			seed++
			f, err := openLoop(rate, lasting, seed, s.ofFloor(r, seed))
			if err != nil {
				return fmt.Errorf("empty server: %w", err)
			}
			o, err := openLoop(rate, lasting, seed, s.ofOurs(r, seed))
			if err != nil {
				return err
			}
			o50, o99 = append(o50, o.at(0.5)), append(o99, o.at(0.99))
			f50, f99 = append(f50, f.at(0.5)), append(f99, f.at(0.99))
		}
		half := compared(fmt.Sprintf("the same at %s/s, %.0f %% of that, p50", figure(rate), share*100), "ms",
			"the empty server and the bare rows", o50, f50)
		most := compared("the same, p99", "ms", "the empty server and the bare rows", o99, f99)
		if share == 0.5 {
			if r.searches == 0 {
				most = most.holding("≤ 3 ×", most.Ratio.Median <= 3)
			}
			sec.Rows = append(sec.Rows, half, most)
		}
		x := int(rate)
		curve.add("here, p50", x, half.Ours.Median)
		curve.add("here, p99", x, most.Ours.Median)
		curve.add("empty and bare, p50", x, half.Floor.Median)
		curve.add("empty and bare, p99", x, most.Floor.Median)
	}
	if len(shares) > 1 {
		sec.Charts = append(sec.Charts, curve)
	}
	return nil
}

// overload has more clients call at once than their common ancestor may have under way, and
// checks that each is served or gets "busy".
func (s *sides) overload(sec *section) error {
	both := &sides{b: s.b, ours: s.ours, ids: s.ids}
	defer both.stop()
	for _, w := range s.ours {
		var err error
		if both.ours, err = both.dial(both.ours, w.host, w.token); err != nil {
			return err
		}
	}
	var mu sync.Mutex
	var calls, busy float64
	var refused latencies
	counted := make([]operation, len(both.ours))
	for i, do := range both.ofOurs(readsWrites, 900) {
		counted[i] = func(n int) error {
			start := time.Now()
			err := do(n)
			mu.Lock()
			defer mu.Unlock()
			calls++
			if err != nil && strings.HasPrefix(err.Error(), "busy") {
				busy++
				refused = append(refused, time.Since(start))
				return nil
			}
			return err
		}
	}
	if _, _, err := closedLoop(5*time.Second, counted); err != nil {
		return fmt.Errorf("more clients than may be served at once: %w", err)
	}
	r := row{What: fmt.Sprintf("%d clients where 64 calls may be under way: told busy", len(counted)),
		Unit: "% of calls", Ours: spreadOf([]float64{100 * busy / calls})}
	sec.Rows = append(sec.Rows, r.holding("served or busy, no other answer", busy > 0),
		row{What: "the same: until told busy, p99", Unit: "ms", Ours: spreadOf([]float64{refused.at(0.99)})})
	return nil
}
