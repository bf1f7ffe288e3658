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

// keptRoutine names what the node does about kept calls.
const keptRoutine = "kept_calls"

// keptRow is a row of mcp_tasks. Times are UTC µs.
type keptRow struct {
	id                               string
	owner                            schemas.EntityID
	tool, arguments                  string
	state                            KeptState
	until, created, updated, expires int64
	result, refusal                  string
}

func (k *keptRow) head() Kept {
	at := func(micros int64) time.Time { return time.UnixMicro(micros).UTC() }
	return Kept{ID: k.id, State: k.state, Created: at(k.created), Updated: at(k.updated), Expires: at(k.expires)}
}

// readKept reads a row as the node: asking for a call that waits is no sign of life
// of who waits, and who may see its answer is asked when it is shown.
func (s *Service) readKept(ctx context.Context, owner schemas.EntityID, id string) (k keptRow, err error) {
	err = s.Look(ctx, keptRoutine, func(g access.Grant) error {
		err := g.Tx().LookupRow(selectKept, id, owner, g.Tx().Micros()).Scan(&k.id, &k.owner, &k.tool, &k.arguments,
			&k.state,
			&k.until, &k.created, &k.updated, &k.expires, &k.result, &k.refusal)
		if noRows(err) {
			return schemas.NotFoundf("you have no such call waiting").Try("make the call again")
		}
		if err != nil {
			return fmt.Errorf("read kept call: %w", err)
		}
		return nil
	})
	return k, err
}

// overdueKept reports whether rows have expired.
func overdueKept(g access.Grant) (n int, err error) {
	err = g.Tx().LookupRow(countOver, g.Tx().Micros()).Scan(&n)
	return n, err
}

func dropKept(g access.Grant) error {
	_, err := g.Tx().Exec(dropOver, g.Tx().Micros())
	return err
}

// maxSeen bounds a process's memory of waiting calls.
const maxSeen = 4096

// seenWork is what this process found out about the lanes of waiting calls, by their
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
