package agents

import (
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/keys"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Record is an entity as stored.
type Record struct {
	ID           schemas.EntityID
	Parent       schemas.EntityID
	Type         schemas.AgentType // "" for a human
	DisplayName  string
	Name         string
	Namesake     string // whose name this would have been, "" if that was free; set by Register alone
	CreatedAt    int64  // UTC µs, as all times here
	Key          keys.Recipient
	SealedKey    []byte
	Status       schemas.AgentStatus
	StatusBy     schemas.EntityID
	StatusReason string
	StatusAt     int64
	ExpiresAt    int64
	GraceUntil   int64
	LastSeenAt   int64
	Capabilities schemas.Capabilities
	Grants       schemas.Grants
	NodeID       string // of the node it belongs to, "" = this one
}

func scanRecord(scan func(...any) error) (Record, error) {
	var r Record
	var caps, grants string
	if err := scan(&r.ID, &r.Parent, &r.Type, &r.DisplayName, &r.Name, &r.CreatedAt,
		&r.Key.PublicKey, &r.Key.EncPublicKey, &r.Key.Binding, &r.Key.KeySeq, &r.SealedKey,
		&r.Status, &r.StatusBy, &r.StatusReason, &r.StatusAt,
		&r.ExpiresAt, &r.GraceUntil, &r.LastSeenAt, &caps, &grants, &r.NodeID); err != nil {
		return r, err
	}
	if err := json.Unmarshal([]byte(caps), &r.Capabilities); err != nil {
		return r, fmt.Errorf("capabilities of %s: %w", r.ID, err)
	}
	if err := json.Unmarshal([]byte(grants), &r.Grants); err != nil {
		return r, fmt.Errorf("grants of %s: %w", r.ID, err)
	}
	return r, nil
}

// load reads an entity; CodeNotFound if there is none.
func load(tx *store.Tx, id schemas.EntityID) (Record, error) {
	r, err := scanRecord(tx.QueryRow(selectRecord, id).Scan)
	if errors.Is(err, store.ErrNoRows) {
		return r, access.NotKnown(string(id))
	}
	if err != nil {
		return r, fmt.Errorf("read entity: %w", err)
	}
	return r, nil
}

// Inspect reads a record for a check of a database that no node has open. It needs no grant: a
// caller with the transaction has the file.
func Inspect(tx *store.Tx, id schemas.EntityID) (Record, error) { return load(tx, id) }

// InspectInUse is Inspect for the agents of this node that are in use and of the
// same people as any of ids, oldest first.
func InspectInUse(tx *store.Tx, ids []schemas.EntityID) ([]Record, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(selectInUse, string(list))
	found, err := store.Collect(rows, err, func(r *sql.Rows) (Record, error) { return scanRecord(r.Scan) })
	if err != nil {
		return nil, fmt.Errorf("read agents: %w", err)
	}
	return found, nil
}

// Get reads the record of an entity that the actor can name.
func Get(g access.Grant, ref string) (Record, error) {
	id, err := Named(g, ref)
	if err != nil {
		return Record{}, err
	}
	return load(g.Tx(), id)
}

// Named is who the actor means by ref, "" for itself; the node knows them by
// their ids alone.
func Named(g access.Grant, ref string) (schemas.EntityID, error) {
	switch {
	case ref == "":
		return g.Actor(), nil
	case g.IsNode():
		return schemas.EntityID(ref), nil
	}
	return g.Resolve(ref)
}

// Agent is the public form of r. The expiry is the earliest along the chain.
func (r Record) Agent(g access.Grant) (schemas.Agent, error) {
	a := schemas.Agent{
		AgentID: r.ID, ParentEntityID: r.Parent, AgentType: r.Type, DisplayName: r.DisplayName, Name: r.Name,
		CreatedAt: events.Timestamp(r.CreatedAt), PublicKey: base64.StdEncoding.EncodeToString(r.Key.PublicKey),
		Status: r.Status, Capabilities: r.Capabilities, Grants: r.Grants,
	}
	chain, err := g.ChainOf(r.ID)
	if err != nil {
		return a, err
	}
	if at := access.EffectiveExpiry(chain); at != 0 {
		a.ExpiresAt = events.Timestamp(at)
	}
	return a, nil
}

// Filter picks agents of List.
type Filter struct {
	Status schemas.AgentStatus // "" = living ones
	Ended  bool                // with "": deactivated and removed ones too
	After  Place               // where the last page ended
	Limit  int
}

// Place is a position in the order of List.
type Place struct {
	CreatedAt int64
	ID        schemas.EntityID
}

// List reads the agents below the actor, oldest first.
func List(g access.Grant, f Filter) ([]Record, error) {
	rows, err := g.Tx().Query(selectBelow, g.Actor(), f.Status, f.Ended, f.After.CreatedAt, f.After.ID, f.Limit)
	return store.Collect(rows, err, func(r *sql.Rows) (Record, error) { return scanRecord(r.Scan) })
}

// CountActive gives how many agents below the actor may call, or are yet to.
func CountActive(g access.Grant) (n int, err error) {
	if g.Tx() == nil {
		return 0, access.ErrNoGrant
	}
	if err := g.Tx().QueryRow(countActive, g.Actor()).Scan(&n); err != nil {
		return 0, fmt.Errorf("count agents: %w", err)
	}
	return n, nil
}

// below loads the agent ref names and refuses unless the actor stands above it:
// only a parent, an agent above, or their human manages an agent.
func below(g access.Grant, ref string) (Record, error) {
	r, err := Get(g, ref)
	if err != nil {
		return r, err
	}
	if g.IsNode() {
		return r, nil
	}
	above, err := g.Holds(r.ID)
	if err != nil {
		return r, err
	}
	if !above || r.ID == g.Actor() {
		return r, schemas.Deniedf("only an ancestor of %s may do this", r.Name).Expecting("an agent below you").
			Try("%s shows the agents below you; ask your own parent about yourself", schemas.Tool("agent_list"))
	}
	return r, nil
}
