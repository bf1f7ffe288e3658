package rank

import (
	"cmp"
	_ "embed"
	"math"
	"slices"
	"strings"
	"sync"

	"cordelia/memory/text"
	"cordelia/memory/wordvec"
)

// What words are used alike in general is not what they mean among programmers: to them a linter is
// flake8. trade.txt says it, and its words count as those do that are used alike.

// ofTheTrade is how much nearer two words of a group are than words from which one stands for
// another, times the root of how many the group has: large groups are of a kind, small ones of a thing.
// Two words that are a group of their own are nearer than words can be that are used alike.
const ofTheTrade = 1.0

//go:embed trade.txt
var trade string

// tradeStems are the stems of each group of trade, a blank before and after each: 30 KB, made with
// the first question that words cover too little.
var tradeStems = sync.OnceValue(func() string {
	var b strings.Builder
	for line := range strings.Lines(trade) {
		if words := text.Words(line); len(words) > 0 && line[0] != '#' {
			b.WriteString("\n " + text.JoinTerms(words) + " ")
		}
	}
	return b.String() + "\n"
})

// related are the other stems of the groups of a stem, the nearest first.
func related(stem string) []wordvec.Near {
	near, rest := map[string]float64{}, tradeStems()
	for {
		before, after, found := strings.Cut(rest, " "+stem+" ")
		if !found {
			break
		}
		others := append(strings.Fields(before[strings.LastIndexByte(before, '\n')+1:]),
			strings.Fields(after[:strings.IndexByte(after, '\n')])...)
		for _, other := range others {
			near[other] = max(near[other], usedAlike+ofTheTrade/math.Sqrt(float64(len(others)+1)))
		}
		rest = after
	}
	out := make([]wordvec.Near, 0, len(near))
	for other, c := range near {
		out = append(out, wordvec.Near{Stem: other, Cosine: c})
	}
	return nearest(out)
}

// nearest puts what is most alike first.
func nearest(all []wordvec.Near) []wordvec.Near {
	slices.SortFunc(all, func(a, b wordvec.Near) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), strings.Compare(a.Stem, b.Stem))
	})
	return all
}
