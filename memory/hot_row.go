package memory

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/go-json-experiment/json"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// hot is a row of l1.
type hot struct {
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

// openHot reads the context for one kind of use, if the caller may.
func openHot(g access.Grant, kind access.Kind, entity schemas.EntityID) (*hot, error) {
	if err := needHot(g, kind, entity); err != nil {
		return nil, err
	}
	h, err := loadHot(g.Tx(), entity)
	if err != nil {
		return nil, err
	}
	if kind == access.KindWrite && h.archived != 0 {
		return nil, schemas.Conflictf("the context of %s is archived since %s", entity, events.Timestamp(h.archived)).
			Try("the parent can reactivate the agent with %s", schemas.Tool("agent_lifecycle"))
	}
	return h, nil
}

// hotRead is the actor's context as last read, good as long as nothing is committed.
type hotRead struct {
	at  store.Snapshot
	row *hot
}

var lastReads access.Fact[struct{}, *atomic.Pointer[hotRead]]

// hotToRead is openHot for a reader that changes nothing in what it gets.
func hotToRead(g access.Grant, entity schemas.EntityID) (*hot, error) {
	if err := needHot(g, access.KindRead, entity); err != nil {
		return nil, err
	}
	if entity != g.Actor() { // what is kept is bounded
		return loadHot(g.Tx(), entity)
	}
	last, err := lastReads.Of(g, struct{}{}, func() (*atomic.Pointer[hotRead],
		error) {
		return new(atomic.Pointer[hotRead]), nil
	})
	if err != nil {
		return nil, err
	}
	at := g.Tx().Snapshot()
	if r := last.Load(); r != nil && r.at == at && at != (store.Snapshot{}) {
		return r.row, nil
	}
	h, err := loadHot(g.Tx(), entity)
	if err == nil && len(h.raw) <= HotSoftLimit {
		last.Store(&hotRead{at, h})
	}
	return h, err
}

func needHot(g access.Grant, kind access.Kind, entity schemas.EntityID) error {
	err := g.Need(access.Need{Kind: kind, Layer: schemas.L1, Owner: entity})
	if errors.Is(err, schemas.ErrNotFound) {
		return noHot(entity)
	}
	return err
}

func noHot(entity schemas.EntityID) error {
	return schemas.NotFoundf("there is no context here that you may read of the agent you named").
		Expecting("an agent whose context you have the right to read").
		Try("%s shows the agents you can name; without entity, %s reads your own", schemas.Tool("agent_list"),
			schemas.Tool("memory_read_hot"))
}

func loadHot(tx *store.Tx, entity schemas.EntityID) (*hot, error) {
	h := &hot{entity: entity}
	var docHash, chain, previous, content []byte
	err := tx.LookupRow(selectHot, entity).Scan(&h.raw, &docHash, &h.updatedAt, &h.sessions, &h.client, &h.started,
		&h.ended,
		&chain, &previous, &content, &h.archived)
	if errors.Is(err, store.ErrNoRows) {
		return nil, noHot(entity)
	}
	if err != nil {
		return nil, fmt.Errorf("read context: %w", err)
	}
	copy(h.docHash[:], docHash)
	copy(h.chain[:], chain)
	copy(h.previous[:], previous)
	copy(h.content[:], content)
	if err := json.Unmarshal(h.raw, &h.own); err != nil || h.own == nil {
		// Shown as empty and caught by verify: the entity can still replace it.
		h.own = map[string]any{}
	}
	return h, nil
}

// touch dates a change. updated_at always rises, so that it tells two versions
// apart even when they were written in one batch or the clock was set back.
func (h *hot) touch(tx *store.Tx) { h.updatedAt = max(tx.Micros(), h.updatedAt+1) }

// save writes h with query, insertHot or updateHot.
func (h *hot) save(tx *store.Tx, query string) error {
	n, err := tx.Exec(query, string(h.raw), h.docHash[:], h.updatedAt, h.sessions, h.client, h.started, h.ended,
		h.chain[:], h.previous[:], h.content[:], h.archived, h.entity)
	if err != nil {
		return fmt.Errorf("write context: %w", err)
	}
	if n != 1 {
		return fmt.Errorf("write context: %d rows changed", n)
	}
	return nil
}

// target names the context in the audit record.
func (h *hot) target() string { return "l1/" + string(h.entity) }

// render is the context as its entity reads it.
func (h *hot) render(view HotView) (map[string]any, error) {
	var err error
	queue := any([]any{})
	if len(view.Queue) > 0 {
		if queue, err = plain(view.Queue); err != nil {
			return nil, err
		}
	}
	values := map[string]any{
		"/version":                 float64(hotVersion),
		"/updated_at":              events.Timestamp(h.updatedAt),
		"/identity/id":             string(h.entity),
		"/ephemeral/session_count": float64(h.sessions),
		"/ephemeral/integrity": map[string]any{
			"chain_hash": h.chain.String(), "previous_hash": h.previous.String(),
			"genesis": HotGenesis(h.entity).String(),
		},
		"/agent/event_queue": queue,
	}
	if h.started != 0 {
		values["/ephemeral/current_session_start"] = events.Timestamp(h.started)
	}
	if h.ended != 0 {
		values["/ephemeral/last_session_end"] = events.Timestamp(h.ended)
	}
	if a := view.Agent; a != nil {
		values["/agent/parent_entity_id"] = string(a.ParentEntityID)
		values["/agent/agent_type"] = string(a.AgentType)
		if view.capabilities == nil {
			if view.capabilities, err = plain(a.Capabilities); err != nil {
				return nil, err
			}
		}
		values["/agent/capabilities"] = view.capabilities
	}
	return withOwned(h.own, values), nil
}
