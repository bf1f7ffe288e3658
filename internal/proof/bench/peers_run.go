//go:build unix

package main

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// table is figures of several servers side by side.
type table struct {
	Head []string   `json:"head"`
	Rows [][]string `json:"rows"`
}

// patience is how long a store may take to grow to a size; one that takes longer
// is not measured at that size.
const patience = 2 * time.Minute

// peers measures the node and other memory servers by the same client.
func (b *bench) peers() (section, error) {
	var s section
	rivals, missing, err := b.rivals()
	if err != nil {
		return s, err
	}
	s.Notes = missing
	head := []string{"what"}
	for _, r := range rivals {
		head = append(head, r.name)
		s.Notes = append(s.Notes, r.about)
	}
	sized := table{Head: head}
	growth := map[string]*chart{}
	for _, what := range []string{"write", "search"} {
		growth[what] = &chart{Name: "peers-" + what, Title: "One " + what + ", p50 in ms, by items in the store",
			Log: true, Lines: map[string][]point{}}
	}
	for _, size := range b.sizes() {
		if size > 100_000 { // what the others are not made for
			break
		}
		columns := make([]map[string][]float64, len(rivals))
		for run := range b.runs {
			for i, r := range rivals {
				got, err := b.once(r, size, run)
				if errors.Is(err, errPatience) {
					if run == 0 {
						s.Notes = append(s.Notes, fmt.Sprintf("%s did not grow to %d items in %v.", r.name, size,
							patience))
					}
					continue
				}
				if err != nil {
					return s, fmt.Errorf("%s at %d items: %w", r.name, size, err)
				}
				if columns[i] == nil {
					columns[i] = map[string][]float64{}
				}
				for what, v := range got {
					columns[i][what] = append(columns[i][what], v)
				}
			}
		}
		sized.Rows = append(sized.Rows, sizedRows(size, columns)...)
		for i, r := range rivals {
			for what, c := range growth {
				if list := columns[i][what+" p50, ms"]; len(list) > 0 {
					c.add(r.name, size, spreadOf(list).Median)
				}
			}
		}
	}
	s.Tables = append(s.Tables, sized)
	safe := table{Head: head}
	for _, test := range []struct {
		what string
		run  func(rival) (string, error)
	}{
		{"killed while writing, 5 times: acknowledged / lost", b.killed},
		{"4 processes write 250 texts each: acknowledged / refused / lost", b.crowdWrites},
		{"4 processes change one record 50 times each: acknowledged / refused / lost", b.crowdChanges},
	} {
		row := []string{test.what}
		for _, r := range rivals {
			out, err := test.run(r)
			if err != nil {
				return s, fmt.Errorf("%s, %s: %w", r.name, test.what, err)
			}
			row = append(row, out)
		}
		safe.Rows = append(safe.Rows, row)
	}
	s.Tables = append(s.Tables, safe)
	for _, what := range slices.Sorted(maps.Keys(growth)) {
		s.Charts = append(s.Charts, *growth[what])
	}
	s.Notes = append(s.Notes, "Lost: acknowledged, and not there when a new process looks. Killed is the death of a "+
		"process; what a power cut would take is another question.")
	return s, nil
}

// sizedFigures are what once measures, in the order of the table.
var sizedFigures = []string{"start, ms", "write p50, ms", "search p50, ms", "found by 3 of its words, %", "memory, MB"}

func sizedRows(size int, columns []map[string][]float64) (rows [][]string) {
	for _, what := range sizedFigures {
		row := []string{fmt.Sprintf("%d items: %s", size, what)}
		for _, c := range columns {
			if list := c[what]; len(list) > 0 {
				row = append(row, spreadOf(list).String())
			} else {
				row = append(row, "–")
			}
		}
		rows = append(rows, row)
	}
	return rows
}

var errPatience = errors.New("it took too long to grow")

// grown gives a copy of a rival's store of some size.
func (b *bench) grown(r rival, size int, name string) (string, error) {
	slow := filepath.Join(b.cache, "stores", r.version, fmt.Sprintf("peer-%s-%d.slow", r.name, size))
	if _, err := os.Stat(slow); err == nil {
		return "", errPatience
	}
	from, err := b.template(r.version, "peer-"+r.name, size, func(folder string, at, until int) error {
		c, err := r.open(folder)
		if err != nil {
			return err
		}
		defer c.kill()
		if r.grow != nil {
			if err := c.close(); err != nil {
				return err
			}
			return r.grow(folder, at, until)
		}
		if err := r.pour(c, at, until); err != nil {
			return err
		}
		return c.close()
	})
	if errors.Is(err, errPatience) {
		return "", errors.Join(err, os.MkdirAll(filepath.Dir(slow), 0o700), os.WriteFile(slow, nil, 0o600))
	}
	if err != nil {
		return "", err
	}
	folder := filepath.Join(b.folder, name)
	if err := os.RemoveAll(folder); err != nil {
		return "", err
	}
	return folder, copyFolder(from, folder)
}

// pour has a server store texts from to until, many to a call where it can.
func (r rival) pour(c *client, from, until int) error {
	end := time.Now().Add(patience)
	return c.pour((until-from+r.batch-1)/r.batch, max(1, 64/r.batch), func(i int) []byte {
		var list []text
		for k := from + i*r.batch; k < min(until, from+(i+1)*r.batch); k++ {
			list = append(list, textAt(k))
		}
		return c.request(r.store(list))
	}, func(line []byte) error {
		if time.Now().After(end) {
			return errPatience
		}
		_, err := wordsOf(line)
		return err
	})
}

// once measures a rival at a size, from its start to the end of a short session.
func (b *bench) once(r rival, size, run int) (map[string]float64, error) {
	const writes, searches = 50, 20
	folder, err := b.grown(r, size, "peer")
	if err != nil {
		return nil, err
	}
	c, err := r.open(folder)
	if err != nil {
		return nil, err
	}
	defer c.kill()
	out := map[string]float64{"start, ms": milliseconds(c.first)}
	var write, search latencies
	for i := range writes {
		_, took, err := c.ask(r.store([]text{textAt(10*size + run*writes + i)}))
		if err != nil {
			return nil, err
		}
		write = append(write, took)
	}
	random := rand.New(rand.NewPCG(uint64(run), uint64(size)))
	found := 0.0
	for range searches {
		sought := textAt(random.IntN(size))
		words := strings.Fields(sought.words)
		answer, took, err := c.searched(r, words[len(words)-1])
		if err != nil {
			return nil, err
		}
		if !shows(answer, sought) {
			return nil, fmt.Errorf("%s did not find %q by its own word: %.200s", r.name, sought.words, answer)
		}
		search = append(search, took)
		three := []string{words[21], words[3], words[12]}
		if answer, _, err = c.searched(r, strings.Join(three, " ")); err != nil {
			return nil, err
		}
		if shows(answer, sought) {
			found++
		}
	}
	out["write p50, ms"], out["search p50, ms"] = write.at(0.5), search.at(0.5)
	out["found by 3 of its words, %"] = 100 * found / searches
	if out["memory, MB"], err = statusMB(c.cmd.Process.Pid, "VmRSS"); err != nil {
		return nil, err
	}
	return out, nil
}

// searched is the whole answer to a search, with its structured part.
func (c *client) searched(r rival, query string) (string, time.Duration, error) {
	line, took, err := c.roundTrip(c.request(r.search(query)))
	if err == nil {
		err = decode(line, nil)
	}
	return string(line), took, err
}

// shows reports whether an answer holds a text, by its end or by its key. The
// question is not in what is looked for, because some servers repeat it.
func shows(answer string, t text) bool {
	return strings.Contains(answer, t.tail()) || strings.Contains(answer, t.key)
}
