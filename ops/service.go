package ops

import (
	"context"
	"sync"
	"time"

	"cordelia/access"
	"cordelia/internal/keys"
	"cordelia/node"
	"cordelia/schemas"
)

// Service answers calls of operations, on one node.
type Service struct {
	*node.Node
	specs   map[string]Spec // of all operations, by name
	tainted sync.Map        // reader → true: sessions that were shown second-hand words
	waiting seenWork        // by pending calls
}

// Open opens a node, as node.Open does, and serves the catalogue on it. Close it.
func Open(ctx context.Context, c node.Config) (*Service, error) {
	c.Tools = Names()
	n, err := node.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	s := &Service{Node: n, specs: map[string]Spec{}}
	for _, o := range Catalogue() {
		s.specs[o.Name] = o.Spec
	}
	n.Regularly(forgetEvery, "answers of calls", s.forget)
	return s, nil
}

const (
	forgetEvery   = 5 * time.Second
	idempotentFor = 24 * time.Hour // how long a call can be repeated with its key
)

// forget drops the answers of calls that no caller can ask for any more. It writes only
// when there is something to write.
func (s *Service) forget(ctx context.Context) error {
	var old int
	if err := s.Look(ctx, "sweep", func(g access.Grant) (err error) {
		if old, err = overduePending(g); err != nil || old > 0 {
			return err
		}
		return g.Tx().QueryRow(countStale, g.Tx().Micros()-idempotentFor.Microseconds()).Scan(&old)
	}); err != nil || old == 0 {
		return err
	}
	return s.Routine(ctx, "sweep", func(g access.Grant) error {
		if _, err := g.Tx().Exec(dropRecorded, g.Tx().Micros()-idempotentFor.Microseconds()); err != nil {
			return err
		}
		return dropPending(g)
	})
}

// Caller is the principal of a process that holds the key of f.
func (s *Service) Caller(ctx context.Context, f keys.File, session string) (Caller, error) {
	p, err := s.Identify(ctx, f, session)
	identity := f.Identity
	return Caller{Principal: p, key: &identity,
		Sign: func(msg []byte) ([]byte, schemas.EntityID) { return identity.Sign(msg), f.EntityID }}, err
}

// Person opens the key of this machine's person with ring and gives who they are.
func (s *Service) Person(ctx context.Context, keyring *node.Keyring, session string) (Caller, error) {
	f, err := keyring.Person(ctx)
	if err != nil {
		return Caller{}, err
	}
	return s.Caller(ctx, f, session)
}
