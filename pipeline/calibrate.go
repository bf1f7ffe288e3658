package pipeline

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"cordelia/schemas"
)

// maxEntries is how many memory entries calibration looks at.
const maxEntries = 10

// How lessons bind. A lesson weighs 1 when it is new and half of that after each half-life.
const (
	halfLife      = 30 * 24 * time.Hour
	bindingTasks  = 2   // tasks that failed with the same approach
	bindingWeight = 1.0 // of those tasks together
	worthSaying   = 0.1 // below it a failure is no evidence any more
)

// Remembered is a memory entry, and what the node knows of it.
type Remembered struct {
	schemas.MemoryEntry
	Binding  bool // a person released it, or it comes from the verdicts of its own task, as the node recorded
	Released bool // a person released it
}

// ConstraintKind is how a constraint binds.
type ConstraintKind string

// The kinds.
const (
	MustNot      ConstraintKind = "MUST NOT"
	ShouldPrefer ConstraintKind = "SHOULD PREFER"
)

// Constraint is what memory says about an approach, and which lessons say it.
type Constraint struct {
	Kind     ConstraintKind
	Approach string   // tool:input; for what a plan should prefer also a tool; "" = what stood in the way
	Against  bool     `json:",omitempty"` // it should prefer another approach
	Intent   string   // it was learnt on
	Lesson   string   //
	Source   string   // entry id of the newest lesson
	Rests    []string `json:",omitempty"` // a MUST NOT: all lessons it needs; without one of them it falls
}

// String is the constraint as a planner reads it. Words of memory are quoted: they
// are data, not instructions.
func (c Constraint) String() string {
	return fmt.Sprintf("%s: on %s, %s (memory %s)", c.Rule(), quote(c.Intent), quote(c.Lesson), c.Source)
}

// Rule is the constraint without the words of the lesson.
func (c Constraint) Rule() string {
	switch {
	case c.Approach == "":
		return fmt.Sprintf("%s to look first whether what stood in the way still does", c.Kind)
	case c.Against:
		return fmt.Sprintf("%s another approach than %s, which failed once", c.Kind, inWords(c.Approach))
	}
	if c.Kind == MustNot {
		return fmt.Sprintf("%s use %s", c.Kind, inWords(c.Approach))
	}
	return fmt.Sprintf("%s %s", c.Kind, inWords(c.Approach))
}

// inWords is an approach for people: the tool, and what it is used on.
func inWords(approach string) string {
	tool, input, ok := strings.Cut(approach, ":")
	if !ok {
		return "tool " + approach
	}
	return fmt.Sprintf("tool %s on %s", tool, quote(input))
}

// Removal says how a lesson is removed, over MCP and at the terminal.
func Removal(entry string) string {
	return fmt.Sprintf("memory_delete_warm {\"id\": %q} or cordelia memory delete %s removes it", entry, entry)
}

// Calibrate derives constraints from memory entries at a time (pipeline v0.6, steps 1–3),
// of the ten newest that share a word with the intent. An approach that failed logically
// in two tasks on closely matching intents, or whose lesson a person released, is a MUST
// NOT on such an intent; one that failed once, or that worked, on such an intent is a SHOULD
// PREFER. What worked lifts what failed before it, and failures lose half their weight in 30 days.
// A constraint names tools of the task only. A lesson that names a bare tool forbids
// nothing.
func Calibrate(intent string, entries []Remembered, tools []string, now time.Time) []Constraint {
	words, usual := informative(intent), commonplaces(entries)
	if len(missing(words, usual)) == 0 { // all its words are usual: then they tell what it is about
		usual = nil
	}
	var near []lesson
	for _, e := range entries {
		about := terms(strings.Join(append([]string{e.Content.Intent, e.Content.Lesson}, e.Tags...), " "))
		at, err := time.Parse(time.RFC3339, e.Timestamp)
		if n := common(words, about); n > 0 && err == nil && e.Binding {
			near = append(near, lesson{e, at, weightOf(now.Sub(at)), n,
				alike(missing(words, usual), missing(informative(e.Content.Intent), usual))})
		}
	}
	slices.SortFunc(near, func(a, b lesson) int {
		return cmp.Or(b.at.Compare(a.at), cmp.Compare(b.overlap, a.overlap), cmp.Compare(a.EntryID, b.EntryID))
	})
	near = near[:min(len(near), maxEntries)]
	var out []Constraint
	seen := map[string]bool{}
	for _, l := range near {
		if !l.alike { // what failed or worked elsewhere says nothing here
			continue
		}
		for _, key := range l.approaches() {
			tool, _, _ := strings.Cut(key, ":")
			if seen[key] || !hasTool(tools, tool) {
				continue
			}
			seen[key] = true
			if c, ok := about(key, near); ok {
				out = append(out, c)
			}
		}
		if l.obstacle() && atLeast(l.weight, 0.5) {
			out = append(out, l.constraint(ShouldPrefer, ""))
		}
	}
	return out
}

// From so many intents on a word that stands in three quarters of them says nothing of what
// an intent is about: "deploy" among lessons on deployments.
const leastIntents = 4

// commonplaces are the informative words that nearly all intents of some lessons share.
func commonplaces(entries []Remembered) map[string]bool {
	intents, in := map[string]bool{}, map[string]int{}
	for _, e := range entries {
		if !intents[e.Content.Intent] {
			intents[e.Content.Intent] = true
			for w := range informative(e.Content.Intent) {
				in[w]++
			}
		}
	}
	out := map[string]bool{}
	for w, n := range in {
		out[w] = len(intents) >= leastIntents && 4*n >= 3*len(intents)
	}
	return out
}

// missing are the words that are not among others.
func missing(words, others map[string]bool) map[string]bool {
	words = maps.Clone(words)
	maps.DeleteFunc(words, func(w string, _ bool) bool { return others[w] })
	return words
}

// lesson is an entry as calibration weighs it.
type lesson struct {
	Remembered
	at      time.Time
	weight  float64 // of a failure
	overlap int     // words in common with the intent
	alike   bool    // it was learnt on an intent that matches closely
}

// weightOf is what a failure of that age weighs, 0–1.
func weightOf(age time.Duration) float64 {
	return math.Exp2(-max(float64(age), 0) / float64(halfLife))
}

// approaches lists what a lesson speaks about: bare tools only where they worked.
func (l lesson) approaches() []string {
	if l.Type == schemas.Episodic {
		return l.Content.Prefer
	}
	return slices.DeleteFunc(slices.Clone(l.Content.Avoid), func(s string) bool { return !isApproach(s) })
}

// obstacle reports a lesson of what stood in the way of a task from outside.
func (l lesson) obstacle() bool {
	return l.Type == schemas.Procedural && len(l.Content.Avoid) == 0 &&
		slices.Contains(l.Tags, string(schemas.Environmental))
}

func (l lesson) constraint(kind ConstraintKind, approach string) Constraint {
	return Constraint{Kind: kind, Approach: approach, Intent: l.Content.Intent, Lesson: l.Content.Lesson,
		Source: l.EntryID}
}

// about is what lessons, the newest first, say of an approach.
func about(key string, near []lesson) (Constraint, bool) {
	var failures, binding []lesson
	for _, l := range near {
		if !slices.Contains(l.approaches(), key) {
			continue
		}
		if l.Type == schemas.Episodic { // what is older is lifted, but for a person's word
			if len(failures) == 0 && !slices.ContainsFunc(near, func(l lesson) bool { return l.forbids(key) }) {
				return l.constraint(ShouldPrefer, key), true
			}
			break
		}
		failures = append(failures, l)
		if l.alike && !slices.ContainsFunc(binding, func(b lesson) bool { return b.TaskID == l.TaskID }) {
			binding = append(binding, l)
		}
	}
	if at := slices.IndexFunc(near, func(l lesson) bool { return l.forbids(key) }); at >= 0 {
		c := near[at].constraint(MustNot, key)
		c.Rests = []string{c.Source}
		return c, true
	}
	sum := 0.0
	for i, l := range binding {
		if sum += l.weight; i+1 >= bindingTasks && atLeast(sum, bindingWeight) {
			c := binding[0].constraint(MustNot, key)
			for _, b := range binding[:i+1] {
				c.Rests = append(c.Rests, b.EntryID)
			}
			return c, true
		}
	}
	if len(failures) > 0 && atLeast(failures[0].weight, worthSaying) {
		c := failures[0].constraint(ShouldPrefer, key)
		c.Against = true
		return c, true
	}
	return Constraint{}, false
}

// forbids reports a lesson that a person released, about this approach and an intent
// that matches closely.
func (l lesson) forbids(key string) bool {
	return l.Released && l.alike && l.Type == schemas.Procedural && slices.Contains(l.approaches(), key)
}
