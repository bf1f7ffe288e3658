package ops

import (
	"cmp"
	"context"
	"math"
	"slices"

	"cordelia/access"
	"cordelia/memory"
)

// mean adds the meaning of q, if embeddings are on and the caller may search. It
// reports whether the model is down, so that the search is by words alone.
func (c *Call) mean(ctx context.Context, q *memory.Query) (down bool, err error) {
	m := c.Node.Embeddings
	if m == nil {
		return false, nil
	}
	var wanted bool
	if err := c.Do(ctx, func(g access.Grant) (err error) {
		wanted, err = q.WantsMeaning(g, m)
		return err
	}); err != nil || !wanted {
		return false, err
	}
	return !q.AskMeaning(ctx, m), nil
}

// fittingHits is fitting, with room for what words found first: meaning takes
// none of it from them.
func fittingHits(hits []memory.Hit, room int) (shown, rest []memory.Hit, err error) {
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
			shown = append(shown, h)
		} else {
			rest = append(rest, h)
		}
	}
	return shown, rest, nil
}
