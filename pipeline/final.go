package pipeline

import (
	"encoding/json"
	"fmt"
	"strings"

	"cordelia/schemas"
)

// GiveUp is R7's directive where no round failed and none can begin: no agent fills a role, or
// a planner's answers are invalid. A task is abandoned by a directive only. Its D and P are
// those of the loss measured last, 0 before any was; Ω is of now.
func GiveUp(p Parameters, taskID string, round, replans int, elapsedMS int64, t Trail, last schemas.Loss,
	why string) schemas.PlanDirective {
	omega := p.Omega(replans, elapsedMS)
	l := p.Loss(last.D, last.P, omega)
	measured := ""
	if last == (schemas.Loss{}) {
		measured = " No round was measured, so only the budget used is in the loss."
	}
	return schemas.PlanDirective{TaskID: taskID, Round: round, Loss: l, Gradient: p.Direction(0, l.D),
		Directive: schemas.Abandon, BlockedTools: union(t.BlockedTools, nil),
		BlockedTargets:        union(t.BlockedTargets, nil),
		SuggestedAlternatives: []string{}, BudgetPressure: omega, Rationale: "Abandon: " + why + "." + measured}
}

// Abandoned is what the user gets when d abandons a task: the outputs of the
// subtasks that matched in the last round, what each round tried, and what a
// person could do. at is RFC 3339.
func Abandoned(d schemas.PlanDirective, last []schemas.SubTaskOutcome, tried []schemas.Plan,
	at string) (schemas.FinalResult, error) {
	if d.Directive != schemas.Abandon {
		return schemas.FinalResult{}, schemas.Conflictf("directive %s of task %s does not abandon it", d.Directive,
			d.TaskID).
			Try("plan the next round")
	}
	partial := []json.RawMessage{}
	for _, o := range last {
		if o.Status == schemas.Matched && len(o.Output) > 0 {
			partial = append(partial, o.Output)
		}
	}
	output, err := json.Marshal(partial)
	if err != nil {
		return schemas.FinalResult{}, schemas.Invalidf("an output of task %s is not JSON", d.TaskID).Because(err)
	}
	f := schemas.FinalResult{TaskID: d.TaskID, Result: schemas.ResultAbandoned, Reason: d.Rationale, Output: output,
		Loss: d.Loss, Rounds: d.Round, Tried: []string{}, NextMoves: nextMoves(d), FinishedAt: at}
	for i, p := range tried {
		var steps []string
		for _, s := range p.SubTasks {
			steps = append(steps, fmt.Sprintf("%s (%s)", s.Intent, strings.Join(s.Tools, ", ")))
		}
		f.Tried = append(f.Tried, fmt.Sprintf("round %d: %s", i+1, strings.Join(steps, "; ")))
	}
	return f, nil
}

func nextMoves(d schemas.PlanDirective) []string {
	moves := []string{"submit the task again, narrower or with what was missing"}
	switch {
	case d.FailedCriterion != "" && d.FailureClass == schemas.Environmental:
		moves = append(moves, fmt.Sprintf("remove what stood in the way of %q, then submit it again",
			d.FailedCriterion))
	case d.FailedCriterion != "":
		moves = append(moves, fmt.Sprintf("see whether %q is the right thing to ask for", d.FailedCriterion))
	}
	if len(d.BlockedTools) > 0 {
		moves = append(moves, "give it another tool than "+strings.Join(d.BlockedTools, ", "))
	} else if atLeast(d.BudgetPressure, 0.5) {
		moves = append(moves, "give it a larger budget of time or rounds")
	} else if len(moves) == 1 {
		moves = append(moves, "let another agent or model take the roles")
	}
	return moves
}
