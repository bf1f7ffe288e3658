package pipeline

import (
	"fmt"
	"math"
	"slices"

	"cordelia/schemas"
)

// tolerance is what two values may differ by and count as equal: sums such as
// 0.6·(4/3) fall just below what they stand for.
const tolerance = 1e-9

func atLeast(a, b float64) bool { return a >= b-tolerance }
func above(a, b float64) bool   { return a > b+tolerance }

// Parameters are those of the loss and its table (pipeline v0.7, Loss
// Hyperparameters).
type Parameters struct {
	Alpha, Beta, Lambda float64 // weights of D, P and Ω
	W1, W2              float64 // weights of rounds and time within Ω
	Epsilon             float64 // below it the loss did not move
	Delta               float64 // D above it is no tolerable distance
	AbandonOmega        float64 // from it on the task is abandoned
	Rho                 float64 // P above it blames the approach
	MaxReplans          int     // the last request that may be followed by another round
	TimeBudgetMS        int64
	Table               Table
	// two rounds in a row that move the loss up by more than Epsilon end the task, if D > Delta
	KillSwitch bool
	Patient    bool // a first approach that ran is refined once before anything is blocked
	Believes   bool // the directive is that of the chances of each cause, and not the table's
	Steady     bool // the directive follows from how many tries brought nothing, and not from the table
	Blind      Blind
	// every tool that was tried is blocked, as v0.7 is written: general ones and the last one, too
	Letter bool

	// General are the tools that are not blocked as such, but on what they were used on;
	// nil = GeneralTools.
	General []string
}

// general are the tools that are not blocked as such.
func (p Parameters) general() []string {
	if p.General == nil {
		return GeneralTools()
	}
	return p.General
}

// Time budgets by who sits in the roles.
const (
	ModelBudgetMS = 120_000   // code and models
	AgentBudgetMS = 1_800_000 // agents
)

// Defaults are the parameters of v0.7, to the letter.
func Defaults() Parameters {
	return Parameters{
		Alpha: 0.6, Beta: 0.3, Lambda: 0.4, W1: 0.6, W2: 0.4, Epsilon: 0.1, Delta: 0.3,
		AbandonOmega: 0.8, Rho: 0.5, MaxReplans: 3, TimeBudgetMS: ModelBudgetMS, Table: TableV07(), Letter: true,
	}
}

// DefaultPolicy is the policy of tasks where the operator chose no other.
const DefaultPolicy = SteadyPolicy

// SteadyPolicy is the policy that counts the tries that brought nothing.
const SteadyPolicy = "steady"

// PatientPolicy is v0.7, but that a first approach that ran is refined once.
const PatientPolicy = "patient"

// BeliefPolicy is the policy that keeps the chances of what may be wrong.
const BeliefPolicy = "beliefs"

// Policies lists what a task may be steered by; v0.7 and v0.8 are to the letter.
func Policies() []string {
	return []string{SteadyPolicy, PatientPolicy, BeliefPolicy, TableV07().Version, TableV08().Version}
}

// Policy gives the parameters of a policy. ok = false if there is none of that name.
func Policy(name string) (p Parameters, ok bool) {
	p = Defaults()
	switch name {
	case SteadyPolicy:
		p.Steady, p.Letter, p.AbandonOmega = true, false, 1 // only a used budget ends a task
	case PatientPolicy:
		p.Patient, p.Letter = true, false
	case BeliefPolicy:
		p.Believes, p.Letter, p.AbandonOmega = true, false, 1 // only a used budget ends a task
	case TableV07().Version:
	case TableV08().Version:
		p.Table = TableV08()
	default:
		return p, false
	}
	return p, true
}

// Check refuses parameters that the formulas cannot work with. Error: CodeInvalid.
func (p Parameters) Check() error {
	e := schemas.Invalidf("the parameters of the loss are not usable")
	for _, f := range []struct {
		name    string
		value   float64
		atLeast float64
	}{
		{"alpha", p.Alpha, 0}, {"beta", p.Beta, 0}, {"lambda", p.Lambda, 0}, {"w1", p.W1, 0}, {"w2", p.W2, 0},
		{"epsilon", p.Epsilon, 0}, {"delta", p.Delta, 0}, {"abandon_omega", p.AbandonOmega, 0}, {"rho", p.Rho, 0},
		{"max_replans", float64(p.MaxReplans), 1}, {"time_budget_ms", float64(p.TimeBudgetMS), 1},
	} {
		if !(f.value >= f.atLeast) || math.IsInf(f.value, 0) {
			e = e.With(schemas.Violation{Path: "/" + f.name, Msg: "is too small or no number"})
		}
	}
	if len(p.Table.Rows) == 0 {
		e = e.With(schemas.Violation{Path: "/table", Msg: "has no rows"})
	}
	for i, row := range p.Table.Rows { // only what R2 can do, never a success (INV-GGS-NO-ACCEPT)
		if !slices.Contains(schemas.Directives(), row.Directive) {
			e = e.With(schemas.Violation{Path: fmt.Sprintf("/table/%d", i),
				Msg: fmt.Sprintf("%q is no directive", row.Directive)})
		}
	}
	if len(e.Violations) > 0 {
		return e.Try("take the defaults for what is listed")
	}
	return nil
}

// Omega is the share of the budget that is used, 0–1. replans includes the
// current request; elapsed is in milliseconds.
func (p Parameters) Omega(replans int, elapsedMS int64) float64 {
	o := p.W1*float64(replans)/float64(p.MaxReplans) + p.W2*float64(elapsedMS)/float64(p.TimeBudgetMS)
	return min(max(o, 0), 1)
}

// Loss is L = αD + β(1−Ω)P + λΩ, with its parts.
func (p Parameters) Loss(d, implausibility, omega float64) schemas.Loss {
	return schemas.Loss{D: d, P: implausibility, Omega: omega,
		L: p.Alpha*d + p.Beta*(1-omega)*implausibility + p.Lambda*omega}
}

// Quality is αD + βP, the part of the loss that time alone does not move.
func (p Parameters) Quality(l schemas.Loss) float64 { return p.Alpha*l.D + p.Beta*l.P }

// Direction names a change of the loss, given the distance it led to.
func (p Parameters) Direction(change, d float64) schemas.Gradient {
	switch {
	case !atLeast(math.Abs(change), p.Epsilon) && above(d, p.Delta):
		return schemas.Plateau
	case !atLeast(math.Abs(change), p.Epsilon):
		return schemas.Stable
	case change < 0:
		return schemas.Improving
	}
	return schemas.Worsening
}

// Failure is what the verdicts of a round amount to.
type Failure struct {
	D, P      float64
	Class     schemas.FailureClass // of most failures; "" = none was classed
	Criterion string               // the one that weighs most in D, "" = none
}

// Tie reports equally many failures of both classes.
func (f Failure) Tie() bool { return f.Class == schemas.Mixed }

// Weighed is a verdict with the share at which a failure counts, 0–1.
type Weighed struct {
	schemas.CriterionVerdict
	Weight float64
}

// Weigh lists the verdicts of a request. A plausible criterion that failed in k of
// N attempts weighs k/N, any other failure 1. An outcome that failed without a
// failed criterion counts as one, and so does a request that says nothing: D is
// never 0 of 0.
func Weigh(r schemas.ReplanRequest) (list []Weighed) {
	for _, o := range r.Outcomes {
		failed := false
		for _, v := range o.CriteriaVerdicts {
			w := Weighed{CriterionVerdict: v, Weight: 1}
			if v.Mode == schemas.Plausible {
				w.Weight = share(v.Criterion, o.GapTrajectory)
			}
			failed = failed || v.Failed()
			list = append(list, w)
		}
		if o.Failed() && !failed {
			list = append(list, Weighed{schemas.CriterionVerdict{Criterion: string(o.FailureReason),
				Verdict: schemas.Fail}, 1})
		}
	}
	for _, v := range r.TaskVerdicts {
		list = append(list, Weighed{v, 1})
	}
	if len(list) == 0 {
		list = append(list, Weighed{schemas.CriterionVerdict{Criterion: r.GapSummary, Verdict: schemas.Fail}, 1})
	}
	return list
}

// share is in how many of its attempts a criterion failed, at least the last.
func share(criterion string, gaps []schemas.Gap) float64 {
	if len(gaps) == 0 {
		return 1
	}
	k := 0
	for _, g := range gaps {
		for _, f := range g.FailedCriteria {
			if f.Criterion == criterion {
				k++
				break
			}
		}
	}
	return float64(max(k, 1)) / float64(len(gaps))
}

// Measure gives D, P and the class of a round's failures (pipeline v0.7, The Loss
// Function). Without a classed failure P is 0.5.
func Measure(list []Weighed) Failure {
	f := Failure{P: 0.5}
	var sum, most float64
	var logical, environmental int
	for _, w := range list {
		if !w.Failed() {
			continue
		}
		sum += w.Weight
		if w.Weight > most {
			most, f.Criterion = w.Weight, w.Criterion
		}
		switch w.FailureClass {
		case schemas.Logical:
			logical++
		case schemas.Environmental:
			environmental++
		}
	}
	if len(list) > 0 {
		f.D = sum / float64(len(list))
	}
	if n := logical + environmental; n > 0 {
		f.P = float64(logical) / float64(n)
		switch {
		case logical == environmental:
			f.Class = schemas.Mixed
		case logical > environmental:
			f.Class = schemas.Logical
		default:
			f.Class = schemas.Environmental
		}
	}
	return f
}
