package store

import "sync/atomic"

// generation is the number of Store.Generation, in memory that all processes on a
// database share: odd from before a commit that outdates what they keep can be seen
// until after, or until it is undone (INV-GENERATION). Only who has the turn moves it.
type generation struct{ n atomic.Uint64 }

// open makes it odd: the transaction that is under way may end it.
func (g *generation) open() {
	if g.n.Load()%2 == 0 {
		g.n.Add(1)
	}
}

// settle makes it even: that transaction ended, or its process was killed in it.
func (g *generation) settle() {
	if g.n.Load()%2 == 1 {
		g.n.Add(1)
	}
}

// read gives it, and whether it is known: an odd one, which is not, equals no known one.
func (g *generation) read() (n uint64, known bool) {
	n = g.n.Load()
	return n, n%2 == 0
}

// generation is unknown where processes share no memory.
func (f *flusher) generation() (n uint64, known bool) {
	if f.marks == nil {
		return 0, false
	}
	return f.marks.generation.read()
}

// Generation is a number that moves, for all processes on the database, before anybody
// sees a commit whose transaction called Tx.Outdate. What a transaction read that had a
// known generation may be kept for as long as the number is that and known; one that is
// not equals no known one. To ask costs no query. It is not known while a change is on
// its way, where processes share no memory, and once the store is closed: then look into
// the database. It tells what processes tell each other that share the lock file beside
// the database; what commits must not rest on it.
func (s *Store) Generation() (n uint64, known bool) {
	s.flusher.mapped.RLock()
	defer s.flusher.mapped.RUnlock()
	return s.flusher.generation()
}

// Outdate says that this transaction changes what others keep for a generation.
func (t *Tx) Outdate() error {
	if err := t.usable(); err != nil {
		return err
	}
	if !t.writable {
		return errReadOnly
	}
	if m := t.flusher.marks; m != nil {
		m.generation.open()
	}
	return nil
}

// Generation is the one a snapshot began in, as Store.Generation tells it. What it sees
// may be of a later one: it is taken at its first query. So this says that something
// still stands, never what t sees. That of a write is not known: it may have changed it.
func (t *Tx) Generation() (n uint64, known bool) {
	if t.usable() != nil {
		return 0, false
	}
	return t.generation, t.known
}
