package ops

import (
	"context"
	"fmt"
	"sync"
	"time"

	"cordelia/access"
	"cordelia/schemas"
	"cordelia/work"
)

// pendingRoutine names what the node does about pending calls.
const pendingRoutine = "kept_calls"

// pendingRow is a row of mcp_tasks. Times are UTC µs.
type pendingRow struct {
	id                               string
	owner                            schemas.EntityID
	tool, arguments                  string
	state                            PendingState
	until, created, updated, expires int64
	result, refusal                  string
}

func (k *pendingRow) head() PendingCall {
	at := func(micros int64) time.Time { return time.UnixMicro(micros).UTC() }
	return PendingCall{ID: k.id, State: k.state, Created: at(k.created), Updated: at(k.updated), Expires: at(k.expires)}
}

// readPending reads a row as the node: asking for a pending call is no sign of life of its caller.
// The right to see the answer is checked when it is shown.
func (s *Service) readPending(ctx context.Context, owner schemas.EntityID, id string) (k pendingRow, err error) {
	err = s.Look(ctx, pendingRoutine, func(g access.Grant) error {
		err := g.Tx().QueryRow(selectPending, id, owner, g.Tx().Micros()).Scan(&k.id, &k.owner, &k.tool, &k.arguments,
			&k.state,
			&k.until, &k.created, &k.updated, &k.expires, &k.result, &k.refusal)
		if noRows(err) {
			return schemas.NotFoundf("you have no such call waiting").Try("make the call again")
		}
		if err != nil {
			return fmt.Errorf("read pending call: %w", err)
		}
		return nil
	})
	return k, err
}

// overduePending reports whether rows have expired.
func overduePending(g access.Grant) (n int, err error) {
	err = g.Tx().QueryRow(countOver, g.Tx().Micros()).Scan(&n)
	return n, err
}

func dropPending(g access.Grant) error {
	_, err := g.Tx().Exec(dropOver, g.Tx().Micros())
	return err
}

// maxSeen bounds a process's memory of waiting calls.
const maxSeen = 4096

// seenWork is what this process found out about the eligibility classes of waiting calls, by their
// id: asking with the caller's rights each time would count as its sign of life.
type seenWork struct {
	mu   sync.Mutex
	byID map[string]*work.Watch
}

// take gives what is known, to one poll at a time.
func (s *seenWork) take(id string) *work.Watch {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w, ok := s.byID[id]; ok {
		delete(s.byID, id)
		return w
	}
	return &work.Watch{}
}

func (s *seenWork) give(id string, w *work.Watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID == nil || len(s.byID) >= maxSeen {
		s.byID = map[string]*work.Watch{} // those still asked for come back
	}
	s.byID[id] = w
}

func (s *seenWork) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, id)
}
