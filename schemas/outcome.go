package schemas

import "encoding/json"

// FailureClass says what kind of failure it was; "" (null in JSON) = unclassified.
type FailureClass string

// The classes. Mixed is a true tie of the other two, in directives only.
const (
	Logical       FailureClass = "logical"       // the approach ran and gave the wrong result
	Environmental FailureClass = "environmental" // something outside prevented it
	Mixed         FailureClass = "mixed"
)

// FailureClasses lists what a failed criterion can be classed as.
func FailureClasses() []FailureClass { return []FailureClass{Logical, Environmental} }

// MarshalJSON writes an unclassified failure as null.
func (c FailureClass) MarshalJSON() ([]byte, error) {
	if c == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(c))
}

// Verdict is pass or fail.
type Verdict string

// The verdicts.
const (
	Pass Verdict = "pass"
	Fail Verdict = "fail"
	Held Verdict = "held" // on record alone: the judge lets it pass and no call proves it; a person decides
)

// Verdicts lists those a judge gives.
func Verdicts() []Verdict { return []Verdict{Pass, Fail} }

// Basis is what a verdict on record rests on.
type Basis string

// The bases.
const (
	ByCheck     Basis = "machine_check"
	ByRecord    Basis = "recorded_exit" // a call that the node recorded
	ByHook      Basis = "hook_exit"     // a call that the executor reported, with the result from its client's hook
	ByClaim     Basis = "claimed_exit"  // a call that the executor reported
	ByJudgeCall Basis = "judge_call"    // a call that the judge reported
	ByJudge     Basis = "judge"         // the judge's words
)

// LeftOut stands where something that looked like a secret was.
const LeftOut = "[secret]"

// JudgedCriterion is a verdict as a validator gives it.
type JudgedCriterion struct {
	Criterion    string       `json:"criterion"`
	Verdict      Verdict      `json:"verdict"`
	FailureClass FailureClass `json:"failure_class,omitempty"`
	Evidence     string       `json:"evidence"`
	Call         int          `json:"call,omitempty"` // which of brief.inputs.tool_calls shows it, from 1
}

// VerdictReport is what R4a answers: each criterion by itself, and what would
// mend the first that failed.
type VerdictReport struct {
	Verdicts []JudgedCriterion `json:"verdicts"`
	WhatToDo string            `json:"what_to_do,omitempty"`
}

// MergeReport is what R4b answers: the outputs as one, checked against the task's
// criteria.
type MergeReport struct {
	Output   json.RawMessage   `json:"output"`
	Verdicts []JudgedCriterion `json:"verdicts"`
}

// CriterionVerdict is a verdict on record.
type CriterionVerdict struct {
	Criterion    string        `json:"criterion"`
	Mode         CriterionMode `json:"mode"`
	Verdict      Verdict       `json:"verdict"`
	FailureClass FailureClass  `json:"failure_class"` // null when it passed or was not classed
	Evidence     string        `json:"evidence"`
	By           Basis         `json:"by,omitempty"` // "" = not judged
}

// Failed reports whether the criterion failed: it neither passed nor waits for a person.
func (v CriterionVerdict) Failed() bool { return v.Verdict != Pass && v.Verdict != Held }

// CorrectionSignal sends R3 back to one failed criterion.
type CorrectionSignal struct {
	TaskID          string       `json:"task_id"`
	SubTaskID       string       `json:"subtask_id"`
	Round           int          `json:"round"`
	AttemptNumber   int          `json:"attempt_number"` // the attempt that failed
	FailedCriterion string       `json:"failed_criterion"`
	FailureClass    FailureClass `json:"failure_class"`
	WhatWasWrong    string       `json:"what_was_wrong"`
	WhatToDo        string       `json:"what_to_do"`
}

// FailedCriterion is one failure of an attempt.
type FailedCriterion struct {
	Criterion    string       `json:"criterion"`
	FailureClass FailureClass `json:"failure_class"`
}

// Gap is what one attempt missed.
type Gap struct {
	Attempt        int               `json:"attempt"`
	FailedCriteria []FailedCriterion `json:"failed_criteria"`
}

// OutcomeStatus is how a subtask ended.
type OutcomeStatus string

// The statuses.
const (
	Matched       OutcomeStatus = "matched"
	OutcomeFailed OutcomeStatus = "failed"
	OutcomeHeld   OutcomeStatus = "held" // none of its criteria failed, and a person decides on some
)

// FailureReason says why a subtask failed; "" (null in JSON) = it did not.
type FailureReason string

// MarshalJSON writes no reason as null.
func (r FailureReason) MarshalJSON() ([]byte, error) {
	if r == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(r))
}

// SubTaskOutcome is what R4a hands to R4b.
type SubTaskOutcome struct {
	SubTaskID        string             `json:"subtask_id"`
	ParentTaskID     string             `json:"parent_task_id"`
	Round            int                `json:"round"`
	Status           OutcomeStatus      `json:"status"`
	Output           json.RawMessage    `json:"output"`
	FailureReason    FailureReason      `json:"failure_reason"`
	CriteriaVerdicts []CriterionVerdict `json:"criteria_verdicts"`
	GapTrajectory    []Gap              `json:"gap_trajectory"`      // one for each attempt
	ToolCalls        []Evidence         `json:"tool_calls"`          // of all attempts
	JudgedBy         EntityID           `json:"judged_by,omitempty"` // of the last attempt; "" = code
}

// Failed reports whether the subtask failed; a status that is not known is a failure.
func (o SubTaskOutcome) Failed() bool { return o.Status != Matched && o.Status != OutcomeHeld }

// Recommendation is what R4b thinks of another round.
type Recommendation string

// The recommendations.
const (
	RecommendReplan  Recommendation = "replan"
	RecommendAbandon Recommendation = "abandon"
)

// ReplanRequest is R4b's error signal to R7.
type ReplanRequest struct {
	TaskID          string             `json:"task_id"`
	Round           int                `json:"round"`
	ReplanCount     int                `json:"replan_count"` // this request included
	GapSummary      string             `json:"gap_summary"`
	FailedSubTasks  []string           `json:"failed_subtasks"`
	CorrectionCount int                `json:"correction_count"`
	ElapsedMS       int64              `json:"elapsed_ms"` // since acceptance, without waiting for people or claims
	Outcomes        []SubTaskOutcome   `json:"outcomes"`
	TaskVerdicts    []CriterionVerdict `json:"task_verdicts"` // of a merge that was rejected
	Recommendation  Recommendation     `json:"recommendation"`
}

// Directive is the kind of change R2 has to make. None accepts anything.
type Directive string

// The directives.
const (
	Refine         Directive = "refine"
	ChangePath     Directive = "change_path"
	ChangeApproach Directive = "change_approach"
	BreakSymmetry  Directive = "break_symmetry"
	Abandon        Directive = "abandon"
)

// Directives lists them.
func Directives() []Directive {
	return []Directive{Refine, ChangePath, ChangeApproach, BreakSymmetry, Abandon}
}

// Gradient is the direction of the loss.
type Gradient string

// The directions.
const (
	Improving Gradient = "improving"
	Stable    Gradient = "stable"
	Worsening Gradient = "worsening"
	Plateau   Gradient = "plateau"
)

// Loss is a round's loss and its parts, each without a unit; D, P and Omega are
// within 0 and 1.
type Loss struct {
	D     float64 `json:"D"`
	P     float64 `json:"P"`
	Omega float64 `json:"Omega"`
	L     float64 `json:"L"`
}

// PlanDirective is R7's answer to a ReplanRequest, for R2.
type PlanDirective struct {
	TaskID                string       `json:"task_id"`
	Round                 int          `json:"round"` // the round that failed
	Loss                  Loss         `json:"loss"`
	Gradient              Gradient     `json:"gradient"`
	GradL                 float64      `json:"grad_l"`           // change of L; 0 in the first round
	QualityGradient       float64      `json:"quality_gradient"` // change of αD + βP: what time alone does not move
	Directive             Directive    `json:"directive"`
	BlockedTools          []string     `json:"blocked_tools"`          // of all rounds
	BlockedTargets        []string     `json:"blocked_targets"`        // tool:input, of all rounds
	SuggestedAlternatives []string     `json:"suggested_alternatives"` // what is left to try
	FailedCriterion       string       `json:"failed_criterion"`       // what weighs most in D
	FailureClass          FailureClass `json:"failure_class"`          // may be mixed
	BudgetPressure        float64      `json:"budget_pressure"`        // Ω
	Rationale             string       `json:"rationale"`
}

// TaskResult is how a task ended.
type TaskResult string

// The results.
const (
	ResultAccepted  TaskResult = "accepted"
	ResultAbandoned TaskResult = "abandoned"
	ResultCancelled TaskResult = "cancelled"
)

// FinalResult is what the user gets, however the task ended.
type FinalResult struct {
	TaskID     string          `json:"task_id"`
	Result     TaskResult      `json:"result"`
	Reason     string          `json:"reason"`
	Output     json.RawMessage `json:"output"` // partial unless accepted
	Loss       Loss            `json:"loss"`
	Rounds     int             `json:"rounds"`
	Tried      []string        `json:"tried"`      // what each round attempted
	NextMoves  []string        `json:"next_moves"` // what a person could do
	FinishedAt string          `json:"finished_at"`
}
