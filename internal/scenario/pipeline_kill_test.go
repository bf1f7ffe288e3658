package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/drive"
	"cordelia/internal/soak"
)

// aPlan has two steps in a row and two at once.
const aPlan = `{"subtasks": [{"intent": "dig", "sequence": 1, "tools": ["spade"], "success_criteria": ["a hole is there"]},
	{"intent": "plant a tree", "sequence": 2, "tools": ["spade"], "success_criteria": ["a tree is there"]},
	{"intent": "plant a rose", "sequence": 2, "tools": ["spade"], "success_criteria": ["a rose is there"]}],
	"task_criteria": ["it is a garden"]}`

// seatAnswer is what a claimed seat is answered with; one attempt in four fails.
func seatAnswer(a Answer, random *rand.Rand) string {
	intent, _ := look(a, "work.intent")
	role := fmt.Sprint(intent)
	verdicts := func() string {
		criteria, _ := look(a, "work.brief.inputs.criteria")
		var list []string
		for _, c := range criteria.([]any) {
			verdict := "pass"
			if strings.HasPrefix(role, "Validator") && random.IntN(4) == 0 {
				verdict = "fail"
			}
			list = append(list, fmt.Sprintf(`{"criterion": %q, "verdict": %q, "evidence": "seen"}`, c.(map[string]any)["criterion"], verdict))
		}
		return `"verdicts": [` + strings.Join(list, ",") + `]`
	}
	switch {
	case strings.HasPrefix(role, "Perceiver"):
		return `{"intent": "make a garden"}`
	case strings.HasPrefix(role, "Planner"):
		return strings.ReplaceAll(aPlan, "dig", fmt.Sprintf("dig %x", random.Uint32())) // never the one before
	case strings.HasPrefix(role, "Validator"):
		return `{` + verdicts() + `}`
	case strings.HasPrefix(role, "Meta"):
		return `{"output": {"garden": true}, ` + verdicts() + `}`
	}
	return `{"done": true}`
}

// INV-SETTLED, INV-BUS, through the whole binary: four agents fill the roles of several
// tasks, each from a process of its own, and one of the four is killed again and again,
// at times all of them at once. Every task comes to its end, each step of it happened
// once, and every message is whole and in the record.
func TestTasksOutliveTheirProcesses(t *testing.T) {
	const workers = 4
	n := newNode(t)
	parent := open(t, n, "")
	must(t, parent, "memory_group", `{"action": "create", "group": "garden"}`)
	for i := range workers {
		must(t, parent, "agent_register", fmt.Sprintf(`{"agent_type": "autonomous", "display_name": "w", "name": "w%d", "groups": ["garden"], "capabilities": {
			"memory_read": {"layers": ["l1", "l2"], "groups": ["garden"], "visibility": ["group"]}, "memory_write": {"layers": ["l1", "l2"], "groups": ["garden"], "visibility": ["group"]},
			"tools": ["task_claim", "task_report"], "max_parallel_ops": 4, "autonomous": true, "ttl_seconds": 86000}}`, i))
	}
	tasks := soak.Count(t, 4, 150)
	for range tasks {
		must(t, parent, "task_submit", `{"request": "a garden, please", "group": "garden", "tools": ["spade", "rake"], "replans": 20}`)
	}
	require.NoError(t, parent.Close())

	var running [workers]*Process
	var wg sync.WaitGroup
	progress := make(chan int, 1)
	stop := make(chan struct{})
	work := func(i int, c *Process) {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), uint64(c.PID())))
			for {
				select {
				case <-stop:
					return
				case progress <- i:
				default:
				}
				a, err := c.Call(t.Context(), "task_claim", []byte(`{"lease_seconds": 15, "wait_seconds": 1}`))
				if err == nil && a.Code == "" {
					if _, there := look(a, "work.work_id"); !there {
						continue
					}
					a, err = c.Call(t.Context(), "task_report", fmt.Appendf(nil, `{"work_id": %q, "fence": %v, "outcome": "done", "result": %s, "evidence": [{"tool": "rake", "input": "x", "exit": 0}]}`,
						at[string](t, a, "work.work_id"), at[float64](t, a, "work.fence"), seatAnswer(a, random)))
				}
				if errors.Is(err, drive.ErrEnded) {
					return // killed, perhaps after the report and before the answer
				}
				if err != nil || a.Code != "" {
					t.Errorf("w%d: %v %s", i, err, a.Text)
					return
				}
			}
		})
	}
	start := func(i int) {
		running[i] = open(t, n, fmt.Sprintf("w%d", i))
		work(i, running[i])
	}
	for i := range workers {
		start(i)
	}
	db := openDB(t, n)
	random := rand.New(rand.NewPCG(3, 4))
	kills, together, seen := 0, 0, map[string]int{}
	for deadline := time.Now().Add(10 * time.Minute); ; {
		for _, s := range texts(t, db, `SELECT DISTINCT state FROM tasks`) {
			seen[s]++
		}
		if count(t, db, `SELECT count(*) FROM tasks WHERE state NOT IN ('accepted', 'abandoned')`) == 0 {
			break
		}
		require.False(t, time.Now().After(deadline), "tasks hang: %v", texts(t, db, `SELECT id || ' ' || state FROM tasks`))
		<-progress
		time.Sleep(time.Duration(random.IntN(60)) * time.Millisecond)
		victim := random.IntN(workers)
		if kills++; random.IntN(6) == 0 {
			together++
			n.Kill()
			for i := range workers {
				start(i)
			}
			continue
		}
		running[victim].Kill()
		start(victim)
	}
	close(stop)
	wg.Wait()
	for _, c := range running {
		require.NoError(t, c.Close())
	}
	requireWhole(t, n.Database())
	once := map[string]string{
		"a subtask with two outcomes":                 `SELECT count(*) FROM (SELECT 1 FROM task_messages WHERE record = 'SubTaskOutcome' GROUP BY subtask HAVING count(*) > 1)`,
		"an attempt that was done twice":              `SELECT count(*) FROM (SELECT 1 FROM task_messages WHERE record = 'ExecutionResult' GROUP BY subtask, json_extract(message, '$.attempt') HAVING count(*) > 1)`,
		"a round with two plans":                      `SELECT count(*) FROM (SELECT 1 FROM task_messages WHERE record = 'DispatchManifest' GROUP BY task, round HAVING count(*) > 1)`,
		"a task with two results":                     `SELECT count(*) FROM (SELECT 1 FROM task_messages WHERE record = 'FinalResult' GROUP BY task HAVING count(*) <> 1)`,
		"a task without a result":                     `SELECT count(*) FROM tasks WHERE result = ''`,
		"a seat that was not acted on":                `SELECT count(*) FROM work_items WHERE seat = 1`,
		"a message that is not in the record":         `SELECT count(*) FROM task_messages m WHERE NOT EXISTS (SELECT 1 FROM audit a WHERE a.target = 'message/' || m.id)`,
		"an accepted task with a subtask that failed": `SELECT count(*) FROM tasks t JOIN subtasks s ON s.task = t.n AND s.round = t.round WHERE t.state = 'accepted' AND s.state <> 'matched'`,
	}
	for what, query := range once {
		require.Zero(t, count(t, db, query), what)
	}
	for _, raw := range texts(t, db, `SELECT result FROM tasks`) {
		require.True(t, json.Valid([]byte(raw)))
	}
	accepted := count(t, db, `SELECT count(*) FROM tasks WHERE state = 'accepted'`)
	t.Logf("%d tasks, %d kills (%d times all at once), %d accepted, %d rounds, %d messages; states seen at a kill: %v",
		tasks, kills, together, accepted, count(t, db, `SELECT count(*) FROM task_rounds`), count(t, db, `SELECT count(*) FROM task_messages`), seen)
	require.Positive(t, accepted)
}
