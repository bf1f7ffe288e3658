package scenario

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
)

// actor fills whatever seat it gets, well or badly by lot.
type actor struct {
	proc   *Process
	lead   *Process // who submitted the tasks
	random *rand.Rand

	// What luck alone decides may never happen: it did so once, or it will.
	asked, late, doubts bool
}

type object = map[string]any

func (a *actor) odds(percent int) bool { return a.random.IntN(100) < percent }

// call calls a tool; refusals are part of the play.
func (a *actor) call(ctx context.Context, tool string, args object) (Answer, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return Answer{}, err
	}
	return a.proc.Call(ctx, tool, raw)
}

// turn fills one seat; ok is false if there was none.
func (a *actor) turn(ctx context.Context) (ok bool, err error) {
	got, err := a.call(ctx, "task_claim", object{"wait_seconds": 1})
	if err != nil {
		return false, err
	}
	id, there := look(got, "work.work_id")
	if !there {
		return false, nil
	}
	fence, _ := look(got, "work.fence")
	intent, _ := look(got, "work.intent")
	found, _ := look(got, "work.brief.criteria")
	var criteria []string
	list, _ := found.([]any)
	for _, c := range list {
		criteria = append(criteria, c.(string))
	}
	args := a.play(intent.(string), criteria)
	args["work_id"], args["fence"] = id, fence
	if strings.Contains(intent.(string), "(R3)") && (!a.late || a.odds(5)) { // it is called off while somebody is at it
		if _, err := a.lead.Call(ctx, "task_cancel", fmt.Appendf(nil, `{"work_id": %q}`, id)); err != nil {
			return false, err
		}
		a.late, args["outcome"] = true, "done"
	}
	if _, err := a.call(ctx, "task_report", args); err != nil {
		return false, err
	}
	if a.odds(15) || args["outcome"] == "released" { // once more, and with other words
		args["outcome"], args["result"] = "done", object{"text": fmt.Sprint("I am sure: ", a.random.IntN(1000))}
		_, err = a.call(ctx, "task_report", args)
	}
	return true, err
}

// play makes a report of a role.
func (a *actor) play(intent string, criteria []string) object {
	asks := object{"outcome": "done", "result": object{"intent": "", "questions": []string{"Which one?"}}}
	switch {
	case strings.Contains(intent, "(R1)") && !a.asked:
		a.asked = true
		return asks
	case a.odds(5):
		return object{"outcome": "failed", "note": "it cannot be done"}
	case a.odds(6):
		return object{"outcome": "released"}
	case a.odds(10): // no answer of any role, and for R3 one like others
		return object{"outcome": "done", "result": object{"text": fmt.Sprint("Well … ", a.random.IntN(1000))}}
	case strings.Contains(intent, "(R1)") && a.odds(30):
		return asks
	case strings.Contains(intent, "(R1)"):
		return object{"outcome": "done", "result": object{"intent": "tell where home is", "questions": []string{}}}
	case strings.Contains(intent, "(R2)"):
		return object{"outcome": "done", "result": a.plan()}
	case strings.Contains(intent, "(R4a)"), strings.Contains(intent, "(R4b)"):
		merges := strings.Contains(intent, "(R4b)")
		verdicts := []object{}
		for _, c := range criteria {
			v := object{"criterion": c, "verdict": "pass", "evidence": "seen"}
			if a.odds(20) || merges && a.doubts {
				v["verdict"], v["failure_class"] = "fail", []string{"logical", "environmental"}[a.random.IntN(2)]
			}
			verdicts = append(verdicts, v)
		}
		result := object{"verdicts": verdicts}
		if merges {
			result["output"], a.doubts = "home", false
		}
		return object{"outcome": "done", "result": result}
	}
	return object{"outcome": "done", "result": object{"steps": a.random.IntN(100)},
		"evidence": []object{{"tool": a.tool(), "input": fmt.Sprint("north ", a.random.IntN(9)), "exit": 0,
			"head": "fine"}}}
}

func (a *actor) tool() string { return []string{"bash", "read", "write", "edit"}[a.random.IntN(4)] }

func (a *actor) plan() object {
	subs := []object{}
	for range 1 + a.random.IntN(3) {
		subs = append(subs, object{"intent": fmt.Sprintf("walk %d steps towards %x", a.random.IntN(1000),
			a.random.Uint32()), "sequence": 1 + a.random.IntN(2),
			"tools": []string{a.tool()}, "success_criteria": []string{"the steps were counted", "a landmark is named"}})
	}
	return object{"subtasks": subs, "task_criteria": []string{"the door is in sight"}}
}

// answerAll lets clarifying tasks go on, and tells whether all are over.
func answerAll(t *testing.T, lead *Process, tasks []string) (over bool) {
	over = true
	for i, id := range tasks {
		state := at[string](t, must(t, lead, "task_status", fmt.Sprintf(`{"task_id": %q}`, id)), "task.state")
		switch state {
		case "clarifying":
			must(t, lead, "task_submit", fmt.Sprintf(`{"task_id": %q, "answers": %q}`, id,
				strings.Repeat("the red one", i%2)))
			over = false
		case "accepted", "abandoned", "cancelled":
		default:
			over = false
		}
	}
	return over
}

// happened says how many messages of each record the other rows tell of. An attempt
// was executed if there is a later one, or its result is noted.
const happened = `
	SELECT 'TaskSpec', count(*) FROM tasks WHERE spec <> ''
	UNION ALL SELECT 'Clarification', coalesce(sum(clarifications), 0) FROM tasks
	UNION ALL SELECT 'Answers', (SELECT count(*) FROM tasks, json_each(questions) q WHERE q.value ->> 'answered')
	UNION ALL SELECT 'DispatchManifest', count(*) FROM task_rounds
	UNION ALL SELECT 'SubTask', count(*) FROM subtasks
	UNION ALL SELECT 'ExecutionResult', coalesce(sum(attempt - 1 + (attempted <> '')), 0) FROM subtasks
	WHERE attempt > 0
	UNION ALL SELECT 'CorrectionSignal', coalesce(sum(attempt - 1), 0) FROM subtasks WHERE attempt > 0
	UNION ALL SELECT 'SubTaskOutcome', count(*) FROM subtasks WHERE state IN ('matched', 'failed')
	UNION ALL SELECT 'MergeReport', count(*) FROM task_rounds WHERE merge <> ''
	UNION ALL SELECT 'ReplanRequest', coalesce(sum(replans), 0) FROM tasks
	UNION ALL SELECT 'PlanDirective', (SELECT coalesce(sum(replans), 0) FROM tasks) + (SELECT count(*) FROM tasks t
	WHERE state = 'abandoned' AND NOT (
			replans = (SELECT count(*) FROM task_rounds r WHERE r.task = t.n AND r.directive <> '')
			AND EXISTS (SELECT 1 FROM task_rounds r WHERE r.task = t.n AND r.round = t.round
			AND r.directive ->> 'directive' = 'abandon')))
	UNION ALL SELECT 'Refused', coalesce(sum(answers), 0) FROM task_seats
	UNION ALL SELECT 'Late', count(*) FROM work_leases WHERE late_at > 0
	UNION ALL SELECT 'MemoryEntry', count(*) FROM lessons
	UNION ALL SELECT 'FinalResult', count(*) FROM tasks WHERE state IN ('accepted', 'abandoned', 'cancelled')`

// noted is how many answers have notes: each names the seat of its role and task that was
// answered, who held it, and what of the answer was mended, dropped or read otherwise.
const noted = `SELECT count(DISTINCT w.n) FROM task_messages m
	JOIN work_items w ON w.id = m.message ->> 'work_id' AND w.reported_at + w.finished_at > 0
	JOIN task_seats s ON s.item = w.n AND s.task = m.task AND s.round = m.round AND s.role = m.sender
	WHERE m.record = 'Notes' AND m.receiver = m.sender AND m.actor <> 'node'
	AND json_array_length(m.message, '$.notes') > 0`

// INV-BUS, counted from the other side: agents of several processes fill the seats of
// many tasks well and badly, and every message that the rows of tasks, rounds, subtasks,
// seats and leases tell of is there, once, with its hash in the audit record.
func TestEveryMessageIsTapped_INV_BUS(t *testing.T) {
	const crew = 4
	n := newNode(t)
	lead := open(t, n, "")
	must(t, lead, "memory_group", `{"action": "create", "group": "crew"}`)
	var list []*actor
	for i := range crew {
		name := fmt.Sprintf("actor-%d", i)
		must(t, lead, "agent_register", fmt.Sprintf(
			`{"agent_type": "autonomous", "display_name": %[1]q, "name": %[1]q, "groups": ["crew"], "capabilities": {
			"memory_read": {"layers": ["l1", "l2"], "groups": ["crew"], "visibility": ["group"]},
			"memory_write": {"layers": ["l1", "l2"], "groups": ["crew"], "visibility": ["group"]},
			"tools": ["task_claim", "task_report"], "max_parallel_ops": 32, "autonomous": true, "ttl_seconds": 0}}`, name))
		list = append(list, &actor{proc: open(t, n, name), lead: lead, random: rand.New(rand.NewPCG(17, uint64(i))),
			doubts: i%2 == 0})
	}
	tasks := make([]string, soak.Count(t, 25, 300))
	for i := range tasks {
		tasks[i] = at[string](t, must(t, lead, "task_submit",
			`{"request": "Where is home?", "group": "crew", "tools": ["bash", "read", "write", "edit"]}`), "task_id")
	}
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	var all sync.WaitGroup
	var turns, idle atomic.Int64
	for _, a := range list {
		all.Go(func() {
			for ctx.Err() == nil {
				ok, err := a.turn(ctx)
				if err != nil && ctx.Err() == nil {
					stop(err)
				}
				if idle.Add(1); ok {
					turns.Add(1)
					idle.Store(0)
				}
			}
		})
	}
	random := rand.New(rand.NewPCG(5, 5))
	// a person is waited for by what was given back too often, or is held
	for !answerAll(t, lead, tasks) && turns.Load() < int64(120*len(tasks)) && idle.Load() < 3*crew {
		require.NoError(t, context.Cause(ctx))
		time.Sleep(100 * time.Millisecond)
		if random.IntN(40) == 0 {
			_, err := lead.Call(t.Context(), "task_cancel",
				fmt.Appendf(nil, `{"task_id": %q}`, tasks[random.IntN(len(tasks))]))
			require.NoError(t, err)
		}
	}
	stop(nil)
	all.Wait()
	compareTap(t, n, int(turns.Load()))
}

// compareTap counts.
func compareTap(t *testing.T, n *Node, turns int) {
	db := openDB(t, n)
	expected := map[string]int{}
	rows, err := db.Query(happened)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var record string
		var n int
		require.NoError(t, rows.Scan(&record, &n))
		expected[record] = n
	}
	require.NoError(t, rows.Err())
	found := map[string]int{}
	messages, err := db.Query(`SELECT 'message/' || id, record, message FROM task_messages ORDER BY n`)
	require.NoError(t, err)
	defer messages.Close()
	var sent []string
	for messages.Next() {
		var target, record, message string
		require.NoError(t, messages.Scan(&target, &record, &message))
		sum := sha256.Sum256([]byte(message))
		sent = append(sent, target+" "+hex.EncodeToString(sum[:]))
		found[record]++
	}
	require.NoError(t, messages.Err())
	require.Equal(t, sent, texts(
		t, db, `SELECT a.target || ' ' || (d.detail ->> 'sha256') FROM audit a JOIN audit_details d ON d.seq = a.seq
		WHERE a.target LIKE 'message/%' ORDER BY a.seq`), "the audit record tells of other messages")
	delete(found, "Constraints") // of memory, for each planner's seat there was any for
	require.Positive(t, found["Notes"], "no answer was ever noted upon")
	require.Equal(t, found["Notes"], count(t, db, noted), "notes tell of no answer that counts, or of one twice")
	delete(found, "Notes")
	require.NotContains(t, slices.Collect(maps.Keys(found)), "")
	for record, n := range expected {
		require.Equal(t, n, found[record], record)
		require.Positive(t, n, "%s never happened here", record)
		delete(found, record)
	}
	require.Empty(t, found, "records that nothing tells of")
	t.Logf("%d turns, %d messages, each in the audit record: %v", turns, len(sent), expected)
}
