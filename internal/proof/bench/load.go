//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// An operation is something a client does for the n-th time in a run.
type operation func(n int) error

// openLoop offers operations at random moments, rate a second on average, also while earlier
// ones are late, and shares them out among the clients. A time counts from the moment an
// operation was due and not from when a client was free for it, or a server that stalls would
// not be seen stalling (coordinated omission).
func openLoop(rate float64, lasting time.Duration, seed uint64, clients []operation) (latencies, error) {
	random := rand.New(rand.NewPCG(seed, seed))
	var due []time.Duration
	for at := 0.0; ; {
		at += random.ExpFloat64() / rate
		d := time.Duration(at * float64(time.Second))
		if d >= lasting {
			break
		}
		due = append(due, d)
	}
	took := make(latencies, len(due))
	begun := time.Now()
	err := shareOut(clients, func(do operation, n int) (bool, error) {
		if n >= len(due) {
			return false, nil
		}
		if wait := due[n] - time.Since(begun); wait > 0 {
			time.Sleep(wait)
		}
		err := do(n)
		took[n] = time.Since(begun) - due[n]
		return true, err
	})
	return took, err
}

// closedLoop has every client start its next operation when the one before is
// done, and gives how many a second that makes and how long each took.
func closedLoop(lasting time.Duration, clients []operation) (rate float64, took latencies, err error) {
	var mu sync.Mutex
	begun := time.Now()
	err = shareOut(clients, func(do operation, n int) (bool, error) {
		start := time.Now()
		if start.Sub(begun) >= lasting {
			return false, nil
		}
		err := do(n)
		mu.Lock()
		took = append(took, time.Since(start))
		mu.Unlock()
		return true, err
	})
	return float64(len(took)) / time.Since(begun).Seconds(), took, err
}

// shareOut numbers operations over all clients until one fails or each has been stopped.
func shareOut(clients []operation, one func(do operation, n int) (more bool, err error)) error {
	var next, failed atomic.Int64
	errs := make([]error, len(clients))
	var all sync.WaitGroup
	for i, do := range clients {
		all.Go(func() {
			for failed.Load() == 0 {
				n := int(next.Add(1)) - 1
				more, err := one(do, n)
				if err != nil {
					errs[i] = fmt.Errorf("operation %d: %w", n, err)
					failed.Store(1)
				}
				if !more || err != nil {
					return
				}
			}
		})
	}
	all.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return errs[i]
	}
	return nil
}
