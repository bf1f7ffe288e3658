package access

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// entity is what a decision needs to know of one entity.
type entity struct {
	ID        schemas.EntityID
	Human     bool
	Parent    schemas.EntityID
	Type      schemas.AgentType
	Name      string
	Status    schemas.AgentStatus
	Caps      schemas.Capabilities
	Grants    schemas.Grants
	KeySeq    int
	ExpiresAt int64
	Foreign   bool // of another node

	StatusBy     schemas.EntityID
	StatusReason string
	StatusAt     int64
}

// chain is an entity with its ancestors, the human root first. It is immutable once loaded.
type chain struct {
	entities []entity
	links    []ChainLink
	tiers    [][]Tiering // of each entity, nil for a person
	facts    sync.Map    // see Fact
}

// Tiering is the tier of an agent in the eyes of one observer, from a moment on
// until the observer's next one. Those of an observer stand together, in order
// of time.
type Tiering struct {
	Observer schemas.EntityID
	From     int64 // UTC µs; 0 = always was
	Tier     schemas.Tier
	Ranks    schemas.Tier // what the agent's words rank by in a search; "" = Tier
}

// tier gives the tier of the chain's own entity at a moment, for memory of owner, and whose it is.
// An agent is trusted no more than each agent above it that is below Medium: what proved
// unreliable gains nothing through the agents it made. Tiers are loaded with the chain, so that no
// caller can learn from the time of a call whether there is a tier.
func (c *chain) tier(owner schemas.EntityID, now int64) (inForce schemas.Tier, whose schemas.EntityID) {
	own := len(c.entities) - 1
	inForce, whose = c.lowest(own, owner, now, Tiering.tier), c.entities[own].ID
	for at := range own {
		above := c.lowest(at, owner, now, Tiering.tier)
		if !c.entities[at].Human && below(above, schemas.Medium) && below(above, inForce) {
			inForce, whose = above, c.entities[at].ID
		}
	}
	return inForce, whose
}

// ranks is the tier that the words of the chain's own entity rank by.
func (c *chain) ranks(owner schemas.EntityID, now int64) schemas.Tier {
	return c.lowest(len(c.entities)-1, owner, now, Tiering.ranks)
}

// lowest is the lower of the owner's tier of an entity and the human's, so that no owner's
// verdicts overrule the human's.
func (c *chain) lowest(at int, owner schemas.EntityID, now int64, of func(Tiering) schemas.Tier) schemas.Tier {
	inForce, known := c.tierFor(at, c.root(), now, of)
	if !known {
		if inForce = schemas.Medium; c.entities[at].Foreign {
			inForce = schemas.Low
		}
	}
	if theirs, known := c.tierFor(at, owner, now, of); known && below(theirs, inForce) {
		return theirs
	}
	return inForce
}

// tierFor is the tier of an entity in the eyes of one observer, if it has an opinion.
func (c *chain) tierFor(at int, observer schemas.EntityID, now int64,
	of func(Tiering) schemas.Tier) (tier schemas.Tier, known bool) {
	if c.tiers == nil {
		return "", false
	}
	for _, t := range c.tiers[at] {
		if t.Observer == observer && (t.From <= now || !known) {
			tier, known = of(t), true
		}
	}
	return tier, known
}

func (t Tiering) tier() schemas.Tier  { return t.Tier }
func (t Tiering) ranks() schemas.Tier { return cmp.Or(t.Ranks, t.Tier) }

// below reports whether a is a lower tier than b. One that is not known is the lowest.
func below(a, b schemas.Tier) bool {
	return slices.Index(schemas.Tiers(), a) < slices.Index(schemas.Tiers(), b)
}

func (c *chain) self() *entity          { return &c.entities[len(c.entities)-1] }
func (c *chain) root() schemas.EntityID { return c.entities[0].ID }

// of is the entity id of the chain, nil if it is not there.
func (c *chain) of(id schemas.EntityID) *entity {
	if at := slices.IndexFunc(c.entities, func(e entity) bool { return e.ID == id }); at >= 0 {
		return &c.entities[at]
	}
	return nil
}

// hasAncestor reports whether id is the chain's own entity or above it.
func (c *chain) hasAncestor(id schemas.EntityID) bool {
	return slices.ContainsFunc(c.entities, func(e entity) bool { return e.ID == id })
}

func newChain(entities []entity) *chain {
	c := &chain{entities: entities}
	for _, e := range entities {
		link := ChainLink{ID: e.ID, Boundary: Bounded(e.Caps), Status: e.Status, ExpiresAt: e.ExpiresAt}
		if e.Human {
			link.Boundary = Top()
		}
		c.links = append(c.links, link)
	}
	return c
}

// loadChain reads the chain of id; nil if there is no such entity.
func loadChain(tx *store.Tx, id schemas.EntityID) (*chain, error) {
	rows, err := tx.Query(selectChain, id)
	entities, err := store.Collect(rows, err, scanEntity)
	if err != nil {
		return nil, fmt.Errorf("load chain: %w", err)
	}
	if len(entities) == 0 {
		return nil, nil
	}
	return newChain(entities), nil
}

// readTiers fills in the tiers of a chain's agents.
func (c *chain) readTiers(tx *store.Tx, of func(*store.Tx, schemas.EntityID) ([]Tiering, error)) (err error) {
	c.tiers = make([][]Tiering, len(c.entities))
	for i, e := range c.entities {
		if e.Human {
			continue
		}
		if c.tiers[i], err = of(tx, e.ID); err != nil {
			return err
		}
	}
	return nil
}

// LineOf lists the agents from the one directly under a person down to id; of a person, itself.
func LineOf(tx *store.Tx, id schemas.EntityID) (line []schemas.EntityID, err error) {
	c, err := loadChain(tx, id)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, NotKnown(string(id))
	}
	for _, e := range c.entities[min(1, len(c.entities)-1):] {
		line = append(line, e.ID)
	}
	return line, nil
}

type scanner interface{ Scan(...any) error }

func scanEntity[R scanner](r R) (entity, error) {
	var e entity
	var kind, caps, grants, node string
	var parent, agentType *string
	if err := r.Scan(&e.ID, &kind, &parent, &agentType, &e.Name, &e.Status, &caps, &grants, &e.KeySeq, &e.ExpiresAt,
		&node,
		&e.StatusBy, &e.StatusReason, &e.StatusAt); err != nil {
		return e, err
	}
	e.Human, e.Foreign = kind == "human", node != ""
	if parent != nil {
		e.Parent = schemas.EntityID(*parent)
	}
	if agentType != nil {
		e.Type = schemas.AgentType(*agentType)
	}
	if err := json.Unmarshal([]byte(caps), &e.Caps); err != nil {
		return e, fmt.Errorf("capabilities of %s: %w", e.ID, err)
	}
	if err := json.Unmarshal([]byte(grants), &e.Grants); err != nil {
		return e, fmt.Errorf("grants of %s: %w", e.ID, err)
	}
	return e, nil
}

// chainCache keeps chains for the epoch they were read under. Every change that
// could take a right away moves the epoch, in its own transaction.
type chainCache struct {
	mu     sync.Mutex
	epoch  int64
	chains map[schemas.EntityID]*chain

	tiersOf func(*store.Tx, schemas.EntityID) ([]Tiering, error) // may be nil
}

// get returns id's chain as of tx's snapshot, and the epoch of that snapshot.
func (c *chainCache) get(tx *store.Tx, id schemas.EntityID) (*chain, int64, error) {
	epoch, err := Epoch(tx)
	if err != nil {
		return nil, 0, err
	}
	c.mu.Lock()
	cached := c.chains[id]
	current := c.epoch == epoch
	c.mu.Unlock()
	if current && cached != nil {
		return cached, epoch, nil
	}
	loaded, err := loadChain(tx, id)
	if err != nil || loaded == nil {
		return nil, epoch, err
	}
	if c.tiersOf != nil {
		if err := loaded.readTiers(tx, c.tiersOf); err != nil {
			return nil, epoch, err
		}
	}
	if !tx.Writable() {
		c.put(id, loaded, epoch)
		return loaded, epoch, nil
	}
	// What this transaction reads may never be committed, and the next one would move
	// the epoch to the same number; and once it has moved it, it may go on to change
	// what was read.
	tx.AfterCommit(func() {
		if tx.Kept(moved{}) == nil {
			c.put(id, loaded, epoch)
		}
	})
	return loaded, epoch, nil
}

// advance drops what is older than epoch.
func (c *chainCache) advance(epoch int64) {
	if epoch > c.epoch || c.chains == nil {
		c.epoch, c.chains = epoch, map[schemas.EntityID]*chain{}
	}
}

func (c *chainCache) put(id schemas.EntityID, loaded *chain, epoch int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(epoch)
	if epoch == c.epoch { // an older snapshot must not fill a newer cache
		c.chains[id] = loaded
	}
}

// last is the chain of id as it was when last asked for, nil if that is not known.
func (c *chainCache) last(id schemas.EntityID) *chain {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.chains[id]
}

// What a transaction keeps: the epoch it reads, and that it moved it.
type (
	current struct{}
	moved   struct{}
)

// Epoch is the number of the current set of rights.
func Epoch(tx *store.Tx) (int64, error) {
	if epoch, ok := tx.Kept(current{}).(int64); ok {
		return epoch, nil
	}
	var epoch int64
	if err := tx.QueryRow(selectEpoch).Scan(&epoch); err != nil {
		return 0, fmt.Errorf("read epoch: %w", err)
	}
	tx.Keep(current{}, epoch)
	return epoch, nil
}

// BumpEpoch makes every cached decision void. Call it in the transaction of any
// change to status, capabilities, grants, keys, memberships, groups or scopes,
// and of a registration.
func BumpEpoch(tx *store.Tx) error { return RaiseEpoch(tx, 0) }

// RaiseEpoch is BumpEpoch to a number above what another database had.
func RaiseEpoch(tx *store.Tx, above int64) error {
	if _, err := tx.Exec(raiseEpoch, above); err != nil {
		return fmt.Errorf("move epoch: %w", err)
	}
	tx.Keep(moved{}, true)
	tx.Keep(current{}, nil) // read anew
	return nil
}
