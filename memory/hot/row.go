package hot

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/go-json-experiment/json"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/memory/canonical"
	"cordelia/schemas"
)

// row is a row of l1.
type row struct {
	entity                   schemas.EntityID
	own                      map[string]any // the entity's part
	raw                      []byte         // own, canonical
	docHash                  Hash           // of raw as last written
	updatedAt                int64          // µs
	sessions                 int64
	client                   string // the client's name for the open session
	started                  int64  // µs, 0 = no session is open
	ended                    int64  // µs, of the last session
	chain, previous, content Hash
	archived                 int64 // µs
}

// open reads the context for one kind of use, if the caller may.
func open(g access.Grant, kind access.Kind, entity schemas.EntityID) (*row, error) {
	if err := need(g, kind, entity); err != nil {
		return nil, err
	}
	r, err := load(g.Tx(), entity)
	if err != nil {
		return nil, err
	}
	if kind == access.KindWrite && r.archived != 0 {
		return nil, schemas.Conflictf("the context of %s is archived since %s", entity, events.Timestamp(r.archived)).
			Try("the parent can reactivate the agent with %s", schemas.Other("agent_lifecycle", "agent",
				access.RefOf(g.Tx(), entity), "action", schemas.Reactivate))
	}
	return r, nil
}

// lastRead is the actor's context as last read, good as long as nothing is committed.
type lastRead struct {
	at  store.Snapshot
	row *row
}

var lastReads access.Fact[struct{}, *atomic.Pointer[lastRead]]

// toRead is open for a reader that changes nothing in what it gets.
func toRead(g access.Grant, entity schemas.EntityID) (*row, error) {
	if err := need(g, access.KindRead, entity); err != nil {
		return nil, err
	}
	if entity != g.Actor() { // what is kept is bounded
		return load(g.Tx(), entity)
	}
	last, err := lastReads.Of(g, struct{}{}, func() (*atomic.Pointer[lastRead],
		error) {
		return new(atomic.Pointer[lastRead]), nil
	})
	if err != nil {
		return nil, err
	}
	at := g.Tx().Snapshot()
	if cached := last.Load(); cached != nil && cached.at == at && at != (store.Snapshot{}) {
		return cached.row, nil
	}
	r, err := load(g.Tx(), entity)
	if err == nil && len(r.raw) <= SoftLimit {
		last.Store(&lastRead{at, r})
	}
	return r, err
}

func need(g access.Grant, kind access.Kind, entity schemas.EntityID) error {
	err := g.Need(access.Need{Kind: kind, Layer: schemas.L1, Owner: entity})
	if errors.Is(err, schemas.ErrNotFound) {
		return noContext()
	}
	return err
}

func noContext() error {
	return schemas.NotFoundf("there is no context here that you may read of the agent you named").
		Expecting("an agent whose context you have the right to read").
		Try("%s shows the agents below you; without entity, %s reads your own", schemas.Tool("agent_list"),
			schemas.Tool("memory_read_hot"))
}

func load(tx *store.Tx, entity schemas.EntityID) (*row, error) {
	r := &row{entity: entity}
	var docHash, chain, previous, content []byte
	err := tx.QueryRow(selectContext, entity).Scan(&r.raw, &docHash, &r.updatedAt, &r.sessions, &r.client, &r.started,
		&r.ended,
		&chain, &previous, &content, &r.archived)
	if errors.Is(err, store.ErrNoRows) {
		return nil, noContext()
	}
	if err != nil {
		return nil, fmt.Errorf("read context: %w", err)
	}
	copy(r.docHash[:], docHash)
	copy(r.chain[:], chain)
	copy(r.previous[:], previous)
	copy(r.content[:], content)
	if err := json.Unmarshal(r.raw, &r.own); err != nil || r.own == nil {
		// Shown as empty and caught by verify: the entity can still replace it.
		r.own = map[string]any{}
	}
	return r, nil
}

// touch dates a change. updated_at always rises, so that it tells two versions
// apart even when they were written in one batch or the clock was set back.
func (r *row) touch(tx *store.Tx) { r.updatedAt = max(tx.Micros(), r.updatedAt+1) }

// save writes r with query, insertContext or updateContext.
func (r *row) save(tx *store.Tx, query string) error {
	n, err := tx.Exec(query, string(r.raw), r.docHash[:], r.updatedAt, r.sessions, r.client, r.started, r.ended,
		r.chain[:], r.previous[:], r.content[:], r.archived, r.entity)
	if err != nil {
		return fmt.Errorf("write context: %w", err)
	}
	if n != 1 {
		return fmt.Errorf("write context: %d rows changed", n)
	}
	return nil
}

// target names the context in the audit record.
func (r *row) target() string { return "l1/" + string(r.entity) }

// render is the context as its entity reads it.
func (r *row) render(view View) (map[string]any, error) {
	var err error
	queue := any([]any{})
	if len(view.Queue) > 0 {
		if queue, err = canonical.Plain(view.Queue); err != nil {
			return nil, err
		}
	}
	values := map[string]any{
		"/version":                 float64(version),
		"/updated_at":              events.Timestamp(r.updatedAt),
		"/identity/id":             string(r.entity),
		"/ephemeral/session_count": float64(r.sessions),
		"/ephemeral/integrity": map[string]any{
			"chain_hash": r.chain.String(), "previous_hash": r.previous.String(),
			"genesis": Genesis(r.entity).String(),
		},
		"/agent/event_queue": queue,
	}
	if r.started != 0 {
		values["/ephemeral/current_session_start"] = events.Timestamp(r.started)
	}
	if r.ended != 0 {
		values["/ephemeral/last_session_end"] = events.Timestamp(r.ended)
	}
	if a := view.Agent; a != nil {
		values["/agent/parent_entity_id"] = string(a.ParentEntityID)
		values["/agent/agent_type"] = string(a.AgentType)
		if view.capabilities == nil {
			if view.capabilities, err = canonical.Plain(a.Capabilities); err != nil {
				return nil, err
			}
		}
		values["/agent/capabilities"] = view.capabilities
	}
	return withOwned(r.own, values), nil
}
