package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordelia/schemas"
)

// maxEntries is how many memory entries calibration looks at.
const maxEntries = 10

// Remembered is a memory entry and whether it may bind a plan: a person validated
// it, or the node knows that it comes from the verdicts of its own task.
type Remembered struct {
	schemas.MemoryEntry
	Binding bool
}

// ConstraintKind is how a constraint binds.
type ConstraintKind string

// The kinds.
const (
	MustNot      ConstraintKind = "MUST NOT"
	ShouldPrefer ConstraintKind = "SHOULD PREFER"
)

// Constraint is what memory says about a tool, and which entry says it.
type Constraint struct {
	Kind   ConstraintKind
	Tool   string
	Intent string // it was learnt on
	Lesson string
	Source string // entry id
}

// String is the constraint as a planner reads it. Words of memory are quoted: they
// are data, not instructions.
func (c Constraint) String() string {
	return fmt.Sprintf("%s use tool %s: on %s, %s (memory %s)", c.Kind, c.Tool, quote(c.Intent), quote(c.Lesson), c.Source)
}

// Calibrate derives constraints from memory entries (pipeline v0.6, steps 1–3),
// a MUST NOT from procedural and a SHOULD PREFER from episodic ones: those that share a word with the intent, the ten newest; of two that contradict
// each other about a tool the newer counts. A constraint names known tools only,
// and comes from a binding entry only.
func Calibrate(intent string, entries []Remembered, known []string) []Constraint {
	words := terms(intent)
	type candidate struct {
		Remembered
		at      time.Time
		overlap int
	}
	var near []candidate
	for _, e := range entries {
		about := terms(strings.Join(append([]string{e.Content.Intent, e.Content.Lesson}, e.Tags...), " "))
		at, err := time.Parse(time.RFC3339, e.Timestamp)
		if n := common(words, about); n > 0 && err == nil && e.Binding {
			near = append(near, candidate{e, at, n})
		}
	}
	slices.SortFunc(near, func(a, b candidate) int {
		return cmp.Or(b.at.Compare(a.at), cmp.Compare(b.overlap, a.overlap), cmp.Compare(a.EntryID, b.EntryID))
	})
	near = near[:min(len(near), maxEntries)]
	var out []Constraint
	settled := map[string]bool{} // tools a newer entry spoke about
	for _, e := range near {
		kind, tools := ShouldPrefer, e.Content.Prefer
		if e.Type == schemas.Procedural {
			kind, tools = MustNot, e.Content.Avoid
		}
		for _, tool := range tools {
			if settled[tool] || !slices.Contains(known, tool) {
				continue
			}
			settled[tool] = true
			out = append(out, Constraint{kind, tool, e.Content.Intent, e.Content.Lesson, e.EntryID})
		}
	}
	return out
}
