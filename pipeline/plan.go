package pipeline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"cordelia/schemas"
)

// Bounds of a plan.
const (
	MaxSubTasks  = 50
	MaxCriteria  = 20
	MaxIntent    = 4000 // bytes
	MaxCriterion = 1000 // bytes
	MaxSequence  = 1000
	PlanAttempts = 3  // answers of a planner to one request, the first included
	maxWrongs    = 20 // named for one answer: an agent fixes no more at once
)

// nearlyTheSame is the likeness (Jaccard) from which on a plan is the one before.
const nearlyTheSame = 0.8

// Brief is what a plan is checked against.
type Brief struct {
	Intent         string              // of the task
	Tools          []string            // known
	Constraints    []Constraint        // of memory
	BlockedTools   []string            // by directives
	BlockedTargets []string            // by directives, tool:input
	Directive      schemas.Directive   // "" for the first plan
	Earlier        []schemas.Plan      // of this task
	Team           Team                // who does it
	Checks         []schemas.CheckKind // that can be made; nil = of every kind
}

// NewBrief is the brief of a round after a directive; the zero directive is that
// of the first round.
func NewBrief(intent string, tools []string, constraints []Constraint, d schemas.PlanDirective,
	earlier []schemas.Plan) Brief {
	return Brief{Intent: intent, Tools: tools, Constraints: constraints, BlockedTools: d.BlockedTools,
		BlockedTargets: d.BlockedTargets,
		Directive:      d.Directive, Earlier: earlier}
}

// ban is an approach that a plan must not take.
type ban struct {
	approach string // as Approach names it
	tool     string // its name
	input    string // normalised; "" = too long to be looked for in words
	why      string
}

// bans lists the approaches that memory and directives forbid. It names a lesson and does
// not quote it: the executor, and the reader of why a task ended, may not be shown its words.
func (b Brief) bans() (list []ban) {
	for _, c := range b.Constraints {
		if c.Kind == MustNot && isApproach(c.Approach) {
			tool, input, _ := strings.Cut(c.Approach, ":")
			if strings.Contains(input, "…") {
				input = ""
			}
			list = append(list, ban{approachOf(c.Approach), ToolName(tool), input,
				fmt.Sprintf("lesson %s forbids it; %s", c.Source, Removal(c.Source))})
		}
	}
	for _, target := range b.BlockedTargets {
		tool, input, _ := strings.Cut(target, ":")
		list = append(list, ban{approachOf(target), ToolName(tool), commandOf(ToolName(tool), input),
			"it led nowhere in an earlier round"})
	}
	return list
}

// blocked is why a directive forbids a tool as such.
const blocked = "it was tried in an earlier round of this task"

// Left lists the tools a plan may name, sorted, never nil.
func (b Brief) Left() []string {
	return slices.DeleteFunc(union(b.Tools, nil), func(s string) bool { return hasTool(b.BlockedTools, s) })
}

// Judgement is what becomes of a planner's answer.
type Judgement string

// The judgements.
const (
	PlanHolds  Judgement = "dispatch"
	PlanAgain  Judgement = "ask again"
	PlanGiveUp Judgement = "give up" // to R7, which abandons
)

// JudgePlan reads a planner's attempt-th answer to one request, from 1, and decides
// about it. The error is why it does not hold, and goes to the planner. Nothing can
// hold when no tool is left.
func JudgePlan(answer string, b Brief, attempt int) (p schemas.Plan, j Judgement, notes []string, err error) {
	if len(b.Tools) > 0 && len(b.Left()) == 0 {
		return p, PlanGiveUp, nil, schemas.Conflictf("every tool there is for this task is blocked").
			Try("abandon the task, and say which tools were tried")
	}
	p, notes, err = Decode[schemas.Plan](answer)
	if err == nil {
		err = CheckPlan(p, b)
	}
	switch {
	case err == nil:
		return p, PlanHolds, notes, nil
	case attempt < PlanAttempts:
		return p, PlanAgain, notes, err
	}
	return p, PlanGiveUp, notes, err
}

// CheckPlan names what keeps a plan from being dispatched, all of it or the first
// twenty (INV-MUSTNOT). Error: CodeInvalid.
func CheckPlan(p schemas.Plan, b Brief) error {
	c := checking{Brief: b, banned: b.bans(), left: b.Left()}
	if len(p.SubTasks) == 0 || len(p.SubTasks) > MaxSubTasks {
		c.wrong("/subtasks", "must hold 1–%d subtasks, not %d", MaxSubTasks, len(p.SubTasks))
	}
	for i, s := range p.SubTasks[:min(len(p.SubTasks), MaxSubTasks)] {
		c.subTask(s, "/subtasks/"+strconv.Itoa(i))
	}
	c.criteria(p.TaskCriteria, b.Intent, "/task_criteria")
	c.places(p)
	c.history(p)
	if len(c.bad) == 0 {
		return nil
	}
	return schemas.Invalidf("the plan cannot be dispatched").With(first(c.bad)...).
		Try("plan again, mending what is listed")
}

type checking struct {
	Brief
	banned []ban
	left   []string
	bad    []schemas.Violation
}

func (c *checking) wrong(at, format string, args ...any) {
	if len(c.bad) <= maxWrongs { // one more tells that there are more
		c.bad = append(c.bad, schemas.Violation{Path: at, Msg: fmt.Sprintf(format, args...)})
	}
}

// first are the violations an answer is sent back with.
func first(bad []schemas.Violation) []schemas.Violation {
	if len(bad) <= maxWrongs {
		return bad
	}
	return append(slices.Clone(bad[:maxWrongs]), schemas.Violation{Msg: "and there is more"})
}

func (c *checking) subTask(s schemas.PlannedSubTask, at string) {
	if normal(s.Intent) == "" || len(s.Intent) > MaxIntent {
		c.wrong(at+"/intent", "must be words, at most %d bytes", MaxIntent)
	}
	if s.Sequence < 0 || s.Sequence > MaxSequence {
		c.wrong(at+"/sequence", "must be 0–%d", MaxSequence)
	}
	if len(s.Tools) == 0 {
		c.wrong(at+"/tools", "must name at least one tool it plans to use, of %s", strings.Join(c.left, ", "))
	}
	for i, tool := range s.Tools {
		if len(c.bad) > maxWrongs {
			return
		}
		path := at + "/tools/" + strconv.Itoa(i)
		switch {
		case hasTool(c.BlockedTools, tool):
			c.wrong(path, "tool %s must not be used: %s; left are %s", tool, blocked, strings.Join(c.left, ", "))
		case !hasTool(c.Tools, tool):
			c.wrong(path, "there is no tool %q%s", tool,
				cmp.Or(schemas.DidYouMean(tool, c.left), ", only "+strings.Join(c.left, ", ")))
		}
	}
	text := allWords(s)
	for _, ban := range c.banned {
		if hasTool(s.Tools, ban.tool) && mentions(text, ban.input) {
			c.wrong(at+"/intent", "tool %s must not be used on %q: %s", ban.tool, ban.input, ban.why)
		}
	}
	c.criteria(s.SuccessCriteria, s.Intent, at+"/success_criteria")
}

// allWords is all that a subtask says of what is to be done and how it is looked at.
func allWords(s schemas.PlannedSubTask) string {
	list := []string{s.Intent, s.Context}
	for _, c := range s.SuccessCriteria {
		list = append(list, c.Criterion)
		if c.Check != nil {
			list = append(list, strings.Join(c.Check.Command, " "))
		}
	}
	return strings.Join(list, "\n")
}

// mentions reports whether a text names an input, as words. An input of one or two
// characters is in too many texts to mean anything.
func mentions(text, input string) bool {
	needle := normal(input)
	return len(needle) > 2 && strings.Contains(" "+normal(text)+" ", " "+needle+" ")
}

func (c *checking) criteria(list []schemas.Criterion, intent, at string) {
	if len(list) == 0 || len(list) > MaxCriteria {
		c.wrong(at, "must hold 1–%d criteria, not %d", MaxCriteria, len(list))
	}
	seen := map[string]bool{}
	for i, criterion := range list[:min(len(list), MaxCriteria)] {
		path := at + "/" + strconv.Itoa(i)
		text := normal(criterion.Criterion)
		switch {
		case text == "" || len(criterion.Criterion) > MaxCriterion:
			c.wrong(path, "must be words, at most %d bytes", MaxCriterion)
		case text == normal(intent) || text == normal(c.Intent):
			c.wrong(path, "only restates the intent: say what tool output would show it, and what would show that "+
				"it failed")
		case seen[exact(criterion.Criterion)]:
			c.wrong(path, "is there twice")
		}
		seen[exact(criterion.Criterion)] = true
		if !slices.Contains(schemas.CriterionModes(), criterion.Mode) {
			c.wrong(path+"/mode", "must be one of %s", schemas.Joined(schemas.CriterionModes()))
		}
		switch {
		case criterion.Command != "" && criterion.Mode == schemas.Plausible:
			c.wrong(path+"/mode", "must be %s: the exit of the command shows it", schemas.Verifiable)
		case criterion.Command != "" && criterion.Check != nil:
			c.wrong(path+"/command", "has no meaning beside a check, which decides")
		case len(criterion.Command) > MaxCriterion:
			c.wrong(path+"/command", "is longer than %d bytes", MaxCriterion)
		}
		if criterion.Check == nil {
			continue
		}
		if criterion.Mode == schemas.Plausible {
			c.wrong(path+"/mode", "must be %s: the check decides it", schemas.Verifiable)
		}
		if c.Checks != nil && !slices.Contains(c.Checks, criterion.Check.Kind) {
			c.wrong(path+"/check", "no check of kind %s can be made on this node, %s; without one a validator judges",
				criterion.Check.Kind, only(c.Checks))
			continue
		}
		raw, err := json.Marshal(criterion.Check)
		if err != nil {
			c.wrong(path+"/check", "is not JSON")
			continue
		}
		_, bad := schemas.ParseCheck(raw, path+"/check", schemas.CheckKinds())
		c.bad = append(c.bad, bad...)
	}
}

// only names the kinds of checks that can be made.
func only(kinds []schemas.CheckKind) string {
	if len(kinds) == 0 {
		return "nor of any other"
	}
	return "only of " + schemas.Joined(kinds)
}

// history refuses what this task tried already: the same plan always, one that
// hardly differs where symmetry is to be broken.
func (c *checking) history(p schemas.Plan) {
	if c.Directive == "" {
		return
	}
	for i, before := range c.Earlier {
		switch alike := Likeness(p, before); {
		case identity(p) == identity(before):
			c.wrong("", "is the plan of round %d, which failed", i+1)
		case c.Directive == schemas.BreakSymmetry && atLeast(alike, nearlyTheSame):
			c.wrong("", "is %.0f %% like the plan of round %d, which failed; below %.0f %% is new", 100*alike, i+1,
				100*nearlyTheSame)
		}
	}
}

// identity is equal for two plans with the same content, in any order within a step, any case
// and any character width.
func identity(p schemas.Plan) string {
	steps := make([]string, len(p.SubTasks))
	ranks := []int{}
	for _, s := range p.SubTasks {
		ranks = append(ranks, s.Sequence)
	}
	slices.Sort(ranks)
	ranks = slices.Compact(ranks)
	for i, s := range p.SubTasks {
		steps[i] = fmt.Sprintf("%06d|%q|%q|%q|%q|%q|%q", slices.Index(ranks, s.Sequence), namesOf(s.Tools),
			exact(s.Intent), exact(s.Context), criteriaOf(s.SuccessCriteria),
			s.Role, s.AssignedTo)
	}
	slices.Sort(steps)
	return strings.Join(steps, "\n") + fmt.Sprintf("\n%q", criteriaOf(p.TaskCriteria))
}

// namesOf are the names under which tools are compared, sorted, each once.
func namesOf(tools []string) []string {
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = ToolName(tool)
	}
	return union(names, nil)
}

func criteriaOf(list []schemas.Criterion) []string {
	out := []string{}
	for _, c := range list {
		out = append(out, exact(c.Criterion)+"|"+string(c.Mode))
	}
	return union(out, nil)
}

// Likeness is how much two plans have in common, 0–1: the tools and the terms of
// the intents that are in both, over all there are (Jaccard).
func Likeness(a, b schemas.Plan) float64 { return jaccard(fingerprint(a), fingerprint(b)) }

func fingerprint(p schemas.Plan) map[string]bool {
	out := map[string]bool{}
	for _, s := range p.SubTasks {
		for _, tool := range s.Tools {
			out["tool "+ToolName(tool)] = true
		}
		maps.Copy(out, terms(s.Intent))
	}
	return out
}

// Breaches lists the calls of a result that a plan would have been refused for, each
// once, as its executor may do other than planned.
func (b Brief) Breaches(calls []schemas.Evidence) (list []string) {
	banned := b.bans()
	for _, call := range calls {
		key, text := Approach(call), ""
		if hasTool(b.BlockedTools, call.Tool) {
			text = fmt.Sprintf("tool %s was used: %s", call.Tool, blocked)
		} else if at := slices.IndexFunc(banned, func(one ban) bool { return one.approach == key }); at >= 0 {
			text = fmt.Sprintf("tool %s was used on %s: %s", call.Tool, quote(call.Input), banned[at].why)
		}
		if text != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// Unplanned parts the calls of a result in those of tools that its subtask planned to
// use and the others, which are no evidence, with the places of these among all.
func Unplanned(s schemas.PlannedSubTask, calls []schemas.Evidence) (planned, others []schemas.Evidence, at []int) {
	planned = []schemas.Evidence{}
	for i, call := range calls {
		if hasTool(s.Tools, call.Tool) {
			planned = append(planned, call)
		} else {
			others, at = append(others, call), append(at, i)
		}
	}
	return planned, others, at
}
