package ops

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"slices"
	"time"

	"cordelia/access"
	"cordelia/memory"
)

const (
	embedEvery   = 2 * time.Second // between looks for new items
	embedBackoff = 5 * time.Minute // the longest pause while the model is down
)

// refreshEmbeddings keeps the vectors up with the items, until ctx ends. Every
// process of the node does; claims keep them off each other's items.
func (n *Node) refreshEmbeddings(ctx context.Context) {
	pause := embedEvery
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		more, err := n.RefreshEmbeddings(ctx)
		switch {
		case err != nil:
			pause = min(2*pause, embedBackoff)
			if !n.embeddings.Down() && ctx.Err() == nil {
				slog.Warn("refresh of vectors", "err", err)
			}
		case more:
			pause = time.Millisecond // the writers of this store first
		default:
			pause = embedEvery
		}
	}
}

// RefreshEmbeddings embeds the next batch of items that have no current vector,
// and reports whether there may be more. No transaction is open while the model
// is asked. With embeddings off there is nothing to do.
func (n *Node) RefreshEmbeddings(ctx context.Context) (more bool, err error) {
	m := n.embeddings
	if m == nil {
		return false, nil
	}
	if m.Down() {
		if err := m.Probe(ctx); err != nil {
			return false, err
		}
	}
	if err := n.look(ctx, "embed", func(g access.Grant) (err error) {
		more, err = m.Behind(g)
		return err
	}); err != nil || !more {
		return false, err
	}
	var batch *memory.Batch
	if err := n.routine(ctx, "embed", func(g access.Grant) (err error) {
		batch, err = m.Claim(g)
		return err
	}); err != nil {
		return false, err
	}
	if batch.Empty() {
		return batch.Skipped(), nil
	}
	asked := m.Embed(ctx, batch)
	// What was claimed is given back even if the node is closing.
	if err := n.routine(context.WithoutCancel(ctx), "embed", func(g access.Grant) error {
		_, err := m.Settle(g, batch)
		return err
	}); err != nil {
		return false, err
	}
	if asked == nil {
		asked = batch.Err()
	}
	return asked == nil, asked
}

// mean adds the meaning of q, if embeddings are on and the caller may search. It
// reports whether the model is down, so that the search is by words alone.
func (c *Call) mean(ctx context.Context, q *memory.Query) (down bool, err error) {
	m := c.Node.embeddings
	if m == nil {
		return false, nil
	}
	var wanted bool
	if err := c.Do(ctx, func(g access.Grant) (err error) {
		wanted, err = m.Wants(g, q)
		return err
	}); err != nil || !wanted {
		return false, err
	}
	return !m.Mean(ctx, q), nil
}

// fittingHits is fitting, with room for what words found first: meaning takes
// none of it from them.
func fittingHits(hits []memory.Hit, room int) (fits, rest []memory.Hit, err error) {
	byWords := slices.Clone(hits)
	place := func(h memory.Hit) int {
		if h.ByWords == 0 {
			return math.MaxInt
		}
		return h.ByWords
	}
	slices.SortStableFunc(byWords, func(a, b memory.Hit) int { return cmp.Compare(place(a), place(b)) })
	kept, _, err := fitting(byWords, room)
	if err != nil || len(kept) == len(hits) {
		return hits, nil, err
	}
	for _, h := range hits {
		if slices.ContainsFunc(kept, func(k memory.Hit) bool { return k.ID == h.ID }) {
			fits = append(fits, h)
		} else {
			rest = append(rest, h)
		}
	}
	return fits, rest, nil
}
