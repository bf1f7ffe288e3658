package embedding

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/memory/wordvec"
	"cordelia/schemas"
)

const (
	batchItems  = 32
	queueAtOnce = 512             // items put into the queue per claim
	claimFor    = 5 * time.Minute // longer than a batch may take
	firstRetry  = time.Minute     // of an item the model refuses, fourfold each time
	lastRetry   = 24 * time.Hour
)

// model is a row of embedding_models.
type model struct {
	n       int64
	name    string
	dim     int
	private bool
	queued  int64
}

// current is the node's model if it is m's, else the zero model: another process
// was started later, with another.
func (m *Vectors) current(tx querier) (model, error) {
	var now model
	err := tx.QueryRow(selectModel).Scan(&now.n, &now.name, &now.dim, &now.private, &now.queued)
	if err != nil && err != store.ErrNoRows {
		return now, fmt.Errorf("read embedding model: %w", err)
	}
	if now.name != m.model.Model() {
		return model{}, nil
	}
	return now, nil
}

// refreshed is the node's model if the refresh is m's to make: what is private
// must be agreed on, too.
func (m *Vectors) refreshed(tx querier) (model, error) {
	now, err := m.current(tx)
	if err != nil || now.private != m.opts.Private {
		return model{}, err
	}
	return now, nil
}

// Behind reports whether the vectors are behind the items. A process that did
// not choose its model yet is.
func (m *Vectors) Behind(g access.Grant) (bool, error) {
	if !g.IsNode() {
		return false, access.ErrNoGrant
	}
	now, err := m.refreshed(g.Tx())
	if err != nil || now.n == 0 {
		return !m.chosen.Load() && err == nil, err
	}
	var behind bool
	if err := g.Tx().QueryRow(selectBehind, g.Tx().Micros(), now.queued).Scan(&behind); err != nil {
		return false, fmt.Errorf("look for items without vectors: %w", err)
	}
	return behind, nil
}

// Batch is items in hand to be embedded.
type Batch struct {
	of      *Vectors
	claim   string
	model   model
	items   []pending
	skipped bool  // some items left the queue without being sent
	full    bool  // there may be more to take
	err     error // why vectors were not stored
}

type pending struct {
	n        int64
	text     string
	attempts int
	vector   []float32
	refused  bool
	nothing  bool // it means nothing to the model
}

// Empty reports whether there is nothing to embed in b.
func (b *Batch) Empty() bool { return len(b.items) == 0 }

// Full reports whether more may be waiting than b took. What is written meanwhile can wait for
// the next look, so that a writer is not followed item by item.
func (b *Batch) Full() bool { return b.full }

// Skipped reports whether items left the queue because there was nothing to send.
func (b *Batch) Skipped() bool { return b.skipped }

// Claim takes the next items in hand, for five minutes, so that no other process
// embeds them. What is not to be sent leaves the queue, and its vector goes.
func (m *Vectors) Claim(g access.Grant) (*Batch, error) {
	if !g.IsNode() {
		return nil, access.ErrNoGrant
	}
	tx := g.Tx()
	b := &Batch{of: m, claim: schemas.NewID()}
	var err error
	if b.model, err = m.choose(tx); err != nil || b.model.n == 0 {
		return b, err
	}
	var upTo int64
	if err := tx.QueryRow(selectNext, b.model.queued, queueAtOnce).Scan(&upTo); err != nil {
		return nil, fmt.Errorf("queue items: %w", err)
	}
	if upTo > 0 {
		if _, err := tx.Exec(enqueue, b.model.queued, upTo); err != nil {
			return nil, fmt.Errorf("queue items: %w", err)
		}
		if _, err := tx.Exec(setQueued, upTo, b.model.n); err != nil {
			return nil, fmt.Errorf("queue items: %w", err)
		}
	}
	for range queueAtOnce / batchItems { // until one has something to send
		taken, err := tx.Exec(claimItems, b.claim, tx.Micros()+claimFor.Microseconds(), tx.Micros(), batchItems)
		if err != nil {
			return nil, fmt.Errorf("claim items: %w", err)
		}
		if taken == 0 {
			break
		}
		b.full = taken == batchItems
		if err := b.read(tx); err != nil {
			return nil, err
		}
		switch {
		case len(b.items) > 0 && m.Model() == wordvec.Name: // nothing to account for
			return b, nil
		case len(b.items) > 0:
			return b, g.Audit("model/"+m.model.Model(), map[string]any{"embed": len(b.items)})
		}
	}
	return b, nil
}

// choose makes m's model the node's, once per process, and returns it; the zero
// model if another was chosen since.
func (m *Vectors) choose(tx *store.Tx) (model, error) {
	now, err := m.refreshed(tx)
	if err != nil {
		return now, err
	}
	first := !m.chosen.Load()
	if first {
		tx.AfterCommit(func() { m.chosen.Store(true) })
	}
	switch {
	case now.n != 0:
		return now, nil
	case !first:
		slog.Warn("embedding is left to processes started later, which use another model", "model", m.model.Model())
		return now, nil
	}
	if _, err := tx.Exec(chooseModel, m.model.Model(), m.opts.Private); err != nil {
		return now, fmt.Errorf("choose embedding model: %w", err)
	}
	return m.refreshed(tx)
}

// Texts reads the items of these numbers: the text of each whose text may be sent to the
// model, "" if it has none. private says whether private items may be sent.
type Texts func(tx *store.Tx, ns []int64, private bool) (map[int64]string, error)

// read fills b with the claimed items that are to be sent.
func (b *Batch) read(tx *store.Tx) error {
	type claimed struct {
		pending
		fresh bool
	}
	rows, err := tx.Query(selectClaimed, b.claim, b.model.n)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (c claimed, err error) {
		return c, r.Scan(&c.n, &c.attempts, &c.fresh)
	})
	if err != nil {
		return fmt.Errorf("read claimed items: %w", err)
	}
	ns := make([]int64, len(list))
	for i, c := range list {
		ns[i] = c.n
	}
	texts, err := b.of.texts(tx, ns, b.model.private)
	if err != nil {
		return err
	}
	for _, c := range list {
		p := c.pending
		text, wanted := texts[p.n]
		if wanted && !c.fresh && text != "" {
			p.text = text
			b.items = append(b.items, p)
			continue
		}
		b.skipped = true
		if wanted {
			_, err = tx.Exec(dropClaimed, b.claim, p.n)
		} else {
			err = b.drop(tx, p.n)
		}
		if err != nil {
			return fmt.Errorf("drop claim: %w", err)
		}
	}
	return nil
}

// drop takes an item out of the queue that is to have no vector.
func (b *Batch) drop(tx *store.Tx, n int64) error {
	if held, err := tx.Exec(dropClaimed, b.claim, n); err != nil || held == 0 {
		return err
	}
	_, err := tx.Exec(dropEmbedding, n)
	return err
}

// Embed asks the model for the vectors of b. Call it outside of transactions;
// its answer is kept for Complete.
func (m *Vectors) Embed(ctx context.Context, b *Batch) error {
	limited, cancel := context.WithTimeout(ctx, batchPatience)
	defer cancel()
	err := m.embed(limited, b.items)
	if err == nil {
		m.down.Store(false)
	} else if ctx.Err() == nil {
		m.failed(err)
	}
	return err
}

// embed halves a batch that is refused until the item at fault is alone.
func (m *Vectors) embed(ctx context.Context, items []pending) error {
	if len(items) == 0 {
		return nil
	}
	texts := make([]string, len(items))
	for i, p := range items {
		texts[i] = p.text
	}
	vectors, err := m.model.Documents(ctx, texts)
	switch {
	case err == nil && len(vectors) != len(items):
		return fmt.Errorf("the embedder gave %d vectors for %d texts", len(vectors), len(items))
	case err == nil:
		for i := range items {
			items[i].vector, items[i].nothing = vectors[i], len(vectors[i]) == 0
			unit(vectors[i])
		}
		return nil
	case schemas.CodeOf(err) != schemas.CodeInvalid:
		return err
	case len(items) == 1:
		items[0].refused = true
		return nil
	}
	half := len(items) / 2
	if err := m.embed(ctx, items[:half]); err != nil {
		return err
	}
	return m.embed(ctx, items[half:])
}

// Complete stores the vectors of b whose items are still the ones claimed, and
// gives the others back. It returns how many were stored.
func (m *Vectors) Complete(g access.Grant, b *Batch) (stored int, err error) {
	if !g.IsNode() {
		return 0, access.ErrNoGrant
	}
	tx := g.Tx()
	now, err := m.refreshed(tx)
	if err != nil {
		return 0, err
	}
	if now.n == b.model.n {
		if stored, err = b.store(tx, now.dim); err != nil {
			return 0, err
		}
	}
	if _, err := tx.Exec(releaseClaimed, b.claim); err != nil {
		return 0, fmt.Errorf("release claims: %w", err)
	}
	return stored, nil
}

func (b *Batch) store(tx *store.Tx, dim int) (stored int, err error) {
	have := slices.IndexFunc(b.items, func(p pending) bool { return p.vector != nil })
	if have >= 0 && dim == 0 {
		dim = len(b.items[have].vector)
		if _, err := tx.Exec(setDimension, dim, b.model.n); err != nil {
			return 0, fmt.Errorf("store dimensions: %w", err)
		}
	}
	var last int64
	if err := tx.QueryRow(countEmbeddings, len(b.items)).Scan(&last); err != nil {
		return 0, fmt.Errorf("count vectors: %w", err)
	}
	first := last - int64(len(b.items)) + 1
	for i, p := range b.items {
		switch {
		case p.refused:
			if _, err := tx.Exec(deferClaimed, tx.Micros()+retryAfter(p.attempts).Microseconds(), b.claim,
				p.n); err != nil {
				return stored, fmt.Errorf("defer item: %w", err)
			}
		case p.nothing:
			if err := b.drop(tx, p.n); err != nil {
				return stored, err
			}
		case p.vector == nil:
		case len(p.vector) != dim:
			b.err = b.of.errOtherLength(len(p.vector), dim)
		default:
			held, err := tx.Exec(dropClaimed, b.claim, p.n)
			if err != nil {
				return stored, fmt.Errorf("drop claim: %w", err)
			}
			if held == 0 { // changed meanwhile, or the claim ran out: another process embeds it
				continue
			}
			if _, err := tx.Exec(upsertEmbedding, p.n, b.model.n, first+int64(i), tx.Micros(),
				packWords(signsOf(p.vector)), packVector(p.vector)); err != nil {
				return stored, fmt.Errorf("store vector: %w", err)
			}
			stored++
		}
	}
	return stored, nil
}

// Err is why Complete refused vectors, nil if it did not.
func (b *Batch) Err() error { return b.err }

// retryAfter is how long an item that was refused so often waits.
func retryAfter(attempts int) time.Duration {
	wait := firstRetry
	for range min(attempts, 10) - 1 {
		wait *= 4
	}
	return min(wait, lastRetry)
}

// State is how far the vectors are.
type State struct {
	Model    string // the node's, "" before the first
	Dim      int
	Embedded int // items
	Waiting  int // items, those that are not to be sent included
}

// Inspect reads the state from a database without a node.
func Inspect(tx *store.Tx) (s State, err error) {
	var now model
	if err := tx.QueryRow(selectModel).Scan(&now.n, &now.name, &now.dim, &now.private, &now.queued); err != nil {
		if err == store.ErrNoRows {
			return s, nil
		}
		return s, fmt.Errorf("read embedding model: %w", err)
	}
	s.Model, s.Dim = now.name, now.dim
	if err := tx.QueryRow(selectEmbedded, now.n).Scan(&s.Embedded); err != nil {
		return s, fmt.Errorf("count vectors: %w", err)
	}
	if err := tx.QueryRow(selectWaiting, now.queued).Scan(&s.Waiting); err != nil {
		return s, fmt.Errorf("count waiting items: %w", err)
	}
	return s, nil
}
