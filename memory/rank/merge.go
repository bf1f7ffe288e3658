package rank

import (
	"cmp"
	"slices"
)

// Heaviest merges lists that fall and gives the most numbers of greatest weight,
// a number's weight being the sum of those of its lists; the newer ones first
// among equals. It empties the lists.
func Heaviest(lists [][]int64, weights []float64, most int) []int64 {
	type item struct {
		n      int64
		weight float64
	}
	var all []item
	floor := 0.0 // what is not above comes after enough others
	rank := func() {
		slices.SortStableFunc(all, func(a, b item) int { return cmp.Compare(b.weight, a.weight) })
		if len(all) >= most {
			all = all[:most]
			floor = all[most-1].weight
		}
	}
	for {
		next := int64(-1)
		for _, l := range lists {
			if len(l) > 0 {
				next = max(next, l[0])
			}
		}
		if next < 0 {
			break
		}
		it := item{n: next}
		for i, l := range lists {
			if len(l) > 0 && l[0] == next {
				it.weight += weights[i]
				lists[i] = l[1:]
			}
		}
		if it.weight > floor {
			all = append(all, it)
		}
		if len(all) >= 4*most {
			rank()
		}
	}
	rank()
	out := make([]int64, len(all))
	for i := range out {
		out[i] = all[i].n
	}
	return out
}
