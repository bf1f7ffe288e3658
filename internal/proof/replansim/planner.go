package main

import (
	"math/rand/v2"
	"slices"

	"cordelia/schemas"
)

// disobeys is how often the planner plans the same again against its directive, as models do.
const disobeys = 0.1

// order is the planner's input for the next round.
type order struct {
	directive      schemas.Directive
	blockedTools   []string
	blockedTargets []string // tool:target
}

// follow makes the next plan. Where the order leaves nothing of what it asks for,
// the planner takes what there is; ok is false if that is nothing.
func follow(o order, p plan, random *rand.Rand) (next plan, ok bool) {
	same := p
	same.sharpened++
	free := func(t, at int) bool {
		q := plan{tool: t, target: at}
		return !slices.Contains(o.blockedTools, q.toolName()) &&
			!slices.Contains(o.blockedTargets, q.toolName()+":"+q.targetName())
	}
	var others, elsewhere []plan
	for t := range tools {
		for at := range targets {
			switch {
			case !free(t, at) || t == p.tool && at == p.target:
			case t == p.tool:
				elsewhere = append(elsewhere, plan{tool: t, target: at})
			default:
				others = append(others, plan{tool: t, target: at})
			}
		}
	}
	if random.Float64() < disobeys && free(p.tool, p.target) {
		return same, true
	}
	choices := [][]plan{others, elsewhere} // another approach
	switch o.directive {
	case schemas.Refine:
		if free(p.tool, p.target) {
			return same, true
		}
		choices = [][]plan{elsewhere, others}
	case schemas.ChangePath:
		choices = [][]plan{elsewhere, others}
	}
	for _, c := range choices {
		if len(c) > 0 {
			return c[random.IntN(len(c))], true
		}
	}
	return same, free(p.tool, p.target)
}
