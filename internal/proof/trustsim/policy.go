package main

import (
	"database/sql"
	"math"
	"slices"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
	"cordelia/trust"
)

const (
	unknown       = 0.6 // where each agent starts, as in package trust
	leastForce    = 5   // verdicts before a plain mean is acted on
	forgetting    = 0.1 // weight of the newest verdict in an exponential average
	design        = "Cordelia"
	noTrust       = "no trust"
	plainMean     = "plain mean"
	exponential   = "exponential average"
	userMean      = "user's verdicts"
	userAverage   = "user's, averaged"
	noPredictions = "no predictions"
	noUser        = "no verdicts of the user"
	noRelayed     = "no relayed words"
	noCross       = "no cross-references"
	noPeers       = "no peers"
)

// policy is a way of scoring agents.
type policy struct {
	name string
	// accuracy of an agent from the last word of each assessor on each item, oldest
	// first, each worth the same; nil for the product's own.
	accuracy func(rights []bool) float64
	userOnly bool   // of these words the user's alone
	leaves   string // the kind of evidence that is left out; "" = none
}

// rival reports a way of scoring that is not the product's.
func (p policy) rival() bool { return p.accuracy != nil }

func policies() []policy {
	return []policy{
		{name: design},
		{name: noTrust, accuracy: func([]bool) float64 { return unknown }},
		{name: plainMean, accuracy: func(rights []bool) float64 {
			if len(rights) < leastForce {
				return unknown
			}
			return float64(count(rights)) / float64(len(rights))
		}},
		{name: exponential, accuracy: average},
		{name: userMean, userOnly: true, accuracy: func(rights []bool) float64 {
			return (trust.PriorMean*trust.PriorStrength + float64(count(rights))) / float64(
				trust.PriorStrength+len(rights))
		}},
		{name: userAverage, userOnly: true, accuracy: average},
		{name: noPredictions, leaves: noPredictions},
		{name: noUser, leaves: noUser},
		{name: noRelayed, leaves: noRelayed},
		{name: noCross, leaves: noCross},
		{name: noPeers, leaves: noPeers},
	}
}

func count(rights []bool) (n int) {
	for _, right := range rights {
		if right {
			n++
		}
	}
	return n
}

// average forgets: the newest verdict has a tenth of the weight.
func average(rights []bool) float64 {
	a := unknown
	for _, right := range rights {
		a *= 1 - forgetting
		if right {
			a += forgetting
		}
	}
	return a
}

// tierOf cuts an accuracy as the product cuts its own.
func tierOf(accuracy float64) schemas.Tier {
	const whole = 1_000_000
	alpha := int64(math.Round(accuracy * whole))
	return trust.Score{Alpha: alpha, Beta: whole - alpha}.Tier()
}

// tiersOf is the policy as the authorizer asks for it; nil leaves it the product's.
func (p policy) tiersOf() func(*store.Tx, schemas.EntityID) ([]access.Tiering, error) {
	if p.accuracy == nil {
		return nil
	}
	return func(tx *store.Tx, agent schemas.EntityID) ([]access.Tiering, error) {
		rights, err := p.verdictsOn(tx, agent)
		if err != nil {
			return nil, err
		}
		return []access.Tiering{{Observer: user, Tier: tierOf(p.accuracy(rights))}}, nil
	}
}

// verdictsOn reads the last word of each assessor that p counts on each item of agent.
func (p policy) verdictsOn(tx *store.Tx, agent schemas.EntityID) ([]bool, error) {
	type pair struct{ item, assessor string }
	type row struct {
		pair
		right bool
	}
	rows, err := tx.Query(selectVerdicts, agent, p.userOnly)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (v row, err error) {
		var word trust.Word
		err = r.Scan(&v.item, &v.assessor, &word)
		v.right = word == trust.Right
		return v, err
	})
	if err != nil {
		return nil, err
	}
	var rights []bool
	seen := map[pair]bool{}
	for _, v := range slices.Backward(list) {
		if !seen[v.pair] {
			seen[v.pair] = true
			rights = append(rights, v.right)
		}
	}
	slices.Reverse(rights)
	return rights, nil
}
