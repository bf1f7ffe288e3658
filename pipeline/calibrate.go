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

// What failures weigh. A lesson weighs 1 when it is new and half of that after each half-life.
const (
	halfLife    = 30 * 24 * time.Hour
	alikeTasks  = 2   // tasks that failed with the same approach
	alikeWeight = 1.0 // of those tasks together
	worthSaying = 0.1 // below it a failure is no evidence any more
)

// Remembered is a memory entry, and what the node knows of it.
type Remembered struct {
	schemas.MemoryEntry
	Vouched  bool // a person released it, or it comes from the verdicts of its own task, as the node recorded
	Released bool // a person released it: it may forbid
}

// ConstraintKind is how a constraint binds.
type ConstraintKind string

// The kinds.
const (
	MustNot      ConstraintKind = "MUST NOT"      // a person released the lesson
	ShouldAvoid  ConstraintKind = "SHOULD AVOID"  // two tasks failed alike
	ShouldPrefer ConstraintKind = "SHOULD PREFER" // one task failed, or it worked
)

// Constraint is what memory says about an approach, and which lessons say it.
type Constraint struct {
	Kind     ConstraintKind
	Approach string // tool:input; for what a plan should prefer also a tool; "" = what stood in the way
	Against  bool   `json:",omitempty"` // it should prefer another approach
	Intent   string // it was learnt on
	Lesson   string
	Source   string // entry id of the newest lesson
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
	case c.Kind == MustNot:
		return fmt.Sprintf("%s use %s", c.Kind, inWords(c.Approach))
	case c.Kind == ShouldAvoid:
		return fmt.Sprintf("%s %s, which failed in two tasks", c.Kind, inWords(c.Approach))
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

// Discourages reports advice against an approach.
func (c Constraint) Discourages() bool { return c.Against || c.Kind == ShouldAvoid }

// Release says how a person makes binding what discourages an approach.
func (c Constraint) Release() string {
	return fmt.Sprintf("forbid plans like this to use %s, which failed before, too: cordelia memory read %s, then "+
		"cordelia memory release %[2]s --if-version 1", inWords(c.Approach), c.Source)
}

// Removal says how a lesson is removed, over MCP and at the terminal.
func Removal(entry string) string {
	return fmt.Sprintf("memory_delete_warm {\"id\": %q} or cordelia memory delete %s removes it", entry, entry)
}

// Calibrate derives constraints from memory entries at a time (pipeline v0.6, steps 1–3),
// of the ten newest that share a word with the intent. On an intent that matches closely an
// approach is a MUST NOT if a person released its lesson, a SHOULD AVOID if it failed
// logically in two tasks, and a SHOULD PREFER if it failed once, or worked.
// What worked lifts what failed before it, and failures lose half their weight in 30 days.
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
		if n := common(words, about); n > 0 && err == nil && e.Vouched {
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
	if at := slices.IndexFunc(near, func(l lesson) bool { return l.forbids(key) }); at >= 0 {
		return near[at].constraint(MustNot, key), true
	}
	var failed []lesson // of each task the newest
	sum := 0.0
	for _, l := range near {
		if !slices.Contains(l.approaches(), key) {
			continue
		}
		if l.Type == schemas.Episodic { // what is older is lifted
			if len(failed) == 0 {
				return l.constraint(ShouldPrefer, key), true
			}
			break
		}
		if l.alike && !slices.ContainsFunc(failed, func(f lesson) bool { return f.TaskID == l.TaskID }) {
			failed, sum = append(failed, l), sum+l.weight
		}
	}
	switch {
	case len(failed) >= alikeTasks && atLeast(sum, alikeWeight):
		return failed[0].constraint(ShouldAvoid, key), true
	case len(failed) > 0 && atLeast(failed[0].weight, worthSaying):
		c := failed[0].constraint(ShouldPrefer, key)
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
