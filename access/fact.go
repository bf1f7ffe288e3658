package access

// Fact is one kind of thing that a process finds out about an actor and keeps until rights
// move: its value V by a key K. Declare each kind as one package variable; its address is its
// name, so that two kinds never meet and a value is always of the type it was kept as.
type Fact[K comparable, V any] struct{ _ byte }

// kept is where a chain keeps a fact.
type kept[K comparable, V any] struct {
	fact *Fact[K, V]
	key  K
}

// Of gives what find finds out about the actor, keeping it until the epoch moves: find reads
// only what moves the epoch when it changes (memberships, groups, scopes, who is below whom).
// A fact is no decision; those depend on the time too. Nothing is kept once the operation
// itself has changed rights: what it reads then may never be committed.
func (f *Fact[K, V]) Of(g Grant, key K, find func() (V, error)) (V, error) {
	if g.g == nil || g.g.decision.actor == nil || g.g.changed {
		return find()
	}
	c, at := g.g.decision.actor, kept[K, V]{f, key}
	if v, ok := c.facts.Load(at); ok {
		return v.(V), nil
	}
	v, err := find()
	if err == nil {
		c.facts.Store(at, v)
	}
	return v, err
}
