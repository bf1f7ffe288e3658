package schemas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// PipelineRole is a role of the task pipeline (pipeline v0.7, Role Index).
type PipelineRole string

// The roles.
const (
	Perceiver      PipelineRole = "R1"
	Planner        PipelineRole = "R2"
	Executor       PipelineRole = "R3"
	AgentValidator PipelineRole = "R4a"
	MetaValidator  PipelineRole = "R4b"
	SharedMemory   PipelineRole = "R5"
	Auditor        PipelineRole = "R6"
	GradientSolver PipelineRole = "R7"
)

// PipelineRoles lists the roles.
func PipelineRoles() []PipelineRole {
	return []PipelineRole{Perceiver, Planner, Executor, AgentValidator, MetaValidator, SharedMemory, Auditor,
		GradientSolver}
}

// SkillOf is the name under which capability trust knows how well work of a role is
// done; other roles than those of the pipeline go by their own, and none is an
// executor's.
func SkillOf(role string) string {
	switch PipelineRole(role) {
	case Perceiver:
		return "perceiver"
	case Planner:
		return "planner"
	case "", Executor:
		return "executor"
	case AgentValidator:
		return "validator"
	case MetaValidator:
		return "meta-validator"
	}
	return role
}

// CriterionMode says how a criterion is judged.
type CriterionMode string

// The modes.
const (
	Verifiable CriterionMode = "verifiable" // a machine check or a call that exits 0 shows it; a failure counts in full
	Plausible  CriterionMode = "plausible"  // a judgement; a failure counts by the share of attempts that failed
)

// CriterionModes lists the modes.
func CriterionModes() []CriterionMode { return []CriterionMode{Verifiable, Plausible} }

// Criterion is one condition that can be found false by itself.
type Criterion struct {
	Criterion string        `json:"criterion"`
	Mode      CriterionMode `json:"mode"`
	Check     *Check        `json:"check,omitempty"` // by code, instead of a judgement
	// the executor runs it; exit 0 after the last change shows the criterion
	Command string `json:"command,omitempty"`
}

// UnmarshalJSON reads a criterion or a bare string. Without a mode it is verifiable if
// it has a check or names a command, else plausible. A text names a command in
// backticks beside the word exit: "`make test` exits 0".
func (c *Criterion) UnmarshalJSON(raw []byte) error {
	type plain Criterion
	var p plain
	var err error
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '"' {
		err = json.Unmarshal(raw, &p.Criterion)
	} else {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil {
		return err
	}
	if p.Check == nil && p.Command == "" && p.Mode != Plausible {
		p.Command = namedCommand(p.Criterion)
	}
	if p.Mode == "" {
		if p.Mode = Plausible; p.Check != nil || p.Command != "" {
			p.Mode = Verifiable
		}
	}
	*c = Criterion(p)
	return nil
}

// namedCommand is the first text in backticks of a criterion that says how something
// exits, "" if there is none.
func namedCommand(criterion string) string {
	_, rest, ok := strings.Cut(criterion, "`")
	command, after, closed := strings.Cut(rest, "`")
	if !ok || !closed || !exitsZero.MatchString(after) {
		return ""
	}
	return strings.TrimSpace(command)
}

// exitsZero finds "exits 0", "exit code 0", "exits with code 0".
var exitsZero = regexp.MustCompile(`(?i)\bexits?\b(?: \pL+){0,3}[ :=]+0\b`)

// TaskConstraints are the limits a user stated; "" = none.
type TaskConstraints struct {
	Scope    string `json:"scope,omitempty"`
	Deadline string `json:"deadline,omitempty"` // RFC 3339
}

// TaskSpec is what R1 carries to R2: the user's words, no criteria.
type TaskSpec struct {
	TaskID      string          `json:"task_id"`
	Intent      string          `json:"intent"`
	Constraints TaskConstraints `json:"constraints"`
	RawInput    string          `json:"raw_input"` // verbatim
}

// Perception is what R1 answers: the intent in the user's words, or questions.
type Perception struct {
	Intent      string          `json:"intent,omitempty"` // "" only beside questions
	Constraints TaskConstraints `json:"constraints,omitzero"`
	Questions   []string        `json:"questions,omitempty"` // all at once; none = clear enough
}

// PlannedSubTask is a subtask as R2 plans it, without ids.
type PlannedSubTask struct {
	Intent          string      `json:"intent"`
	SuccessCriteria []Criterion `json:"success_criteria"`
	Context         string      `json:"context,omitempty"`
	Deadline        string      `json:"deadline,omitempty"` // RFC 3339
	Sequence        int         `json:"sequence"`           // equal = parallel; higher waits for lower
	Tools           []string    `json:"tools"`              // what it plans to use
	Role            string      `json:"role,omitempty"`     // stage, in a swarm that has stages
	AssignedTo      string      `json:"assigned_to,omitempty"`
}

// Plan is what R2 answers.
type Plan struct {
	SubTasks     []PlannedSubTask `json:"subtasks"`
	TaskCriteria []Criterion      `json:"task_criteria"`
}

// SubTask is what R3 gets; the node made its ids.
type SubTask struct {
	SubTaskID    string `json:"subtask_id"`
	ParentTaskID string `json:"parent_task_id"`
	Round        int    `json:"round"` // from 1
	PlannedSubTask
}

// DispatchManifest tells R4b what to wait for and what to hold the whole against.
type DispatchManifest struct {
	TaskID       string      `json:"task_id"`
	Round        int         `json:"round"`
	SubTaskIDs   []string    `json:"subtask_ids"`
	TaskCriteria []Criterion `json:"task_criteria"`
	DispatchedAt string      `json:"dispatched_at"`
}

// EvidenceEnd is how much of each end of a tool's output is kept, in bytes.
const EvidenceEnd = 2000

// Evidence is one tool call and both ends of what came out.
type Evidence struct {
	Tool  string `json:"tool"`
	Input string `json:"input"`
	Exit  int    `json:"exit"` // 0 = it worked
	Head  string `json:"head,omitempty"`
	Tail  string `json:"tail,omitempty"` // what follows the head, its last part if that is longer
}

// NewEvidence keeps [EvidenceEnd] bytes of each end of output, cut between
// characters, and no NUL.
func NewEvidence(tool, input string, exit int, output string) Evidence {
	tool, input, output = WithoutNUL(tool), WithoutNUL(input), WithoutNUL(output)
	head := output[:Boundary(output, min(len(output), EvidenceEnd))]
	rest := output[len(head):]
	if len(rest) > EvidenceEnd {
		from := len(rest) - EvidenceEnd
		for from < len(rest) && !utf8.RuneStart(rest[from]) {
			from++
		}
		rest = rest[from:]
	}
	return Evidence{tool, input, exit, head, rest}
}

// Target names what a call worked on, as tool:input.
func (e Evidence) Target() string { return e.Tool + ":" + e.Input }

// String is the seed's form: tool:command → output.
func (e Evidence) String() string {
	out := e.Head
	if out == "" && e.Exit == 0 {
		out = "no output"
	}
	if e.Tail != "" {
		out = strings.TrimSpace(e.Head + " … " + e.Tail)
	}
	if e.Exit != 0 {
		out = strings.TrimSpace(fmt.Sprintf("(exit %d) %s", e.Exit, out))
	}
	return e.Target() + " → " + out
}

// ExecutionStatus is how R3 says a subtask ended.
type ExecutionStatus string

// The statuses.
const (
	ExecutionCompleted ExecutionStatus = "completed"
	ExecutionFailed    ExecutionStatus = "failed"
)

// ExecutionStatuses lists them.
func ExecutionStatuses() []ExecutionStatus {
	return []ExecutionStatus{ExecutionCompleted, ExecutionFailed}
}

// ExecutionReport is what R3 answers: output is a claim, tool calls are the record.
type ExecutionReport struct {
	Status    ExecutionStatus `json:"status"`
	Output    json.RawMessage `json:"output"`
	ToolCalls []Evidence      `json:"tool_calls"`
	Reason    string          `json:"reason,omitempty"` // why it failed
}

// ExecutionResult is the report on one attempt at a subtask.
type ExecutionResult struct {
	TaskID    string `json:"task_id"`
	SubTaskID string `json:"subtask_id"`
	Round     int    `json:"round"`
	Attempt   int    `json:"attempt"` // from 1
	ExecutionReport
	Recorded []Evidence `json:"recorded,omitzero"` // what the node saw of its calls; nil = nothing was recorded
	Hooked   []Evidence `json:"hooked,omitempty"`  // what the hooks of its client reported of its calls
	// calls of tools that the subtask did not plan: no evidence; of a record they are among its calls
	Unplanned []Evidence `json:"unplanned,omitempty"`
	// where each of these stood among all claimed calls, from 0: their changes count in that order
	UnplannedAt []int      `json:"unplanned_at,omitempty"`
	Checks      []Evidence `json:"checks,omitempty"` // of the node: what machine checks of it found
}
