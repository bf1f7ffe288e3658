package scenario

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/drive"
	"cordelia/internal/proof/soak"
	"cordelia/schemas"
)

// aim is whose process is to be killed: the one that next holds such a seat, or answers
// such a question of the user.
type aim struct {
	seat   string
	during bool // while its answer is on the way; else with it in its hands
}

// killed is a worker whose process was aimed at, and is gone.
type killed struct {
	aim
	worker int
	item   string
}

const gardeners = 4

// garden is a group of workers, each with a process of its own, and tasks for them.
type garden struct {
	testing.TB
	node     *Node
	db       *sql.DB
	random   *rand.Rand
	wg       sync.WaitGroup
	progress chan struct{} // somebody is about to claim
	stop     chan struct{}
	dead     chan killed

	mu      sync.Mutex
	aims    []aim
	running [gardeners]*Process // nil = being killed

	hit map[string]int // where tasks and subtasks stood at the kills that were aimed

	// kills that were aimed, those of them during an answer, and those answers that came through
	aimed, during, through int
	others, together       int // kills that were not, and those of everybody at once
}

// newGarden makes the workers. Each aim is taken so many times.
func newGarden(t testing.TB, times int) *garden {
	n := newNode(t)
	parent := open(t, n, "")
	must(t, parent, "memory_group", `{"action": "create", "group": "garden"}`)
	for i := range gardeners {
		must(t, parent, "agent_register",
			fmt.Sprintf(`{"agent_type": "autonomous", "display_name": "w", "name": "w%d", "groups": ["garden"], "capabilities": {
			"memory_read": {"layers": ["l1", "l2"], "groups": ["garden"], "visibility": ["group"]}, "memory_write": {"layers": ["l1", "l2"], "groups": ["garden"], "visibility": ["group"]},
			"tools": ["task_claim", "task_report"], "max_parallel_ops": 4, "autonomous": true, "ttl_seconds": 86000}}`, i))
	}
	require.NoError(t, parent.Close())
	g := &garden{TB: t, node: n, db: openDB(t, n), random: rand.New(rand.NewPCG(3, 4)),
		progress: make(chan struct{}, 1),
		stop:     make(chan struct{}), hit: map[string]int{}}
	for range times {
		for _, seat := range []string{"Perceiver (R1)", "Planner (R2)", "Planner (R2) again", "Executor (R3)",
			"Validator (R4a)", "Meta-validator (R4b)", "clarifying", "review"} {
			g.aims = append(g.aims, aim{seat, false}, aim{seat, true})
		}
	}
	g.dead = make(chan killed, len(g.aims))
	return g
}

// submit adds tasks, every second of which may have one more round only.
func (g *garden) submit(tasks int) {
	g.Helper()
	c := open(g, g.node, "")
	for i := range tasks {
		must(g, c, "task_submit", fmt.Sprintf(
			`{"request": "a garden, please", "group": "garden", "tools": ["spade"], "hold": true,
			"budget_seconds": 864000, "replans": %d}`, []int{20, 1}[i%2]))
	}
	require.NoError(g, c.Close())
}

// aimAt gives the first aim at a seat, and takes it off the list.
func (g *garden) aimAt(seat string) (aim, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.IndexFunc(g.aims, func(a aim) bool { return a.seat == seat })
	if at < 0 {
		return aim{}, false
	}
	a := g.aims[at]
	g.aims = slices.Delete(g.aims, at, at+1)
	return a, true
}

// aimAgain puts one back that was missed.
func (g *garden) aimAgain(a aim) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.aims = append(g.aims, a)
}

// doom is before a kill of workers for no seat of theirs; false if anybody is being killed.
func (g *garden) doom(workers ...int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if slices.Contains(g.running[:], nil) {
		return false
	}
	for _, i := range workers {
		g.running[i] = nil
	}
	return true
}

// falls is before a worker is killed for its seat; false if it is being killed already.
func (g *garden) falls(i int, c *Process) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running[i] != c {
		return false
	}
	g.running[i] = nil
	return true
}

func (g *garden) start(workers ...int) {
	for _, i := range workers {
		c := open(g, g.node, fmt.Sprintf("w%d", i))
		g.mu.Lock()
		g.running[i] = c
		g.mu.Unlock()
		g.wg.Go(func() { g.work(i, c) })
	}
}

// work fills one seat after the other until its process ends.
func (g *garden) work(i int, c *Process) {
	random := rand.New(rand.NewPCG(uint64(i), uint64(c.PID())))
	for {
		select {
		case <-g.stop:
			return
		case g.progress <- struct{}{}:
		default:
		}
		a, err := c.Call(g.Context(), "task_claim", []byte(`{"lease_seconds": 60, "wait_seconds": 1}`))
		if err == nil && a.Code == "" {
			if _, there := look(a, "work.work_id"); !there {
				continue
			}
			item := at[string](g, a, "work.work_id")
			report := fmt.Appendf(
				nil, `{"work_id": %[1]q, "fence": %[2]v, "outcome": "done", "result": %[3]s, "evidence": [{"tool": "spade", "input": %[1]q, "exit": 0}]}`,
				item, at[float64](g, a, "work.fence"), seatAnswer(a))
			if taken, ok := g.aimAt(seatOf(a)); ok {
				if !g.falls(i, c) { // to a kill that comes first; the seat stays its own
					g.aimAgain(taken)
					return
				}
				if taken.during {
					c.Begin("task_report", report) //nolint:errcheck // it is killed anyway
					soak.Strike(random, 20*time.Millisecond)
				}
				c.Kill()
				g.dead <- killed{taken, i, item}
				return
			}
			a, err = c.Call(g.Context(), "task_report", report)
		}
		if errors.Is(err, drive.ErrEnded) {
			return // killed, perhaps after the report and before the answer
		}
		if err != nil || a.Code != "" {
			g.Errorf("w%d: %v %s", i, err, a.Text)
			return
		}
	}
}

// standing is where a task and the subtasks of its round stand.
const standing = `SELECT 'task ' || t.state || iif(t.state = 'planning' AND t.round > 0, ' again', '') FROM tasks t
	WHERE t.n = ?1
	UNION SELECT 'subtask ' || s.state FROM subtasks s JOIN tasks t ON t.n = s.task AND t.round = s.round
	WHERE s.task = ?1`

// noteKill notes where a task stands when a process that had to do with it is gone; still
// is whether it stands where it stood when the process was aimed at.
func (g *garden) noteKill(task int, a aim, still bool) {
	g.Helper()
	g.aimed++
	if a.during {
		g.during++
	}
	if !still {
		g.through++
		return
	}
	for _, state := range texts(g, g.db, standing, task) {
		g.hit[state]++
	}
}

// bury notes where the task of a killed worker stands, which its lease keeps from moving,
// and starts the worker again.
func (g *garden) bury(d killed) {
	g.Helper()
	task := count(g, g.db, `SELECT s.task FROM task_seats s JOIN work_items w ON w.n = s.item WHERE w.id = ?`, d.item)
	leased := count(g, g.db, `SELECT count(*) FROM work_items WHERE id = ? AND state = 'leased'`, d.item) == 1
	if !leased && !d.during { // its lease ran out before anybody looked
		g.aimAgain(d.aim)
	}
	g.noteKill(task, d.aim, leased)
	g.start(d.worker)
}

// forPerson is what waits for one: questions, results, and the answers of who had read what
// another task left in memory.
const forPerson = `SELECT state || ' ' || id FROM tasks WHERE state IN ('clarifying', 'review')
	UNION ALL SELECT state || ' ' || id FROM work_items WHERE state = 'held'`

// person does one thing that waits for them; false if nothing does.
func (g *garden) person() bool {
	g.Helper()
	waiting := texts(g, g.db, forPerson)
	if len(waiting) == 0 {
		return false
	}
	state, id, _ := strings.Cut(waiting[0], " ")
	command := []string{"task", "submit", "--answer", id, "the old one"}
	if state != string(schemas.TaskClarifying) {
		shown, stderr, code, err := g.node.Run(g.Context(), "review", "show", id, "--json")
		require.NoError(g, err)
		require.Zero(g, code, stderr)
		decision := "approve"
		if count(g, g.db, `SELECT count(*) FROM tasks WHERE id = ? AND round = ?`, id, rejectedRound) == 1 {
			decision = "reject"
		}
		command = []string{"review", decision, id, at[string](g, Answer{Value: literal(shown)}, "waiting.0.hash")}
	}
	task := func() int { return count(g, g.db, `SELECT n FROM tasks WHERE id = ?`, id) }
	taken, aimed := g.aimAt(state)
	switch {
	case aimed && taken.during:
		c, err := g.node.Start(command...)
		require.NoError(g, err)
		soak.Strike(g.random, 150*time.Millisecond)
		c.Kill()
		g.noteKill(task(), taken, slices.Contains(texts(g, g.db, forPerson), waiting[0]))
	case aimed && !g.killAll():
		g.aimAgain(taken)
	case aimed:
		g.noteKill(task(), taken, true)
	default:
		_, stderr, code, err := g.node.Run(g.Context(), command...)
		require.NoError(g, err)
		require.Zero(g, code, "%v: %s", command, stderr)
	}
	return true
}

// killAll kills everybody at once, unless somebody is being killed.
func (g *garden) killAll() bool {
	g.Helper()
	if !g.doom(0, 1, 2, 3) {
		return false
	}
	g.node.Kill()
	g.together++
	g.start(0, 1, 2, 3)
	return true
}

// killAny kills whoever it is, wherever they are, unless somebody is being killed.
func (g *garden) killAny() {
	g.Helper()
	soak.Strike(g.random, 60*time.Millisecond)
	victim := g.random.IntN(gardeners)
	if g.random.IntN(6) == 0 {
		g.killAll()
		return
	}
	g.mu.Lock()
	c := g.running[victim]
	g.mu.Unlock()
	if g.doom(victim) {
		c.Kill()
		g.others++
		g.start(victim)
	}
}

// play kills until every task is over.
func (g *garden) play() {
	g.Helper()
	g.start(0, 1, 2, 3)
	said, last := 0, time.Now()
	for count(g, g.db, `SELECT count(*) FROM tasks WHERE finished_at = 0`) > 0 {
		if now := count(g, g.db, `SELECT count(*) FROM task_messages`); now != said {
			said, last = now, time.Now()
		}
		require.Less(g, time.Since(last), 5*time.Minute, "tasks hang: %v",
			texts(g, g.db, `SELECT id || ' ' || state FROM tasks`))
		select {
		case d := <-g.dead:
			g.bury(d)
		case <-g.progress:
			if g.random.IntN(2) == 0 || !g.person() {
				g.killAny()
			}
		}
	}
	close(g.stop)
	g.wg.Wait()
	for _, c := range g.running {
		if c != nil { // else the kill came with the last report there was
			require.NoError(g, c.Close())
		}
	}
}

// INV-SETTLED, INV-BUS, through the whole binary: four agents fill the roles of several
// tasks, each from a process of its own. Whoever holds a seat is killed, in each state
// that a task and a subtask can be in, with the work in its hands and while it reports;
// so is who answers for the user; beside that anybody is, at times all at once. Every task
// ends as it would have without, each step of it happened once, and every message is
// whole and in the record.
func TestTasksOutliveTheirProcesses(t *testing.T) {
	g := newGarden(t, soak.Count(t, 1, 25))
	tasks := soak.Count(t, 2, 80)
	g.submit(tasks)
	g.play()

	for replans, want := range map[int]string{20: wholeStory, 1: halfStory} {
		told := texts(t, g.db, storyTold, replans)
		require.Equal(t, slices.Repeat([]string{want}, tasks/2), told)
	}
	requireWhole(t, g.node.Database())
	once := map[string]string{
		"a subtask with two outcomes": `SELECT count(*) FROM (SELECT 1 FROM task_messages
			WHERE record = 'SubTaskOutcome' GROUP BY subtask HAVING count(*) > 1)`,
		"an attempt that was done twice": `SELECT count(*) FROM (SELECT 1 FROM task_messages
			WHERE record = 'ExecutionResult' GROUP BY subtask, json_extract(message, '$.attempt') HAVING count(*) > 1)`,
		"a round with two plans": `SELECT count(*) FROM (SELECT 1 FROM task_messages
			WHERE record = 'DispatchManifest' GROUP BY task, round HAVING count(*) > 1)`,
		"a task with two results": `SELECT count(*) FROM (SELECT 1 FROM task_messages
			WHERE record = 'FinalResult' GROUP BY task HAVING count(*) <> 1)`,
		"a task without a result":      `SELECT count(*) FROM tasks WHERE result = ''`,
		"a seat that was not acted on": `SELECT count(*) FROM work_items WHERE seat = 1`,
		"a message that is not in the record": `SELECT count(*) FROM task_messages m
			WHERE NOT EXISTS (SELECT 1 FROM audit a WHERE a.target = 'message/' || m.id)`,
		"an accepted task with a subtask that failed": `SELECT count(*) FROM tasks t JOIN subtasks s ON s.task = t.n
			AND s.round = t.round WHERE t.state = 'accepted' AND s.state <> 'matched'`,
	}
	for what, query := range once {
		require.Zero(t, count(t, g.db, query), what)
	}
	for _, raw := range texts(t, g.db, `SELECT result FROM tasks`) {
		require.True(t, json.Valid([]byte(raw)))
	}
	for _, s := range schemas.TaskStates() {
		require.True(t, s.Final() || g.hit["task "+string(s)] > 0, "no kill while a task was %s: %v", s, g.hit)
	}
	for _, s := range schemas.SubTaskStates() {
		require.True(t, s.Final() || g.hit["subtask "+string(s)] > 0, "no kill while a subtask was %s: %v", s, g.hit)
	}
	require.Positive(t, g.hit["task planning again"], "%v", g.hit)
	require.Empty(t, g.aims)
	t.Logf("%d tasks, %d kills that were aimed (%d during an answer, of which %d came through), %d others, %d of "+
		"everybody at once; %d rounds, %d messages; states at those that were aimed: %v",
		tasks, g.aimed, g.during, g.through, g.others, g.together, count(t, g.db, `SELECT count(*) FROM task_rounds`),
		count(t, g.db, `SELECT count(*) FROM task_messages`), g.hit)
}
