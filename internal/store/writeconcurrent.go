package store

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"cordelia/internal/store/postgres"
)

// maxConcurrent is how many transactions of WriteConcurrent a process runs at a time.
const maxConcurrent = 8

// errAlone ends a transaction that has to be made again by Write.
var errAlone = errors.New("store: this transaction has to run alone")

// shared are the tables that transactions beside each other may change. Each row of them belongs
// to one agent, whose transactions take turns; or is taken by a lock of its row, as an item is by
// the claim that finds it; or is written in the last exchange, in which one transaction at a time
// commits. All others change only in a transaction that runs alone, so what a transaction beside
// others reads of them holds until it commits.
var shared = map[string]bool{
	// The item's holder, or the agent that claims it. A trigger of an item that ends marks the
	// episode of a role that it was for, which no other transaction beside it reads.
	"work_items": true, "work_leases": true,
	"slots":       true, // added last, and counted then
	"idempotency": true, // the agent's
	"cursors":     true, // the agent's: how far it has read. That it passes by its own events is written last
	"streams":     true, // last, as what follows
	"events":      true, "audit": true, "audit_details": true,
	"call_counts": true, "denials": true, // of the flushes of nodes, which take turns
}

// signOfLife begins the one change of an agent's own row that is made beside others. The sign only
// rises, unless it lies in the future, where it gives no right: a decision that it allowed holds.
const signOfLife = "UPDATE entities SET last_seen_at = "

// WriteConcurrent is Write where the engine can run transactions beside each other: those of one
// agent come one after the other, and none runs beside one of Write. What it asks of fn:
//
//   - It may run twice: a transaction that turns out to need what others must not change meanwhile
//     (Tx.Alone, a table that is not shared, a deadlock) is undone and made again by Write.
//   - What it reads of shared tables others may change before it commits, but for the rows of its
//     agent and those that it has locked.
//   - What all such transactions write in the same place it writes last (Tx.Last).
func (s *Store) WriteConcurrent(ctx context.Context, agent string, fn func(*Tx) error) error {
	if s.concurrent != nil {
		if again, err := s.writeConcurrent(ctx, agent, fn); !again {
			return err
		}
	}
	return s.Write(ctx, fn)
}

func (s *Store) writeConcurrent(ctx context.Context, agent string, fn func(*Tx) error) (again bool, err error) {
	c, err := s.concurrent.take(ctx)
	if err != nil {
		return false, classify(err)
	}
	defer s.concurrent.give(c)
	t := &Tx{ctx: ctx, conn: c, clock: s.clock, waits: true, writable: true, concurrent: true}
	committed := false
	defer func() { // also when fn ends the goroutine
		if !committed && !c.broken() {
			err = errors.Join(err, c.exec("ROLLBACK"))
		}
	}()
	for _, statement := range c.dialect.concurrent {
		if err := c.later(statement); err != nil {
			return false, classify(fmt.Errorf("begin: %w", err))
		}
	}
	if err := t.Send(c.dialect.afterAgent, agent); err != nil {
		return false, classify(fmt.Errorf("begin: %w", err))
	}
	if err = t.run(fn); err == nil {
		err = ctx.Err() // a caller that gave up meanwhile must not find its write done
	}
	if err == nil && !t.alone {
		err = t.commit()
		committed = err == nil
	}
	switch {
	case committed:
		t.runAfter()
		if t.news {
			s.news.Notify()
		}
		return false, nil
	case t.alone || errors.Is(err, errAlone) || postgres.FaultOf(err) == postgres.Crossed:
		return true, nil
	}
	return false, classify(err)
}

// commit makes the changes that were kept for the last exchange, and commits with them.
func (t *Tx) commit() error {
	t.ended.Store(false)
	defer t.ended.Store(true)
	if len(t.last) > 0 {
		if err := t.conn.later(t.conn.dialect.last); err != nil {
			return err
		}
		for _, change := range t.last {
			if err := t.Send(change.query, change.args...); err != nil {
				return err
			}
		}
	}
	err := t.conn.exec("COMMIT")
	if err != nil && t.conn.broken() {
		return errUncertain(err)
	}
	return err
}

// lastly is a statement that is sent with the commit.
type lastly struct {
	query string
	args  []any
}

// Last is Send of a change at the end of the transaction, if that runs beside others: it goes with
// the commit, in one exchange, during which no other of them commits. So what it reads is the
// newest, and the others wait for no round trip. What follows in the transaction does not see it.
func (t *Tx) Last(query string, args ...any) error {
	if t.usable() != nil || !t.concurrent {
		return t.Send(query, args...)
	}
	if !sharedOnly(query) {
		return t.Alone()
	}
	t.last = append(t.last, lastly{query, args})
	return nil
}

// Ensure has the transaction made again alone if the query, sent like Last, divides by zero.
// One that runs alone looks before it writes.
func (t *Tx) Ensure(query string, args ...any) {
	if t.usable() == nil && t.concurrent {
		t.last = append(t.last, lastly{query, args})
	}
}

// Concurrent reports whether other transactions run beside it.
func (t *Tx) Concurrent() bool { return t.usable() == nil && t.concurrent }

// Alone returns nil in a transaction beside which no other one runs, and ends others.
func (t *Tx) Alone() error {
	if err := t.usable(); err != nil || !t.concurrent {
		return err
	}
	t.alone = true
	return errAlone
}

var (
	writes   = regexp.MustCompile(`\b(?:INSERT INTO|UPDATE|DELETE FROM)\s+(\w+)`)
	mayWrite = regexp.MustCompile(`(?i)\b(?:INSERT|UPDATE|DELETE|MERGE|TRUNCATE|COPY)\b`)
	checked  sync.Map // statement → whether it changes shared tables alone
)

// sharedOnly reports whether a statement changes no other tables than shared ones. One that may
// write in words that it does not know does not.
func sharedOnly(query string) bool {
	if ok, seen := checked.Load(query); seen {
		return ok.(bool) //nolint:errcheck,forcetypeassert // only this function stores
	}
	known := writes.FindAllStringSubmatch(query, -1)
	ok := len(known) == len(mayWrite.FindAllString(query, -1))
	for _, m := range known {
		switch table := m[1]; table {
		case "SET", "SKIP": // DO UPDATE SET, FOR UPDATE SKIP LOCKED
		case "entities":
			ok = ok && strings.HasPrefix(query, signOfLife)
		default:
			ok = ok && shared[table]
		}
	}
	checked.Store(query, ok)
	return ok
}
