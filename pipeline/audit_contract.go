package pipeline

import (
	"slices"

	"cordelia/schemas"
)

// Records on the bus that are no types of package schemas, or name one.
const (
	recordTaskSpec      = "TaskSpec"
	recordClarification = "Clarification"
	recordAnswers       = "Answers"
	recordConstraints   = "Constraints"
	recordSubTask       = "SubTask"
	recordManifest      = "DispatchManifest"
	recordResult        = "ExecutionResult"
	recordCorrection    = "CorrectionSignal"
	recordOutcome       = "SubTaskOutcome"
	recordMerge         = "MergeReport"
	recordRequest       = "ReplanRequest"
	recordDirective     = "PlanDirective"
	recordFinal         = "FinalResult"
	recordMemory        = "MemoryEntry"
	recordRejected      = "Rejected"
	recordRefused       = "Refused"
	recordLate          = "Late"
	recordNotes         = "Notes"
)

// Channel is a record that one role may send to another; "" is the user.
type Channel struct {
	Record   string
	From, To schemas.PipelineRole
}

// Contract lists every channel there is (pipeline v0.7, the roles' contracts). What
// is sent in no channel of it is a breach of its sender's bounds.
func Contract() []Channel {
	const user schemas.PipelineRole = ""
	list := []Channel{
		{recordTaskSpec, schemas.Perceiver, schemas.Planner},
		{recordClarification, schemas.Perceiver, user},
		{recordAnswers, user, schemas.Perceiver},
		{recordConstraints, schemas.SharedMemory, schemas.Planner},
		{recordConstraints, schemas.SharedMemory, schemas.MetaValidator},
		{recordSubTask, schemas.Planner, schemas.Executor},
		{recordManifest, schemas.Planner, schemas.MetaValidator},
		{recordResult, schemas.Executor, schemas.AgentValidator},
		{recordCorrection, schemas.AgentValidator, schemas.Executor},
		{recordOutcome, schemas.AgentValidator, schemas.MetaValidator},
		{recordMerge, schemas.MetaValidator, schemas.GradientSolver}, // rejected
		{recordMerge, schemas.MetaValidator, user},
		{recordRequest, schemas.MetaValidator, schemas.GradientSolver},
		{recordDirective, schemas.GradientSolver, schemas.Planner},
		{recordFinal, schemas.MetaValidator, user},
		{recordFinal, schemas.GradientSolver, user},   // abandoned
		{recordFinal, user, user},                     // cancelled
		{recordRejected, user, schemas.MetaValidator}, // by a person who looked at the result
		{recordMemory, schemas.MetaValidator, schemas.SharedMemory},
		{recordMemory, schemas.Planner, schemas.SharedMemory},
	}
	for _, seat := range []schemas.PipelineRole{schemas.Perceiver, schemas.Planner, schemas.Executor,
		schemas.AgentValidator, schemas.MetaValidator} {
		list = append(list, Channel{recordRefused, seat, seat}, Channel{recordNotes, seat, seat},
			Channel{recordLate, seat, user})
	}
	return list
}

// contract finds what was sent in no channel.
func (l *taskLog) contract(Watch) {
	known := Contract()
	for _, e := range l.events {
		if !slices.Contains(known, Channel{e.Record, e.From, e.To}) {
			l.breach(e, "%s sent %q to %s, and its contract has no such message", party(e.From), e.Record, party(e.To))
		}
	}
}

func party(r schemas.PipelineRole) string {
	if r == "" {
		return "the user"
	}
	return string(r)
}
