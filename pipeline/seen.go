package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"cordelia/schemas"
)

// Seen is what a task remembers of the round that failed last.
type Seen struct {
	Tools      []string // of its calls
	Approaches []string // the same with what they were used on
	Failed     []string // its criteria, hashed
	Passed     []string
	Directive  schemas.Directive // given after it
}

// maxMarks is how many criteria of a round are compared with those of the next.
const maxMarks = 64

// look is the failed round as a controller sees it.
func look(r schemas.ReplanRequest) (b Seen) {
	for _, call := range failedCalls(r) {
		if len(b.Approaches) < maxApproaches {
			b.Tools = union(b.Tools, []string{ToolName(call.Tool)})
			b.Approaches = union(b.Approaches, []string{Approach(call)})
		}
	}
	for _, w := range Weigh(r) {
		sum := sha256.Sum256([]byte(w.Criterion))
		name := hex.EncodeToString(sum[:4])
		switch {
		case w.Failed() && len(b.Failed) < maxMarks:
			b.Failed = append(b.Failed, name)
		case !w.Failed() && len(b.Passed) < maxMarks:
			b.Passed = append(b.Passed, name)
		}
	}
	return b
}

// did is what the planner changed from round b to round now: not always what the directive
// said.
func (b Seen) did(now Seen, general []string) schemas.Directive {
	shares := func(a, b []string) bool {
		return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
	}
	switch {
	case len(b.Approaches) == 0 || len(now.Approaches) == 0 || shares(b.Approaches, now.Approaches):
		return schemas.Refine
	case !shares(b.Tools, now.Tools):
		return schemas.ChangeApproach
	case b.Directive == schemas.ChangeApproach && !slices.ContainsFunc(now.Tools, func(tool string) bool {
		return !hasTool(general, tool)
	}):
		return schemas.ChangeApproach // general tools can be used in another way
	}
	return schemas.ChangePath
}

// moved is how many more criteria passed in round now than in round b, of those that both had.
func (b Seen) moved(now Seen) (n int) {
	for _, name := range now.Passed {
		if slices.Contains(b.Failed, name) {
			n++
		}
	}
	for _, name := range now.Failed {
		if slices.Contains(b.Passed, name) {
			n--
		}
	}
	return n
}
