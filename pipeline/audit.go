package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"

	"cordelia/schemas"
)

// Watch is what the auditor knows beside the messages.
type Watch struct {
	// Epsilon is from which change on the loss of a task moved, by task; others
	// have the default.
	Epsilon map[string]float64
	// Related reports whether two agents that sat in seats are the same or one above the other.
	Related func(a, b schemas.EntityID) bool
	// Together are the tasks in which the operator lets such judge each other.
	Together map[string]bool
}

func (w Watch) epsilon(task string) float64 {
	if e, ok := w.Epsilon[task]; ok {
		return e
	}
	return Defaults().Epsilon
}

// detector finds one kind of thing in the messages of one task.
type detector struct {
	detection schemas.Detection
	find      func(l *taskLog, w Watch)
}

// detectors is the auditor's table (pipeline v0.7, R6): which detection, and what
// looks for it. Role drift looks at more than a task: see Drifted.
func detectors() []detector {
	return []detector{
		{schemas.DetectDrift, (*taskLog).drift},
		{schemas.DetectDivergence, (*taskLog).divergence},
		{schemas.DetectThrashing, (*taskLog).thrashing},
		{schemas.DetectBoundary, (*taskLog).contract},
		{schemas.DetectBoundary, (*taskLog).perceiver},
		{schemas.DetectBoundary, (*taskLog).planner},
		{schemas.DetectBoundary, (*taskLog).executor},
		{schemas.DetectBoundary, (*taskLog).validator},
		{schemas.DetectBoundary, (*taskLog).metaValidator},
		{schemas.DetectBoundary, (*taskLog).solver},
		{schemas.DetectDuplicateID, (*taskLog).duplicates},
		{schemas.DetectFanInGap, (*taskLog).fanInGaps},
		{schemas.DetectStaleSubmit, (*taskLog).late},
		{schemas.DetectSeparationDuty, (*taskLog).separation},
		{"", (*taskLog).suspicions}, // each names its own
		{schemas.DetectStaleArtefact, (*taskLog).staleMerge},
		{schemas.DetectIntentDrift, (*taskLog).intent},
	}
}

// Detect looks through messages, in the order they were sent, of whole tasks. It
// finds the same in the same messages, task by task. The words of a finding quote
// what agents wrote only in quotes.
func Detect(list []schemas.AuditEvent, w Watch) []schemas.AuditFinding {
	var order []string
	logs := map[string]*taskLog{}
	for _, e := range list {
		l := logs[e.TaskID]
		if l == nil {
			l = &taskLog{task: e.TaskID, place: map[string]int{}, read: map[string]any{}}
			logs[e.TaskID] = l
			order = append(order, e.TaskID)
		}
		l.place[e.EventID] = len(l.events)
		l.events = append(l.events, e)
	}
	var out []schemas.AuditFinding
	for _, task := range order {
		l := logs[task]
		for _, d := range detectors() {
			l.now = d.detection
			d.find(l, w)
		}
		out = append(out, l.findings...)
	}
	return append(out, shared(list)...)
}

// taskLog is the messages of one task, and what was found in them.
type taskLog struct {
	task     string
	events   []schemas.AuditEvent
	place    map[string]int // of each message, by id
	read     map[string]any // by record: what each gave
	now      schemas.Detection
	findings []schemas.AuditFinding
}

// report adds a finding that these messages show. The same finding again, of another
// message or subtask, is one finding: it names those messages, too.
func (l *taskLog) report(role schemas.PipelineRole, subtask string, shows []schemas.AuditEvent, format string,
	args ...any) {
	if role == "" { // no seat's: the auditor has to say it
		role = schemas.Auditor
	}
	f := schemas.AuditFinding{Detection: l.now, Accountable: role, TaskID: l.task, SubTaskID: subtask,
		Finding: fmt.Sprintf(format, args...), EventIDs: []string{}}
	at := slices.IndexFunc(l.findings, func(o schemas.AuditFinding) bool {
		return o.Detection == f.Detection && o.Accountable == f.Accountable && o.Finding == f.Finding
	})
	if at < 0 {
		l.findings = append(l.findings, f)
		at = len(l.findings) - 1
	}
	same := &l.findings[at]
	if same.SubTaskID != subtask {
		same.SubTaskID = ""
	}
	for _, e := range shows {
		if len(same.EventIDs) < maxShown && !slices.Contains(same.EventIDs, e.EventID) {
			same.EventIDs = append(same.EventIDs, e.EventID)
		}
	}
}

// breach is report of what one message shows of its sender.
func (l *taskLog) breach(e schemas.AuditEvent, format string, args ...any) {
	l.report(e.From, e.SubTaskID, []schemas.AuditEvent{e}, format, args...)
}

// of gives the messages of some records.
func (l *taskLog) of(records ...string) []schemas.AuditEvent {
	return slices.DeleteFunc(slices.Clone(l.events),
		func(e schemas.AuditEvent) bool { return !slices.Contains(records, e.Record) })
}

// sent is a message that could be read as its record.
type sent[T any] struct {
	schemas.AuditEvent
	body T
}

// each reads the messages of a record, always as the same type; what cannot be
// read is left out.
func each[T any](l *taskLog, record string) []sent[T] {
	if list, ok := l.read[record].([]sent[T]); ok {
		return list
	}
	list := []sent[T]{}
	for _, e := range l.of(record) {
		s := sent[T]{AuditEvent: e}
		if json.Unmarshal(e.Message, &s.body) == nil {
			list = append(list, s)
		}
	}
	l.read[record] = list
	return list
}

// before keeps what was sent before another message.
func before[T any](l *taskLog, list []sent[T], than schemas.AuditEvent) []sent[T] {
	end := slices.IndexFunc(list, func(s sent[T]) bool { return l.place[s.EventID] >= l.place[than.EventID] })
	if end < 0 {
		return list
	}
	return list[:end]
}
