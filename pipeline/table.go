package pipeline

import (
	"slices"

	"cordelia/schemas"
)

// Blame says whom P and the class of failure blame.
type Blame string

// What a round's failures point at.
const (
	TheApproach    Blame = "approach"    // P > ρ
	TheEnvironment Blame = "environment" // P ≤ ρ, or nothing was classed
	Both           Blame = "both"        // a true tie
)

// Distance says where D lies.
type Distance string

// Where D lies.
const (
	Above  Distance = "above"  // D > δ
	Within Distance = "within" // D ≤ δ
)

// Row is one line of a decision table; an empty condition holds for anything.
type Row struct {
	Spent      bool // Ω has reached the threshold
	Directions []schemas.Gradient
	Distance   Distance
	Blame      Blame
	Directive  schemas.Directive
	PathHint   bool   // say what to work on instead
	Name       string // what the table itself calls it, if not by the directive
}

// Table is a decision table. The first row that holds decides.
type Table struct {
	Version string
	Rows    []Row
}

// TableV07 is that of pipeline v0.7. Rows it leaves open are refine; in a tie the
// rows that ask for a class are change_approach (its Q4).
func TableV07() Table {
	return Table{"v0.7", []Row{
		{Spent: true, Directive: schemas.Abandon},
		{Directions: []schemas.Gradient{schemas.Improving}, Directive: schemas.Refine},
		{Directions: []schemas.Gradient{schemas.Plateau}, Distance: Above, Blame: Both,
			Directive: schemas.ChangeApproach},
		{Directions: []schemas.Gradient{schemas.Plateau}, Distance: Above, Blame: TheApproach,
			Directive: schemas.BreakSymmetry},
		{Directions: []schemas.Gradient{schemas.Plateau}, Distance: Above, Blame: TheEnvironment,
			Directive: schemas.ChangePath, PathHint: true},
		{Directions: []schemas.Gradient{schemas.Worsening}, Distance: Above, Blame: Both,
			Directive: schemas.ChangeApproach},
		{Directions: []schemas.Gradient{schemas.Worsening}, Distance: Above, Blame: TheApproach,
			Directive: schemas.ChangeApproach},
		{Directions: []schemas.Gradient{schemas.Worsening}, Distance: Above, Blame: TheEnvironment,
			Directive: schemas.Refine, PathHint: true},
		{Directive: schemas.Refine},
	}}
}

// TableV08 is the later one of the same authors. What it calls a success only says
// that the distance is tolerable: the result was rejected, so it is refined.
func TableV08() Table {
	flat := []schemas.Gradient{schemas.Plateau, schemas.Stable}
	return Table{"v0.8", []Row{
		{Spent: true, Directive: schemas.Abandon},
		{Distance: Within, Directive: schemas.Refine, Name: "within_tolerance"},
		{Blame: Both, Directive: schemas.ChangeApproach},
		{Directions: flat, Blame: TheApproach, Directive: schemas.BreakSymmetry},
		{Directions: flat, Blame: TheEnvironment, Directive: schemas.ChangePath, PathHint: true},
		{Blame: TheApproach, Directive: schemas.ChangeApproach},
		{Directions: []schemas.Gradient{schemas.Worsening}, Blame: TheEnvironment, Directive: schemas.Refine,
			PathHint: true},
		{Directive: schemas.Refine},
	}}
}

// Decide finds the row for a round.
func (p Parameters) Decide(l schemas.Loss, g schemas.Gradient, tie bool) Row {
	distance, blame := Within, TheEnvironment
	if above(l.D, p.Delta) {
		distance = Above
	}
	switch {
	case tie:
		blame = Both
	case above(l.P, p.Rho):
		blame = TheApproach
	}
	for _, r := range p.Table.Rows {
		if (!r.Spent || atLeast(l.Omega, p.AbandonOmega)) &&
			(r.Directions == nil || slices.Contains(r.Directions, g)) &&
			(r.Distance == "" || r.Distance == distance) &&
			(r.Blame == "" || r.Blame == blame) {
			return r
		}
	}
	return Row{Directive: schemas.Refine} // what a table leaves open is another try, never an end
}
