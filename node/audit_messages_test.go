package node_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

// say puts a message on the bus of a task as the pipeline does, with its entry in
// the record; the task is made at its first one.
func (h homestead) say(n *ops.Service, ann ops.Caller, task string, actor schemas.EntityID, from,
	to schemas.PipelineRole, record,
	subtask string, body any) string {
	h.Helper()
	raw, err := json.Marshal(body)
	require.NoError(h, err)
	id, sum := schemas.NewID(), sha256.Sum256(raw)
	require.NoError(h, n.Routine(h.Context(), "task_report", func(g access.Grant) error {
		if _, err := g.Tx().Exec(
			`INSERT INTO tasks(id, submitter, state, created_at, updated_at, request, tools, settings)
			VALUES (?, ?, 'running', 0, 0, 'r', '[]', '{"Loss":{"Epsilon":0.1}}')
			ON CONFLICT DO NOTHING`, task, ann.Principal.Entity); err != nil {
			return err
		}
		if _, err := g.Tx().Exec(
			`INSERT INTO task_messages(id, task, round, subtask, sender, receiver, actor, record, message, at)
			SELECT ?, n, 1, ?, ?, ?, ?, ?, ?, ? FROM tasks WHERE id = ?`, id, subtask, from, to, actor, record, string(raw), g.Tx().Micros(), task); err != nil {
			return err
		}
		return g.Audit("message/"+id, map[string]any{"task": task, "round": 1, "subtask": subtask, "record": record,
			"from": from, "to": to,
			"actor": actor, "sha256": hex.EncodeToString(sum[:])})
	}))
	return id
}

// conversation says how many things in a task, without anything to find in them.
func (h homestead) conversation(n *ops.Service, ann ops.Caller, task string, count int) (ids []string) {
	for i := range count {
		ids = append(ids, h.say(n, ann, task, access.NodeEntity, schemas.Perceiver, "", "Clarification", "",
			map[string]any{"questions": []int{i}}))
	}
	return ids
}

// meddle changes the file of a home, as who has it can.
func (h homestead) meddle(statements ...string) {
	h.Helper()
	st, err := store.Open(h.Context(), store.Options{Path: h.home.Database(), Durability: store.Relaxed})
	require.NoError(h, err)
	defer func() { require.NoError(h, st.Close()) }()
	require.NoError(h, st.Write(h.Context(), func(tx *store.Tx) error {
		for _, sql := range append([]string{`DROP TRIGGER IF EXISTS task_messages_no_update`,
			`DROP TRIGGER IF EXISTS task_messages_no_delete`}, statements...) {
			if _, err := tx.Exec(sql); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
		return nil
	}))
}

// Whatever somebody does to the messages between roles, the verification of the file
// names the message, what it was, and what was done to it.
func TestTamperingWithMessagesIsLocated_INV_MESSAGE(t *testing.T) {
	const task = "01900000-0000-7000-8000-00000000000a"
	const third = `(SELECT id FROM task_messages ORDER BY n LIMIT 1 OFFSET 2)`
	for name, tt := range map[string]struct {
		do   []string
		kind events.Tampering
		says string
	}{
		"nothing": {nil, "", ""},
		"text": {[]string{`UPDATE task_messages SET message = '{"questions":[7]}' WHERE id = ` + third},
			events.Changed, "its text"},
		"sender": {[]string{`UPDATE task_messages SET sender = 'R7' WHERE id = ` + third}, events.Changed,
			"its sender"},
		"receiver": {[]string{`UPDATE task_messages SET receiver = 'R5' WHERE id = ` + third}, events.Changed,
			"its receiver"},
		"record": {[]string{`UPDATE task_messages SET record = 'TaskSpec' WHERE id = ` + third}, events.Changed,
			"its record"},
		"actor": {[]string{`UPDATE task_messages SET actor = 'somebody' WHERE id = ` + third}, events.Changed,
			"its actor"},
		"round": {[]string{`UPDATE task_messages SET round = 2 WHERE id = ` + third}, events.Changed, "its round"},
		"subtask": {[]string{`UPDATE task_messages SET subtask = 's' WHERE id = ` + third}, events.Changed,
			"its subtask"},
		"time": {[]string{`UPDATE task_messages SET at = at + 1 WHERE id = ` + third}, events.Changed, "its time"},
		"task": {[]string{`INSERT INTO tasks(id, submitter, state, created_at, updated_at, request, tools, settings)
			SELECT 'x', submitter, state, 0, 0, '', '', '' FROM tasks`,
			`UPDATE task_messages SET task = (SELECT n FROM tasks WHERE id = 'x') WHERE id = ` + third}, events.Changed,
			"its task"},
		"deleted": {[]string{`DELETE FROM task_messages WHERE id = ` + third}, events.Deleted, "was deleted"},
		"cut off": {[]string{`DELETE FROM task_messages WHERE n = (SELECT max(n) FROM task_messages)`},
			events.Deleted, "was deleted"},
		"inserted": {[]string{`INSERT INTO task_messages SELECT 99, 'forged', task, round, subtask, sender, receiver,
			actor, record, message, at FROM task_messages WHERE id = ` + third}, events.Inserted, "message forged"},
		"reordered": {[]string{`UPDATE task_messages SET n = 99 WHERE n = 2`,
			`UPDATE task_messages SET n = 2 WHERE n = 4`, `UPDATE task_messages SET n = 4 WHERE n = 99`},
			events.Reordered, "stands before"},
		"moved": {[]string{`UPDATE task_messages SET n = 99 WHERE n = 2`}, events.Reordered, "stands before"},
		"forgotten": {[]string{`DELETE FROM audit_details WHERE seq IN (SELECT seq FROM audit
			WHERE target = 'message/' || ` + third + `)`}, events.Changed, "was erased"},
		"dropped": {[]string{`DROP TABLE task_messages`}, events.Deleted, "are gone"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHomestead(t)
			var ids []string
			h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
				ids = h.conversation(n, ann, task, 6)
				_, err := n.Checkpoint(t.Context(), ann.Principal)
				require.NoError(t, err)
			})
			require.Equal(t, int64(6), h.verified().Messages)
			if tt.do == nil {
				require.True(t, h.verified().Sound())
				return
			}
			h.meddle(tt.do...)
			v := h.verified()
			require.NotEmpty(t, v.Damage)
			var texts []string
			for _, d := range v.Damage {
				texts = append(texts, d.What)
				require.Equal(t, tt.kind, d.Kind, d.What)
			}
			all := strings.Join(texts, "\n")
			require.Contains(t, all, tt.says)
			if tt.kind == events.Changed || name == "deleted" {
				require.Contains(t, all, ids[2])
				require.NotContains(t, all, ids[1])
				require.Positive(t, v.Damage[0].From)
			}
			if name == "cut off" {
				require.Contains(t, all, ids[5])
			}
		})
	}
}

// A file that is all wrong is told in few lines.
func TestMuchDamageIsToldBriefly(t *testing.T) {
	h := newHomestead(t)
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) { h.conversation(n, ann, schemas.NewID(), 30) })
	h.meddle(`UPDATE task_messages SET round = 5`)
	v := h.verified()
	require.Len(t, v.Damage, node.MaxMessageDamage)
	require.Len(t, v.Notes, 1)
	require.Zero(t, v.Messages)
}

// The tail of the record brings messages along with their entries.
func TestTailShowsMessages(t *testing.T) {
	h := newHomestead(t)
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		task := schemas.NewID()
		ids := h.conversation(n, ann, task, 3)
		list, _, err := n.AuditTail(t.Context(), ann.Principal, events.AuditFilter{Action: "task_report"}, 0, 50)
		require.NoError(t, err)
		require.Len(t, list, 3)
		for i, e := range list {
			require.NotNil(t, e.Message)
			require.Equal(t, ids[i], e.Message.EventID)
			require.Equal(t, task, e.Message.TaskID)
			require.JSONEq(t, fmt.Sprintf(`{"questions":[%d]}`, i), string(e.Message.Message))
			require.Equal(t, "message/"+ids[i], e.Target)
		}
	})
}

// failing is a result that did not complete.
func failing(task, subtask string, status schemas.ExecutionStatus) schemas.ExecutionResult {
	return schemas.ExecutionResult{TaskID: task, SubTaskID: subtask,
		ExecutionReport: schemas.ExecutionReport{Status: status,
			ToolCalls: []schemas.Evidence{{Tool: "bash", Input: "make"}}}}
}

// The report is of what was said in its span, in whole tasks, and can be narrowed.
func TestReportFindsWhatMessagesShow(t *testing.T) {
	h := newHomestead(t)
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		worker := h.worker(n, ann, "worker")
		lead := h.worker(n, ann, "lead")
		one, other := schemas.NewID(), schemas.NewID()
		dispatch := func(task, sub string) {
			h.say(n, ann, task, lead, schemas.Planner, schemas.Executor, "SubTask", sub,
				schemas.SubTask{SubTaskID: sub, ParentTaskID: task})
			h.say(n, ann, task, worker, schemas.Executor, schemas.AgentValidator, "ExecutionResult", sub,
				failing(task, sub, schemas.ExecutionCompleted))
		}
		dispatch(one, "s1")
		dispatch(other, "s2")
		middle := node.FullStamp(n.Now().UnixMicro())
		time.Sleep(2 * time.Millisecond)
		outcome := func(task, sub string, who schemas.EntityID) {
			h.say(n, ann, task, who, schemas.AgentValidator, schemas.MetaValidator, "SubTaskOutcome", sub,
				schemas.SubTaskOutcome{SubTaskID: sub, ParentTaskID: task, Status: schemas.OutcomeFailed})
		}
		outcome(one, "s1", worker)
		outcome(other, "s2", lead)
		h.say(n, ann, other, worker, schemas.Executor, schemas.SharedMemory, "MemoryEntry", "s2", map[string]any{})

		found := func(q schemas.AuditQuery) (list []schemas.AuditFinding) {
			r, err := n.AuditReport(t.Context(), ann.Principal, q)
			require.NoError(t, err)
			if q.TaskID != "" || q.Role != "" || q.Detection != "" {
				require.Empty(t, r.Actors)
			}
			return r.Findings
		}
		all := found(schemas.AuditQuery{})
		require.Len(t, all, 2)
		require.Equal(t, []schemas.Detection{schemas.DetectSeparationDuty, schemas.DetectBoundary},
			[]schemas.Detection{all[0].Detection, all[1].Detection})
		require.Equal(t, all, found(schemas.AuditQuery{Since: middle}),
			"what shows it began before, and ended in the span")
		require.Empty(t, found(schemas.AuditQuery{Until: middle}))
		require.Equal(t, all[:1], found(schemas.AuditQuery{TaskID: one}))
		require.Equal(t, all[1:], found(schemas.AuditQuery{Role: schemas.Executor}))
		require.Equal(t, all[1:], found(schemas.AuditQuery{Detection: schemas.DetectBoundary}))
		require.Empty(t, found(schemas.AuditQuery{TaskID: one, Role: schemas.Executor}))
		for _, wrong := range []schemas.AuditQuery{{Since: "yesterday"}, {Role: "R9"}, {Detection: "x"},
			{Since: middle, Until: middle}} {
			_, err := n.AuditReport(t.Context(), ann.Principal, wrong)
			require.ErrorIs(t, err, schemas.ErrInvalid)
		}
	})
}

// A role is compared with its own past.
func TestReportTellsOfRoleDrift(t *testing.T) {
	h := newHomestead(t)
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		task := schemas.NewID()
		results := func(count int, status schemas.ExecutionStatus) {
			for range count {
				h.say(n, ann, task, access.NodeEntity, schemas.Executor, schemas.AgentValidator, "ExecutionResult", "s",
					failing(task, "s", status))
			}
		}
		results(50, schemas.ExecutionCompleted)
		middle := node.FullStamp(n.Now().UnixMicro())
		time.Sleep(2 * time.Millisecond)
		drift := schemas.AuditQuery{Since: middle, Detection: schemas.DetectRoleDrift}
		results(20, schemas.ExecutionCompleted)
		r, err := n.AuditReport(t.Context(), ann.Principal, drift)
		require.NoError(t, err)
		require.Empty(t, r.Findings)
		results(20, schemas.ExecutionFailed)
		r, err = n.AuditReport(t.Context(), ann.Principal, drift)
		require.NoError(t, err)
		require.Len(t, r.Findings, 1)
		require.Equal(t, schemas.Executor, r.Findings[0].Accountable)
		require.Contains(t, r.Findings[0].Finding, "20 of 40")
	})
}

// Nobody but the person sees the auditor's work, nor can any tool reach it.
func TestTheAuditorIsThePersonsAlone_INV_AUDITOR(t *testing.T) {
	h := newHomestead(t)
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		agent := ops.Caller{Principal: access.Principal{Entity: h.worker(n, ann, "worker"), Method: access.ByKey,
			KeySeq: 1}}
		remote := ann
		remote.Method = access.ByToken
		for name, who := range map[string]ops.Caller{"agent": agent, "nobody": {}, "a person from afar": remote} {
			_, report := n.AuditReport(t.Context(), who.Principal, schemas.AuditQuery{})
			_, kept := n.AuditKept(t.Context(), who.Principal, 5)
			_, _, tail := n.AuditTail(t.Context(), who.Principal, events.AuditFilter{}, 0, 5)
			for _, err := range []error{report, kept, tail} {
				require.Error(t, err, name)
				if name == "agent" {
					require.ErrorContains(t, err, "for a person alone", "whatever its capabilities name")
				}
			}
		}
		for _, op := range ops.Names() {
			require.NotContains(t, op, "audit")
		}
	})
}

// days is a clock that can be moved.
type days struct{ by *time.Duration }

func (d days) Now() time.Time { return time.Now().Add(*d.by) }

// The node reports each day by itself, once, without gaps, and keeps that for the
// person.
func TestTheNodeReportsEachDay(t *testing.T) {
	h := newHomestead(t)
	var by time.Duration
	n, err := ops.Open(t.Context(), node.Config{Home: h.home, Durability: store.Relaxed, Clock: days{&by}})
	require.NoError(t, err)
	defer func() { require.NoError(t, n.Close()) }()
	r := n.Keyring(nil)
	defer r.Close()
	ann, err := n.Person(t.Context(), r, "test")
	require.NoError(t, err)
	kept := func() []node.AuditSummary {
		require.NoError(t, n.Reap(t.Context()))
		require.NoError(t, n.Reap(t.Context()))
		list, err := n.AuditKept(t.Context(), ann.Principal, 10)
		require.NoError(t, err)
		return list
	}
	task := schemas.NewID()
	h.say(n, ann, task, access.NodeEntity, schemas.Executor, schemas.SharedMemory, "MemoryEntry", "s", 7)
	require.Empty(t, kept())
	by += 25 * time.Hour
	first := kept()
	require.Len(t, first, 1)
	require.Len(t, first[0].Findings, 1)
	require.Positive(t, first[0].Events)
	by += 23 * time.Hour
	require.Len(t, kept(), 1)
	h.say(n, ann, task, access.NodeEntity, schemas.Executor, schemas.Planner, "MemoryEntry", "s", 7)
	by += 2 * time.Hour
	second := kept()
	require.Len(t, second, 2)
	require.Equal(t, first[0], second[1])
	require.Equal(t, first[0].Until, second[0].From, "where the last one ended")
	require.Len(t, second[0].Findings, 1, "what was told is not told again")
}

// What the auditor asks for costs the same however much else there is.
func TestTheAuditorScansNothing(t *testing.T) {
	newHomestead(t).open(func(n *ops.Service, _ *node.Keyring, _ ops.Caller) {
		storetest.NoScans(t, n.Store, nil, node.SelectTalk, node.SelectSaid, node.SelectMessages, node.SelectReported)
	})
}
