package trust

import (
	"fmt"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/schemas"
)

// A tier is left downwards only when the mean is this far below where it begins,
// in thousandths: the next error of an agent at a border does not take its rights.
const hysteresis = unit / 10

// begins is the mean at which a tier begins, in thousandths; High begins above it.
func begins(t schemas.Tier) int64 {
	switch t {
	case schemas.Low:
		return 300
	case schemas.Medium:
		return 600
	case schemas.High:
		return 850
	}
	return 0
}

// fall is the tier in force after the mean came down to s: each tier is left when the
// mean is more than the hysteresis below its beginning.
func fall(inForce schemas.Tier, s Score) schemas.Tier {
	tiers := schemas.Tiers() // lowest first
	at := slices.Index(tiers, inForce)
	for at > 0 && unit*s.Alpha < (begins(tiers[at])-hysteresis)*s.weight() {
		at--
	}
	return tiers[max(at, 0)]
}

// next is the tier in force after a verdict. It rises at the beginnings of the tiers,
// and only by a right verdict.
func next(inForce schemas.Tier, s Score, verdict Word) schemas.Tier {
	if risen := s.Tier(); verdict == Right && higher(risen, inForce) {
		return risen
	}
	return fall(inForce, s)
}

func higher(a, b schemas.Tier) bool {
	return slices.Index(schemas.Tiers(), a) > slices.Index(schemas.Tiers(), b)
}

// tierAt is the tier in force at a moment: age lowers it, and never raises it.
func (b trustRecord) tierAt(now int64) schemas.Tier { return fall(b.tier, b.deciding.at(now)) }

// ranksAt is the tier that an author's words rank by in a search at a moment: that of the
// mean of the observer's own verdicts, without hysteresis, or the tier in force if that is
// lower (INV-RANKS). A right is lost late; attention is lost at once, and no prediction
// holds it up.
func (b trustRecord) ranksAt(now int64) schemas.Tier {
	ranks, inForce := b.own.Tier(), b.tierAt(now)
	if higher(ranks, inForce) {
		return inForce
	}
	return ranks
}

// tierings are the tiers the agent falls through from a moment on.
func (c cached) tierings(now int64) []access.Tiering {
	out := []access.Tiering{{Observer: c.observer, Tier: c.tierAt(now), Ranks: c.ranksAt(now)}}
	for _, s := range c.deciding.steps {
		if tier := c.tierAt(s.at); s.at > now && tier != out[len(out)-1].Tier {
			out = append(out, access.Tiering{Observer: c.observer, From: s.at, Tier: tier, Ranks: c.ranksAt(s.at)})
		}
	}
	return out
}

// TierWhy says what the tier follows, and where it would change.
func (s Standing) TierWhy() string {
	predicted := s.Confirmed - s.ByPerson
	from := ""
	switch {
	case s.ByPerson > 0 && predicted > 0:
		from = fmt.Sprintf("%s of the user's and %s", schemas.Count(s.ByPerson, "verdict", "verdicts"),
			schemas.Count(predicted, "due prediction", "due predictions"))
	case s.ByPerson > 0:
		from = schemas.Count(s.ByPerson, "verdict", "verdicts") + " of the user's"
	case predicted > 0:
		from = schemas.Count(predicted, "due prediction", "due predictions")
	}
	if from == "" {
		return fmt.Sprintf("mean %.2f, as no verdict of the user's counts yet; %s", s.TierScore.Accuracy(),
			borders(s.Tier))
	}
	why := fmt.Sprintf("mean %.2f of %s; %s", s.TierScore.Accuracy(), from, borders(s.Tier))
	if s.Last {
		why += "; what it wrote comes last in searches until the user's own verdicts alone average " +
			fmt.Sprintf("%g", float64(begins(schemas.Medium))/unit)
	}
	return why
}

// borders says where a mean leaves a tier, downwards and upwards.
func borders(t schemas.Tier) string {
	mean := func(thousandths int64) string { return fmt.Sprintf("%g", float64(thousandths)/unit) }
	tiers := schemas.Tiers() // lowest first
	at := slices.Index(tiers, t)
	var list []string
	if at > 0 {
		list = append(list, fmt.Sprintf("%s below %s", tiers[at-1], mean(begins(t)-hysteresis)))
	}
	if at+1 < len(tiers) {
		reached := "from"
		if tiers[at+1] == schemas.High {
			reached = "above"
		}
		list = append(list, fmt.Sprintf("%s %s %s", tiers[at+1], reached, mean(begins(tiers[at+1]))))
	}
	return strings.Join(list, ", ")
}
