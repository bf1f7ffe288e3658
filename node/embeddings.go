package node

import (
	"context"
	"log/slog"
	"time"

	"cordelia/access"
	"cordelia/memory/embedding"
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
			if !n.Embeddings.Down() && ctx.Err() == nil {
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
	m := n.Embeddings
	if m == nil {
		return false, nil
	}
	if m.Down() {
		if err := m.Probe(ctx); err != nil {
			return false, err
		}
	}
	if err := n.Look(ctx, "embed", func(g access.Grant) (err error) {
		more, err = m.Behind(g)
		return err
	}); err != nil || !more {
		return false, err
	}
	var batch *embedding.Batch
	if err := n.Routine(ctx, "embed", func(g access.Grant) (err error) {
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
	if err := n.Routine(context.WithoutCancel(ctx), "embed", func(g access.Grant) error {
		_, err := m.Complete(g, batch)
		return err
	}); err != nil {
		return false, err
	}
	if asked == nil {
		asked = batch.Err()
	}
	return asked == nil && batch.Full(), asked
}
