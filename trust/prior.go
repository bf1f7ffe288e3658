package trust

import (
	"errors"
	"fmt"
	"math"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// The built-in prior (seed §5.5): mean 0.6, as strong as five verdicts.
const (
	PriorMean     = 0.6
	PriorStrength = 5
)

// The bounds of a prior. Below the least mean a new agent could do nothing that could be
// judged, and a prior stronger than the window would outweigh all evidence there can be.
const (
	leastMean, greatestMean         = 0.3, 0.8
	leastStrength, greatestStrength = 1, windowSize
	foreignMean                     = unit / 2 // the most for an agent of another node, thousandths: tier Low
)

// Prior is what agents start with: how accurate they count as before the first verdict, and how
// many verdicts that is worth. The zero value is the built-in one.
type Prior struct {
	mean     int64 // thousandths
	strength int64 // whole verdicts, so that a score's parameters are exact
}

// NewPrior gives the prior of that mean, 0–1 in whole thousandths, and strength, in
// verdicts. It refuses one that gives tier High before an agent earned it.
//
// Errors: CodeInvalid.
func NewPrior(mean float64, strength int) (Prior, error) {
	if !(mean >= leastMean && mean <= greatestMean) {
		return Prior{}, schemas.Invalidf("the prior's mean is %v", mean).
			Expecting("a fraction from %v to %v, such as %v", leastMean, greatestMean, PriorMean).
			Try("name one between, or leave mean out for %v", PriorMean)
	}
	p := Prior{int64(math.Round(mean * unit)), int64(strength)}
	switch {
	case math.Abs(mean*unit-float64(p.mean)) > 1e-9:
		return Prior{}, schemas.Invalidf("the prior's mean is %v", mean).
			Expecting("at most three decimals").Try("round it to %.3f", mean)
	case strength < leastStrength || strength > greatestStrength:
		return Prior{}, schemas.Invalidf("the prior's strength is %d", strength).
			Expecting("a whole number of verdicts from %d to %d", leastStrength, greatestStrength).
			Try("name one between, or leave strength out for %d", PriorStrength)
	case p.score().plus(Score{Alpha: unit}).Tier() == schemas.High:
		return Prior{}, schemas.Invalidf("with mean %v and strength %d one right verdict would make an agent High",
			mean, strength).
			Expecting("a prior from which High takes more than one verdict").Try("raise strength, or lower mean")
	}
	return p, nil
}

// score is the posterior without any evidence.
func (p Prior) score() Score {
	if p == (Prior{}) {
		return defaultPrior()
	}
	return Score{p.mean * p.strength, (unit - p.mean) * p.strength}
}

// defaultPrior is the start of entities that have no prior in the ledger: people, and
// agents that are older than the ledger.
func defaultPrior() Score {
	const alpha, whole = PriorMean * PriorStrength * unit, PriorStrength * unit
	return Score{alpha, whole - alpha}
}

// priors are written when an agent is registered, and stay.
var priors access.Fact[schemas.EntityID, Score]

// priorOf is the prior an agent was given, once and for all books about it.
func priorOf(tx *store.Tx, agent schemas.EntityID) (s Score, err error) {
	err = tx.QueryRow(selectPrior, agent).Scan(&s.Alpha, &s.Beta)
	if errors.Is(err, store.ErrNoRows) {
		return defaultPrior(), nil
	}
	if err != nil {
		return s, fmt.Errorf("read prior: %w", err)
	}
	return s, nil
}

// Begin writes the prior of an agent just registered: p, or as its registrar stands
// with their human if that is less. Trust is not handed on, distrust is. It is a row
// of the ledger, so that another p, later or in another process, changes no score.
func Begin(g access.Grant, agent schemas.EntityID, foreign bool, p Prior) error {
	if g.Tx() == nil {
		return access.ErrNoGrant
	}
	tx, root, by := g.Tx(), g.Root(), g.Actor()
	s := p.score()
	alpha, strength := s.Alpha, s.weight()
	if foreign {
		alpha = min(alpha, strength*foreignMean/unit)
	}
	if by != root {
		registrar, err := open(tx, root, by)
		if err != nil {
			return err
		}
		ownScore := registrar.deciding.at(tx.Micros()) // verdicts of other agents are not handed on
		alpha = min(alpha, strength*ownScore.Alpha/ownScore.weight())
	}
	return begin(g, entry{Observer: root, Agent: agent, Source: byPrior, Assessor: by, Witness: by,
		Alpha: alpha, Beta: strength - alpha, At: tx.Micros()})
}

// begin opens a trust record with the prior e. An agent with a record here keeps it: one that a
// restore lost, and that is registered with the same key again, does not start again.
func begin(g access.Grant, e entry) error {
	tx := g.Tx()
	books, err := booksOf(tx, e.Agent)
	if err != nil {
		return err
	}
	for _, b := range books {
		if b.observer == e.Observer {
			return nil
		}
	}
	if len(books) > 0 {
		first, err := priorOf(tx, e.Agent)
		if err != nil {
			return err
		}
		e.Alpha, e.Beta = first.Alpha, first.Beta
	}
	if err := write(g, &e); err != nil {
		return err
	}
	return started(e).store(tx)
}

// started is the score an agent begins with.
func started(prior entry) cached {
	c := cached{observer: prior.Observer, agent: prior.Agent, trustRecord: opened(prior.score())}
	c.updated = prior.At
	return c
}
