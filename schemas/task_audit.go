package schemas

import "encoding/json"

// MemoryEntryType is what R5 keeps.
type MemoryEntryType string

// The types.
const (
	Episodic   MemoryEntryType = "episodic"   // what was done, and worked
	Procedural MemoryEntryType = "procedural" // a lesson from what failed
)

// MemoryEntryTypes lists them.
func MemoryEntryTypes() []MemoryEntryType { return []MemoryEntryType{Episodic, Procedural} }

// Lesson is the content of a memory entry.
type Lesson struct {
	Intent string   `json:"intent"`           // of the task it was learnt on
	Lesson string   `json:"lesson"`           // in words
	Avoid  []string `json:"avoid,omitempty"`  // approaches that failed there, as tool:input
	Prefer []string `json:"prefer,omitempty"` // approaches that worked there

	Verdicts []CriterionVerdict `json:"verdicts,omitempty"` // on the criteria of the task and its subtasks
}

// MemoryEntry is what R4b writes on acceptance, and R2 on lessons and when a task is abandoned.
type MemoryEntry struct {
	EntryID   string          `json:"entry_id"`
	TaskID    string          `json:"task_id"`
	Type      MemoryEntryType `json:"type"`
	Content   Lesson          `json:"content"`
	Tags      []string        `json:"tags"`
	Timestamp string          `json:"timestamp"`
}

// AuditEvent is one message between roles as R6 saw it.
type AuditEvent struct {
	EventID   string          `json:"event_id"`
	TaskID    string          `json:"task_id"`
	Round     int             `json:"round"`
	SubTaskID string          `json:"subtask_id,omitempty"`
	From      PipelineRole    `json:"from,omitempty"`
	To        PipelineRole    `json:"to,omitempty"` // "" = the user
	Actor     EntityID        `json:"actor"`        // who sat in the sender's role; the node for code
	Record    string          `json:"record"`       // the message's type, such as PlanDirective
	Message   json.RawMessage `json:"message"`
	Timestamp string          `json:"timestamp"`
}

// Detection is something R6 looks for.
type Detection string

// The detections.
const (
	DetectDrift          Detection = "drift"             // many corrections on one subtask
	DetectRoleDrift      Detection = "role_drift"        // a role off its own baseline
	DetectDivergence     Detection = "divergence"        // the loss keeps rising
	DetectBoundary       Detection = "boundary"          // a role did what it does not do
	DetectThrashing      Detection = "ggs_thrashing"     // symmetry broken again and again, D not falling
	DetectDuplicateID    Detection = "duplicate_id"      //
	DetectFanInGap       Detection = "fanin_gap"         // a subtask without a report
	DetectStaleSubmit    Detection = "stale_submit"      // a report with a fence that is over
	DetectSeparationDuty Detection = "separation_breach" // judged, merged or accepted by an agent related to it
	DetectFailedTool     Detection = "failed_tool"       // success claimed beside a tool that failed
	DetectRepetition     Detection = "repetition"        // the same call again and again
	DetectNoEvidence     Detection = "no_evidence"       // success claimed, and nothing shown
	DetectUnrecorded     Detection = "unrecorded"        // a call claimed that the record does not have
	DetectUnstructured   Detection = "unstructured"      // evidence in prose, where a call was to be named
	DetectStaleArtefact  Detection = "stale_artefact"    // a file from before the attempt
	DetectIntentDrift    Detection = "intent_drift"      // the intent lacks the user's words
)

// Detections lists them.
func Detections() []Detection {
	return []Detection{DetectDrift, DetectRoleDrift, DetectDivergence, DetectBoundary, DetectThrashing,
		DetectDuplicateID, DetectFanInGap, DetectStaleSubmit, DetectSeparationDuty,
		DetectFailedTool, DetectRepetition, DetectNoEvidence, DetectUnrecorded, DetectUnstructured, DetectStaleArtefact,
		DetectIntentDrift}
}

// AuditFinding is one detection in a report.
type AuditFinding struct {
	Detection   Detection    `json:"detection"`
	Accountable PipelineRole `json:"accountable"`
	TaskID      string       `json:"task_id,omitempty"`
	SubTaskID   string       `json:"subtask_id,omitempty"`
	Finding     string       `json:"finding"`   // in words
	EventIDs    []string     `json:"event_ids"` // what shows it
}

// AuditReport goes to the human, on demand and from time to time.
type AuditReport struct {
	ReportID    string         `json:"report_id"`
	From        string         `json:"from"`
	Until       string         `json:"until"`
	Events      int            `json:"events"` // how many were looked at
	Findings    []AuditFinding `json:"findings"`
	GeneratedAt string         `json:"generated_at"`
}

// AuditQuery asks for a report; what is empty does not narrow it.
type AuditQuery struct {
	TaskID    string       `json:"task_id,omitempty"`
	Role      PipelineRole `json:"role,omitempty"`
	Detection Detection    `json:"detection,omitempty"`
	Since     string       `json:"since,omitempty"`
	Until     string       `json:"until,omitempty"`
}
