//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"time"
)

// row is one figure beside what it is measured against.
type row struct {
	What       string   `json:"what"`
	Unit       string   `json:"unit"`
	Ours       interval `json:"ours"`
	Comparison string   `json:"beside,omitempty"` // what Floor is of
	Floor      interval `json:"floor,omitzero"`
	Ratio      interval `json:"ratio,omitzero"`
	Bar        string   `json:"bar,omitempty"`
	Holds      *bool    `json:"holds,omitempty"`
}

// holding adds the bar and whether it holds.
func (r row) holding(bar string, met bool) row {
	r.Bar, r.Holds = bar, &met
	return r
}

// beside compares runs of ours with runs of a floor made in turn with them: the
// ratio is taken run by run, because the machine's other load moves both.
func compared(what, unit, floor string, ours, floors []float64) row {
	r := row{What: what, Unit: unit, Comparison: floor, Ours: spreadOf(ours), Floor: spreadOf(floors)}
	var ratios []float64
	for i := range min(len(ours), len(floors)) {
		if floors[i] > 0 {
			ratios = append(ratios, ours[i]/floors[i])
		}
	}
	r.Ratio = spreadOf(ratios)
	return r
}

// section is what one part measured.
type section struct {
	Part   string    `json:"part"`
	At     time.Time `json:"at"`
	On     string    `json:"on,omitempty"`   // the machine
	Load   string    `json:"load"`           // of it before and after
	Took   string    `json:"took,omitempty"` // with filling the stores that were not there yet
	Notes  []string  `json:"notes,omitempty"`
	Rows   []row     `json:"rows"`
	Tables []table   `json:"tables,omitempty"`
	Charts []chart   `json:"charts,omitempty"`
}

// bench is what the parts share.
type bench struct {
	binary string // the command measured
	empty  string // the empty server
	self   string // this program, for parts that run as separate processes
	cache  string // kept for later runs
	folder string // of this run
	schema string // see tables
	data   string // conversations, "" for none
	items  int    // of the largest store
	runs   int
}

// part is one measurement.
type part struct {
	name, about string
	run         func(*bench) (section, error)
}

func parts() []part {
	return []part{
		{"start", "process start to the first answer", (*bench).start},
		{"read", "memory_read_hot beside an empty tool", (*bench).readHot},
		{"write", "memory_write_warm beside the same rows in a bare transaction, as the store grows", (*bench).write},
		{"processes", "eight processes write one store", (*bench).processes},
		{"search", "memory_search beside the bare full-text query", (*bench).search},
		{"scopes", "memory_search beside items of other scopes", (*bench).scopes},
		{"recall", "recall on conversations beside items of other scopes", (*bench).conversations},
		{"claims", "eight processes take work from one queue", (*bench).claims},
		{"pipeline", "tasks of the pipeline: one subtask, and many tasks in flight", (*bench).pipeline},
		{"swarm", "a swarm is made, and one of its members writes", (*bench).swarm},
		{"trust", "what a verdict and a tier cost", (*bench).trust},
		{"events", "an event to another process", (*bench).events},
		{"memory", "resident memory after many calls", (*bench).resident},
		{"revoke", "streams end after a revocation", (*bench).revoke},
		{"http", "many clients over HTTP", (*bench).http},
		{"roles", "events become work of roles", (*bench).roles},
		{"console", "pages for people on a large store, and many open ones", (*bench).console},
		{"received", "bytes of results that a model receives in a fixed session", (*bench).received},
		{"seats", "bytes that we add to what a model is told that fills a seat", (*bench).seats},
		{"run", "what a run takes beyond its client, and how soon it begins", (*bench).overhead},
		{"peers", "other memory servers beside it", (*bench).peers},
	}
}

// texts tells the text of the n-th note.
type texts interface{ content(n int) string }

// fill writes notes from to until, as fast as they are taken.
func fill(c *client, s texts, from, until int, group string) error {
	return c.pour(until-from, 64,
		func(i int) []byte { return c.request("memory_write_warm", itemOfText(s, from+i, group)) },
		func(line []byte) error { return decode(line, nil) })
}

// times makes n calls, one at a time, and gives how long each took.
func (c *client) times(n int, tool string, args func(i int) any) (latencies, error) {
	list := make(latencies, 0, n)
	for i := range n {
		took, err := c.call(tool, args(i), nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", tool, err)
		}
		list = append(list, took)
	}
	return list, nil
}

// start measures the first answer of fresh processes.
func (b *bench) start() (section, error) {
	var s section
	n, err := b.store(b.large(), "start")
	if err != nil {
		return s, err
	}
	var first, call, floor, floorCall []float64
	for range 4 * b.runs {
		o, f, err := b.starts(n)
		if err != nil {
			return s, err
		}
		first, call = append(first, o[0]), append(call, o[1])
		floor, floorCall = append(floor, f[0]), append(floorCall, f[1])
	}
	r := compared(fmt.Sprintf("start to the first answer, %d items", b.large()), "ms", "empty mcp-go server", first,
		floor)
	s.Rows = append(s.Rows, r.holding("≤ 2 ×", r.Ratio.Median <= 2))
	s.Rows = append(s.Rows, compared("start to the first tool's answer", "ms", "empty mcp-go server", call, floorCall))
	return s, nil
}

// starts starts one of each and gives the times to the handshake's answer and
// to that of the first call.
func (b *bench) starts(n *node) (ours, floor [2]float64, err error) {
	one := func(tool string, launch func() (*client, error)) (t [2]float64, err error) {
		c, err := launch()
		if err != nil {
			return t, err
		}
		took, err := c.call(tool, map[string]any{}, nil)
		if err != nil {
			c.kill()
			return t, err
		}
		t = [2]float64{milliseconds(c.first), milliseconds(c.first + took)}
		return t, c.close()
	}
	if floor, err = one("empty", func() (*client, error) { return launch(nil, b.empty) }); err != nil {
		return ours, floor, err
	}
	ours, err = one("memory_read_hot", func() (*client, error) { return n.open("") })
	return ours, floor, err
}

// readHot measures the smallest read.
func (b *bench) readHot() (section, error) {
	var s section
	n, err := b.store(b.large(), "read")
	if err != nil {
		return s, err
	}
	c, err := n.open("")
	if err != nil {
		return s, err
	}
	defer c.kill()
	e, err := launch(nil, b.empty)
	if err != nil {
		return s, err
	}
	defer e.kill()
	nothing := func(int) any { return map[string]any{} }
	var ours, floor []float64
	for range b.runs {
		f, err := e.times(2000, "empty", nothing)
		if err != nil {
			return s, err
		}
		o, err := c.times(2000, "memory_read_hot", nothing)
		if err != nil {
			return s, err
		}
		ours, floor = append(ours, f2us(o.at(0.5))), append(floor, f2us(f.at(0.5)))
	}
	r := compared("memory_read_hot, p50", "µs", "empty mcp-go tool", ours, floor)
	s.Rows = append(s.Rows, r.holding("≤ 3 ×", r.Ratio.Median <= 3))
	return s, nil
}

func f2us(ms float64) float64 { return ms * 1000 }

// compile builds a command of this project.
func compile(to, pkg string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-o", to, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, out)
	}
	return nil
}
