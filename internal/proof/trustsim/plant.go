package main

import (
	"slices"
	"time"
)

// Everything a run depends on is in this file and was fixed before the first run.

const (
	days          = 30
	facts         = 60
	questionsADay = 12 // searches of the reader, who writes nothing
	topHits       = 5
	userADay      = 4 // items the user checks of those found that day
	relayedADay   = 2 // of these again by what the user said to the reader
	crossADay     = 3 // pairs of items on one fact that the reader compares
	turnsOn       = 15
	newNames      = 3 // how often the user registers a whitewasher again

	userRight    = 0.98 // how often a word is the right one
	relayedRight = 0.95
	peerRight    = 0.80
	predicts     = 0.20 // a day and agent
	ringLies     = 0.70
	paraphrases  = 0.70 // share of what a paraphraser writes, where it finds something
	honestErrs   = 0.05
	poisons      = 0.20 // of what a slow poisoner writes
	comeOn       = 10   // the day newcomers come
)

var start = time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)

// role is how an agent behaves.
type role string

const (
	honest      role = "honest"      // errs rarely
	noisy       role = "noisy"       // errs at a rate, without intent
	sleeper     role = "sleeper"     // honest until turnsOn, then lies
	colluder    role = "ring"        // lies, praises its like and slanders the others
	forger      role = "forger"      // as ring, claiming that the user said so
	whitewasher role = "whitewasher" // lies, and comes back under a new name when shut out
	liar        role = "liar"        // lies
	paraphraser role = "paraphraser" // says in its own words what liars say
	poisoner    role = "poisoner"    // lies now and then, never so often that a mean falls below a tier
)

// plant is an agent of a scenario.
type plant struct {
	role role
	errs float64 // rate, where the role has one
	from int     // the day it comes
}

// scenario is who takes part beside the reader and the user.
type scenario struct {
	name   string
	plants []plant
	// loses says where the design was expected to do worse, before the first run.
	loses string
}

func many(n int, p plant) []plant {
	out := make([]plant, n)
	for i := range out {
		out[i] = p
	}
	return out
}

func scenarios() []scenario {
	good := func(n int) []plant { return many(n, plant{role: honest, errs: honestErrs}) }
	return []scenario{
		{"noisy", append(good(4), plant{role: noisy, errs: .1}, plant{role: noisy, errs: .2},
			plant{role: noisy, errs: .3}, plant{role: noisy, errs: .4},
			plant{role: noisy, errs: .5}, plant{role: noisy, errs: .7}),
			"hysteresis: a second error is needed to shut an agent out, where the user's verdicts alone need one"},
		{"sleeper", append(good(8), many(2, plant{role: sleeper, errs: honestErrs})...),
			"an exponential average forgets the good days sooner"},
		{"ring", append(good(7), many(3, plant{role: colluder, errs: ringLies})...), ""},
		{"forged word", append(good(7), many(3, plant{role: forger, errs: ringLies})...),
			"without trust nobody can be slandered: honest agents are shut out"},
		{"whitewasher", append(good(8), many(2, plant{role: whitewasher, errs: 1})...),
			"hysteresis: each new name writes one false item more before it is shut out"},
		{"paraphraser", append(good(7), plant{role: liar, errs: 1}, plant{role: paraphraser, errs: 1},
			plant{role: paraphraser, errs: 1}), ""},
		{"slow poisoner", append(good(8), many(2, plant{role: poisoner, errs: poisons})...),
			"a lie in five keeps every mean above the tiers: about as many false items as without trust"},
		{"newcomers", slices.Concat(good(2), many(4, plant{role: colluder, errs: ringLies}),
			many(4, plant{role: honest, errs: honestErrs, from: comeOn})),
			"what a newcomer writes is as good as unknown for weeks: true facts are found later"},
	}
}

// What must hold, as it was written down before the first run of this product with these
// worlds: a rival is every policy but the product with something left out.
const (
	mustFalse = "in no world does the product retrieve more false items than the rival that retrieves the fewest, " +
		"by more than the interval of the difference"
	mustShut = "in no world does it shut honest agents out on more days than the rival that retrieves the fewest " +
		"false items, by more than the interval"
	mustSleepers = "most sleepers are found out: below Medium, or what they write comes last"
	mustKinds    = "leaving out what agents say of each other (peers, cross-references, relayed words) changes no " +
		"more than the interval in any world"
)

// Each report is over so many seeds; that of the page begins with firstSeed. Seed 0 is for tests.
const (
	manySeeds = 20
	firstSeed = 1
)

func seeds(first uint64) (list []uint64) {
	for seed := range uint64(manySeeds) {
		list = append(list, first+seed)
	}
	return list
}

// tuningSeeds are those that rules of the product may be chosen on.
func tuningSeeds() []uint64 { return []uint64{101, 102, 103, 104, 105, 106, 107, 108} }

// unreliable agents are those the measures of demotion are about: liars of every kind, and
// who is right less often than the line of tier Medium.
func (p plant) unreliable() bool {
	return p.role != honest && (p.role != noisy || p.errs > 0.4)
}

// lies reports whether a false item of p is the one all liars agree on.
func (p plant) lies() bool { return p.role != honest && p.role != noisy }

// rate is how often p is wrong on a day.
func (p plant) rate(day int) float64 {
	if p.role == sleeper && day >= turnsOn {
		return 1
	}
	return p.errs
}
