//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// bareWork is what a bare process does again and again, each time in a transaction.
type bareWork string

const (
	bareWrites  bareWork = "writes"  // the rows of one memory_write_warm
	bareCommits bareWork = "commits" // one row
)

// bareRow100 is the value of the row of a bare commit, 100 bytes.
var bareRow100 = strings.Repeat("x", 100)

const bareOne = `INSERT INTO node(name, value) VALUES (?, ?)`

// bareTogether has bare processes, as many as writers, work on one database for a time,
// and gives how much they did in a second.
func (b *bench) bareTogether(work bareWork, path string, run int, lasting time.Duration) (rate float64, err error) {
	list, err := atOnce(writers, func(k int) (w writing, err error) {
		seed := strconv.Itoa(run*writers + k + 100)
		var stderr bytes.Buffer
		bare := exec.Command(b.self, "bare", string(work), path, seed, lasting.String())
		bare.Stderr = &stderr
		out, err := bare.Output()
		if err != nil {
			return w, fmt.Errorf("bare process: %w: %s", err, &stderr)
		}
		return w, json.Unmarshal(out, &w)
	})
	rate, _ = inOneSecond(list, lasting)
	return rate, err
}

// inOneSecond is what processes did in a second, and the longest wait of one of them.
func inOneSecond(list []writing, lasting time.Duration) (rate, slowest float64) {
	for _, w := range list {
		rate, slowest = rate+float64(w.Done), max(slowest, w.Max)
	}
	return rate / lasting.Seconds(), slowest
}

// runBare is one bare process; it prints what it did.
func runBare(args []string) error {
	if len(args) != 4 {
		return errors.New("bare takes a work, a path, a seed and a time")
	}
	work, path := bareWork(args[0]), args[1]
	seed, err := strconv.ParseUint(args[2], 10, 64)
	if err != nil {
		return err
	}
	lasting, err := time.ParseDuration(args[3])
	if err != nil {
		return err
	}
	b, err := openBare(path, seed)
	if err != nil {
		return err
	}
	defer b.close() //nolint:errcheck // the process ends
	b.n = int(seed) * 100_000
	once := func(int) func() error {
		r := b.row()
		return func() error { return b.insert(r) }
	}
	if work == bareCommits {
		once = func(i int) func() error {
			return func() error { return b.exec(bareOne, fmt.Sprintf("%d/%d", seed, i), bareRow100) }
		}
	}
	var w writing
	for end := time.Now().Add(lasting); time.Now().Before(end); w.Done++ {
		write := once(w.Done)
		start := time.Now()
		if err := b.commit(write); err != nil {
			return err
		}
		w.Max = max(w.Max, milliseconds(time.Since(start)))
	}
	raw, err := json.Marshal(w)
	if err == nil {
		fmt.Println(string(raw))
	}
	return err
}
