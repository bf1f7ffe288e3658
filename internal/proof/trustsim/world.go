package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
)

// fact is something an agent can be right or wrong about.
type fact struct {
	subject, key string
	values       [8]string // the first is true, the second is what liars agree on
}

// attempt is what an agent means to write on a day.
type attempt struct {
	fact      int
	value     int // index into values
	template  int
	copies    bool // a paraphraser looks for a lie to repeat first
	predicts  bool
	comesTrue bool // what it predicts
}

// world is a scenario under a seed: the same for every policy.
type world struct {
	scenario
	seed  uint64
	days  int
	facts []fact
	plan  [][]attempt // of each plant, for each day
}

// stream gives the random numbers of one purpose, so that what one agent is kept
// from does not move another's dice.
func (w *world) stream(purpose string) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, w.name, "/", purpose)
	return rand.New(rand.NewPCG(w.seed, h.Sum64()))
}

func newWorld(s scenario, seed uint64, days int) *world {
	w := &world{scenario: s, seed: seed, days: days}
	dice := w.stream("facts")
	words := map[string]bool{}
	word := func(syllables int) string {
		for {
			var b strings.Builder
			for range syllables {
				b.WriteByte("bdfgklmnprtvz"[dice.IntN(13)])
				b.WriteByte("aiou"[dice.IntN(4)])
			}
			b.WriteByte("kmnrtx"[dice.IntN(6)])
			if !words[b.String()] {
				words[b.String()] = true
				return b.String()
			}
		}
	}
	keys := []string{"owner", "region", "queue", "branch", "codec", "cipher"}
	for i := range facts {
		f := fact{subject: word(3), key: keys[i%len(keys)]}
		for v := range f.values {
			f.values[v] = word(2)
		}
		w.facts = append(w.facts, f)
	}
	for i, p := range s.plants {
		w.plan = append(w.plan, w.planOf(i, p))
	}
	return w
}

func (w *world) planOf(i int, p plant) []attempt {
	dice := w.stream(fmt.Sprint("plant ", i))
	order := dice.Perm(facts)
	var plan []attempt
	for day := range w.days {
		a := attempt{fact: order[day%facts], template: dice.IntN(len(templates))}
		wrong, value := dice.Float64() < p.rate(day), 1+dice.IntN(len(w.facts[0].values)-1)
		switch {
		case p.role == paraphraser:
			a.copies = dice.Float64() < paraphrases
		case wrong && p.lies():
			a.value = 1
		case wrong:
			a.value = value
		}
		a.predicts = dice.Float64() < predicts
		// A malicious agent predicts well: it is the cheapest way to be trusted.
		a.comesTrue = dice.Float64() >= p.errs || p.lies()
		plan = append(plan, a)
	}
	return plan
}

var templates = [...]string{
	"The %[2]s of %[1]s is %[3]s.",
	"%[1]s has %[3]s as its %[2]s.",
	"For %[1]s use %[3]s, its %[2]s.",
	"Checked today: %[1]s, %[2]s %[3]s.",
}

func (f fact) says(value, template int) string {
	return fmt.Sprintf(templates[template], f.subject, f.key, f.values[value])
}

func (f fact) question() string { return fmt.Sprintf("what is the %s of %s", f.key, f.subject) }
