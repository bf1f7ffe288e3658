package pipeline

import (
	"encoding/json"
	"fmt"
	"slices"

	"cordelia/schemas"
)

// duplicates: one id for two things within a task.
func (l *taskLog) duplicates(Watch) {
	subtasks, outcomes := map[string]schemas.AuditEvent{}, map[string]schemas.AuditEvent{}
	for _, s := range each[schemas.SubTask](l, recordSubTask) {
		if first, twice := subtasks[s.body.SubTaskID]; twice {
			l.report(schemas.Planner, s.body.SubTaskID, []schemas.AuditEvent{first, s.AuditEvent},
				"two subtasks have the same id")
		}
		subtasks[s.body.SubTaskID] = s.AuditEvent
	}
	for _, o := range each[schemas.SubTaskOutcome](l, recordOutcome) {
		if first, twice := outcomes[o.body.SubTaskID]; twice {
			l.report(schemas.AgentValidator, o.body.SubTaskID, []schemas.AuditEvent{first, o.AuditEvent},
				"two outcomes were given of one subtask")
		}
		outcomes[o.body.SubTaskID] = o.AuditEvent
	}
	for _, m := range each[schemas.DispatchManifest](l, recordManifest) {
		for i, id := range m.body.SubTaskIDs {
			if slices.Contains(m.body.SubTaskIDs[:i], id) {
				l.report(schemas.Planner, id, []schemas.AuditEvent{m.AuditEvent},
					"the manifest of round %d names a subtask twice", m.Round)
			}
		}
	}
}

// shared finds ids that two tasks, or two messages, have in common.
func shared(list []schemas.AuditEvent) (out []schemas.AuditFinding) {
	messages, subtasks := map[string]bool{}, map[string]schemas.AuditEvent{}
	add := func(e schemas.AuditEvent, ids []string, what string) {
		out = append(out, schemas.AuditFinding{Detection: schemas.DetectDuplicateID, Accountable: schemas.Planner,
			TaskID:    e.TaskID,
			SubTaskID: e.SubTaskID, Finding: what, EventIDs: ids})
	}
	for _, e := range list {
		if messages[e.EventID] {
			add(e, []string{e.EventID}, "two messages have the same id")
		}
		messages[e.EventID] = true
		if e.Record != recordSubTask {
			continue
		}
		if other, twice := subtasks[e.SubTaskID]; twice && other.TaskID != e.TaskID {
			add(e, []string{other.EventID, e.EventID}, "a subtask of another task has the same id")
		}
		subtasks[e.SubTaskID] = e
	}
	return out
}

// fanInGaps: a round was decided without a report on one of its subtasks.
func (l *taskLog) fanInGaps(Watch) {
	told := map[int]bool{}
	for _, e := range l.of(recordMerge, recordRequest, recordFinal) {
		var f schemas.FinalResult
		if e.Record == recordFinal && (json.Unmarshal(e.Message, &f) != nil || f.Result != schemas.ResultAccepted) {
			continue // what is given up or cancelled may be unfinished
		}
		g, ok := l.gathered(e)
		if !ok || told[e.Round] {
			continue
		}
		for _, id := range g.Missing {
			told[e.Round] = true
			l.report(schemas.MetaValidator, id, []schemas.AuditEvent{e},
				"round %d was decided before any report on this subtask", e.Round)
		}
	}
}

// late: a report with a lease that was over.
func (l *taskLog) late(Watch) {
	for _, e := range l.of(recordLate) {
		l.breach(e, "a report came after its lease was over, and was not counted")
	}
}

// separation: a subtask was judged by its executor, or by an agent above or below it.
func (l *taskLog) separation(w Watch) {
	if w.Together[l.task] {
		return
	}
	judges := map[string][]schemas.AuditEvent{}
	for _, e := range l.of(recordCorrection, recordOutcome) {
		judges[e.SubTaskID] = append(judges[e.SubTaskID], e)
	}
	told := map[string]bool{}
	for _, did := range l.of(recordResult) {
		for _, judged := range judges[did.SubTaskID] {
			pair := did.SubTaskID + " " + string(did.Actor) + " " + string(judged.Actor)
			if told[pair] || !w.oneLine(did.Actor, judged.Actor) {
				continue
			}
			told[pair] = true
			l.report(schemas.AgentValidator, did.SubTaskID, []schemas.AuditEvent{did, judged},
				"%s executed the subtask and %s judged it", did.Actor, judged.Actor)
		}
	}
	l.mergers(w)
}

// mergers: an executor of a round, or an agent above or below it, merged or accepted the
// round.
func (l *taskLog) mergers(w Watch) {
	told := map[string]bool{}
	for _, m := range l.of(recordMerge, recordFinal) {
		for _, did := range l.of(recordResult) {
			pair := fmt.Sprintf("%d %s %s", m.Round, did.Actor, m.Actor)
			if m.From != schemas.MetaValidator || did.Round != m.Round || told[pair] || !w.oneLine(did.Actor, m.Actor) {
				continue
			}
			told[pair] = true
			l.report(schemas.MetaValidator, did.SubTaskID, []schemas.AuditEvent{did, m},
				"%s executed a subtask of round %d and %s merged it", did.Actor, m.Round, m.Actor)
		}
	}
}

// oneLine reports whether two seats were not apart. Code is related to none.
func (w Watch) oneLine(a, b schemas.EntityID) bool {
	if !schemas.IsAgentID(string(a)) || !schemas.IsAgentID(string(b)) {
		return false
	}
	return a == b || w.Related != nil && w.Related(a, b)
}

// suspicions: what the record of an attempt shows against its claim.
func (l *taskLog) suspicions(Watch) {
	for _, r := range each[schemas.ExecutionResult](l, recordResult) {
		sub, _ := l.dispatched(r.AuditEvent, r.body.SubTaskID)
		for _, s := range Suspicions(sub, r.body) {
			l.now = s.Detection
			l.breach(r.AuditEvent, "%s", s.Text)
		}
	}
}

// staleMerge: what was merged rests on a file from before its round.
func (l *taskLog) staleMerge(Watch) {
	for _, m := range each[merged](l, recordMerge) {
		for _, e := range m.body.Checks {
			if e.Stale() {
				l.breach(m.AuditEvent, "%s", outdated(e))
			}
		}
	}
}
