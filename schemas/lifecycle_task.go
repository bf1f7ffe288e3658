package schemas

// TaskState is where a task stands.
type TaskState string

// The states of a task.
const (
	TaskPerceiving TaskState = "perceiving" // R1 reads what was asked
	TaskClarifying TaskState = "clarifying" // the user is asked
	TaskPlanning   TaskState = "planning"   // R2 plans a round
	TaskRunning    TaskState = "running"    // the subtasks of the round
	TaskMerging    TaskState = "merging"    // R4b makes one result of them and judges it
	TaskReview     TaskState = "review"     // accepted; a person looks at it before it counts
	TaskAccepted   TaskState = "accepted"   // final
	TaskAbandoned  TaskState = "abandoned"  // final
	TaskCancelled  TaskState = "cancelled"  // final
)

// TaskStates lists them.
func TaskStates() []TaskState {
	return []TaskState{TaskPerceiving, TaskClarifying, TaskPlanning, TaskRunning, TaskMerging, TaskReview,
		TaskAccepted, TaskAbandoned, TaskCancelled}
}

// Final reports whether nothing leaves s.
func (s TaskState) Final() bool {
	return s == TaskAccepted || s == TaskAbandoned || s == TaskCancelled
}

// Triggers of tasks and subtasks.
const (
	TaskAsk        Trigger = "ask"        // R1 has questions
	TaskAnswer     Trigger = "answer"     // empty = go on without
	TaskUnderstand Trigger = "understand" // R1 has the intent
	TaskDispatch   Trigger = "dispatch"   // R2's plan holds
	TaskGather     Trigger = "gather"     // every subtask matched
	TaskReplan     Trigger = "replan"     // R7 wants another round
	TaskGiveUp     Trigger = "give_up"    // R7 abandons, the only way there
	TaskAccept     Trigger = "accept"     // every criterion of the task passed
	TaskHold       Trigger = "hold"       // they passed, for one whose results a person looks at
	TaskApprove    Trigger = "approve"    // the person agrees
	TaskCancel     Trigger = "cancel"     //

	SubTaskStart     Trigger = "start"     // lower sequences matched
	SubTaskReport    Trigger = "report"    // R3 says it is done
	SubTaskCorrect   Trigger = "correct"   // another attempt, with a correction signal
	SubTaskMatch     Trigger = "match"     // every criterion passed
	SubTaskFail      Trigger = "fail"      // no attempts left
	SubTaskSupersede Trigger = "supersede" // its round or task is over
)

// TaskEdges is the lifecycle table of tasks. What a seat answers moves a task
// only after code has judged it; so most edges are the node's.
func TaskEdges() []Edge[TaskState] {
	edges := []Edge[TaskState]{
		{TaskPerceiving, TaskAsk, TaskClarifying, ByHolder},
		{TaskClarifying, TaskAnswer, TaskPerceiving, BySubmitter},
		{TaskPerceiving, TaskUnderstand, TaskPlanning, ByHolder},
		{TaskPlanning, TaskDispatch, TaskRunning, ByNode},
		{TaskRunning, TaskGather, TaskMerging, ByNode},
		{TaskRunning, TaskReplan, TaskPlanning, ByNode},
		{TaskMerging, TaskAccept, TaskAccepted, ByNode},
		{TaskMerging, TaskHold, TaskReview, ByNode},
		{TaskMerging, TaskReplan, TaskPlanning, ByNode},
		{TaskReview, TaskApprove, TaskAccepted, ByHuman},
		{TaskReview, TaskReplan, TaskPlanning, ByNode},
	}
	for _, from := range TaskStates() {
		if !from.Final() {
			edges = append(edges,
				Edge[TaskState]{from, TaskGiveUp, TaskAbandoned, ByNode},
				Edge[TaskState]{from, TaskCancel, TaskCancelled, BySubmitter})
		}
	}
	return edges
}

// NextTask is next of the lifecycle of tasks.
func NextTask(from TaskState, on Trigger, as By) (to TaskState, ok bool) {
	return next(TaskEdges(), from, on, as)
}

// SubTaskState is where a subtask stands within its round.
type SubTaskState string

// The states of a subtask.
const (
	SubTaskWaiting    SubTaskState = "waiting"    // for lower sequences
	SubTaskExecuting  SubTaskState = "executing"  // R3
	SubTaskValidating SubTaskState = "validating" // R4a
	SubTaskMatched    SubTaskState = "matched"    // final
	SubTaskFailed     SubTaskState = "failed"     // final
	SubTaskSuperseded SubTaskState = "superseded" // final
)

// SubTaskStates lists them.
func SubTaskStates() []SubTaskState {
	return []SubTaskState{SubTaskWaiting, SubTaskExecuting, SubTaskValidating, SubTaskMatched, SubTaskFailed,
		SubTaskSuperseded}
}

// Final reports whether nothing leaves s.
func (s SubTaskState) Final() bool {
	return s == SubTaskMatched || s == SubTaskFailed || s == SubTaskSuperseded
}

// SubTaskEdges is the lifecycle table of subtasks. A waiting one whose lower
// sequences failed fails itself, so that fan-in hears of every one.
func SubTaskEdges() []Edge[SubTaskState] {
	edges := []Edge[SubTaskState]{
		{SubTaskWaiting, SubTaskStart, SubTaskExecuting, ByNode},
		{SubTaskWaiting, SubTaskFail, SubTaskFailed, ByNode},
		{SubTaskExecuting, SubTaskReport, SubTaskValidating, ByHolder},
		{SubTaskExecuting, SubTaskCorrect, SubTaskExecuting, ByNode},
		{SubTaskExecuting, SubTaskFail, SubTaskFailed, ByNode},
		{SubTaskValidating, SubTaskMatch, SubTaskMatched, ByNode},
		{SubTaskValidating, SubTaskCorrect, SubTaskExecuting, ByNode},
		{SubTaskValidating, SubTaskFail, SubTaskFailed, ByNode},
	}
	for _, from := range SubTaskStates() {
		if !from.Final() {
			edges = append(edges, Edge[SubTaskState]{from, SubTaskSupersede, SubTaskSuperseded, ByNode})
		}
	}
	return edges
}

// NextSubTask is next of the lifecycle of subtasks.
func NextSubTask(from SubTaskState, on Trigger, as By) (to SubTaskState, ok bool) {
	return next(SubTaskEdges(), from, on, as)
}
