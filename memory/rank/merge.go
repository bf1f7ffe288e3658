package rank

import (
	"cmp"
	"slices"
)

// Postings are the items that have a word or a triple of letters, newest first.
type Postings struct {
	Items   []int64
	Weight  float64
	Letters bool // of a triple
}

// byLetters is how many items are read that have no word of a query, but letters of one.
const byLetters = 60

// Heaviest merges postings and gives the most items of greatest weight, an item's weight being the
// sum of those of its postings; the newer ones first among equals. Of those that letters alone find
// it gives the first 60: most of what shares three letters with a word is not spelt like it, and in
// a small store that is nearly all. It empties the postings.
func Heaviest(lists []Postings, most int) []int64 {
	type item struct {
		n      int64
		weight float64
		word   bool
	}
	var all []item
	floor := 0.0 // what is not above comes after enough others
	rank := func() {
		slices.SortFunc(all, func(a, b item) int { return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(b.n, a.n)) })
		if len(all) >= most {
			all = all[:most]
			floor = all[most-1].weight
		}
	}
	for {
		next := int64(-1)
		for _, l := range lists {
			if len(l.Items) > 0 {
				next = max(next, l.Items[0])
			}
		}
		if next < 0 {
			break
		}
		it := item{n: next}
		for i, l := range lists {
			if len(l.Items) > 0 && l.Items[0] == next {
				it.weight += l.Weight
				it.word = it.word || !l.Letters
				lists[i].Items = l.Items[1:]
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
	out, letters := make([]int64, 0, len(all)), 0
	for _, it := range all {
		if !it.word {
			letters++
		}
		if it.word || letters <= byLetters {
			out = append(out, it.n)
		}
	}
	return out
}
