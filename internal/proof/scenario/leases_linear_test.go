//go:build unix

package scenario

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
)

// leaseOp is one call of a worker about one item.
type leaseOp struct {
	worker int
	kind   string // claim, done or released
	fence  int64  // of a report
}

// leaseAnswer is what came of it.
type leaseAnswer struct {
	lost    bool  // the worker was killed before the answer came
	refused bool  // the report came too late
	resumed bool  // the claim found the lease it had
	fence   int64 // of a claim
	until   int64 // when the lease ends at the least, node's µs
	asked   int64 // when the call was made, and when its answer was here, µs of this machine
	told    int64
}

// leaseState is what one item is, as far as its workers can tell.
type leaseState struct {
	status string // ready, leased or done
	holder int
	fence  int64
	until  int64  // node's µs
	since  int64  // when it was claimed at the earliest, µs of this machine
	given  uint64 // which fences were given back under, by their bits: there are fewer than 64
}

// leaseModel says what a sequence of calls about one item may answer. A lease
// that is over is still its holder's until someone takes it or the node notices; it is over
// if the clock went past its end once, for the node may have noticed before the clock went back.
func leaseModel(clock *nodeClock) porcupine.Model {
	m := porcupine.NondeterministicModel{Init: func() []any { return []any{leaseState{status: "ready"}} },
		Step: func(state, input, output any) []any {
			s, in, out := state.(leaseState), input.(leaseOp), output.(leaseAnswer)
			over := false
			if s.status == "leased" {
				_, latest := clock.bounds(s.since, out.told)
				over = latest >= s.until
			}
			mine := s.status == "leased" && s.holder == in.worker && s.fence == in.fence
			if in.kind == "claim" {
				taken := leaseState{"leased", in.worker, s.fence + 1, out.until, out.asked, s.given}
				free := s.status == "ready" || over
				switch {
				case out.lost && free:
					earliest, _ := clock.bounds(out.asked, out.told)
					taken.until = earliest + leaseTime.Microseconds()
					return []any{s, taken}
				case out.lost:
					return []any{s}
				case out.resumed && s.status == "leased" && s.holder == in.worker && s.fence == out.fence:
					return []any{leaseState{"leased", in.worker, s.fence, max(s.until, out.until), s.since, s.given}}
				case !out.resumed && free && out.fence == s.fence+1:
					return []any{taken}
				}
				return nil
			}
			ended := leaseState{in.kind, in.worker, s.fence, 0, 0, s.given}
			again := s.status == "done" && s.holder == in.worker && s.fence == in.fence && in.kind == "done"
			if in.kind == "released" {
				// The same report gets the same answer, even if another worker has the item by now.
				ended.status, ended.given = "ready", s.given|1<<in.fence
				again = s.given&(1<<in.fence) != 0
			}
			switch {
			case out.lost && mine:
				return []any{s, ended}
			case out.lost:
				return []any{s}
			case out.refused && !mine && !again:
				return []any{s}
			case out.refused && mine && over: // the node had noticed
				return []any{leaseState{"ready", 0, s.fence, 0, 0, s.given}}
			case !out.refused && mine:
				return []any{ended}
			case !out.refused && again:
				return []any{s}
			}
			return nil
		}}
	return m.ToModel()
}

// leaseTime is the shortest there is.
const leaseTime = 15 * time.Second

// nodeClock bounds what the node's clock shows while it is being moved.
type nodeClock struct {
	node *Node
	mu   sync.Mutex
	past []moved
	at   time.Duration
}

type moved struct {
	when time.Time
	to   time.Duration
}

// move notes both places before the clock leaves the one, and that it has
// arrived after.
func (c *nodeClock) move(by time.Duration) error {
	c.note(c.at, c.at+by)
	defer func() { c.note(c.at) }()
	c.at += by
	return c.node.MoveClock(by)
}

func (c *nodeClock) note(places ...time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range places {
		c.past = append(c.past, moved{time.Now(), p})
	}
}

// bounds are the earliest and the latest that the clock can have shown between two moments, all in µs.
func (c *nodeClock) bounds(from, to int64) (earliest, latest int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	earliest, latest = math.MaxInt64, math.MinInt64
	for i, m := range c.past {
		begin, end := max(from, m.when.UnixMicro()), to
		if i+2 < len(c.past) { // move notes the next place before it goes there and after
			end = min(to, c.past[i+2].when.UnixMicro())
		}
		if begin <= end {
			earliest, latest = min(earliest, begin+m.to.Microseconds()), max(latest, end+m.to.Microseconds())
		}
	}
	return earliest, latest
}

// INV-FENCE under everything that can happen to a process: workers are killed and
// stopped past the end of their leases while the clock jumps both ways, and what
// every one of them was told about every item fits one order of events.
//
// In rounds: a call lost with its process may have been about any item, and what it
// may have done multiplies the orders there are to try.
func TestLeasesAreLinearizable(t *testing.T) {
	var sum leaseTally
	for round := range soak.Count(t, 1, 40) {
		sum.add(leaseRound(t, rand.New(rand.NewPCG(3, uint64(round)))))
	}
	t.Logf("%d faults: %d items, %d claims (%d of them again), %d reports refused as late, %d calls lost with their "+
		"process",
		sum.faults, sum.items, sum.claims, sum.taken, sum.late, sum.lost)
}

// leaseTally counts what happened.
type leaseTally struct{ faults, items, claims, taken, late, lost int }

func (c *leaseTally) add(o leaseTally) {
	c.faults, c.items, c.claims = c.faults+o.faults, c.items+o.items, c.claims+o.claims
	c.taken, c.late, c.lost = c.taken+o.taken, c.late+o.late, c.lost+o.lost
}

func leaseRound(t *testing.T, random *rand.Rand) leaseTally {
	const workers, faults = 4, 40
	n := newNode(t)
	clock := &nodeClock{node: n}
	require.NoError(t, clock.move(0))
	lead := open(t, n, "")
	must(t, lead, "memory_group", `{"action": "create", "group": "crew"}`)
	for i := range workers {
		must(t, lead, "agent_register", fmt.Sprintf(
			`{"agent_type": "autonomous", "display_name": "w", "name": "w%d", "groups": ["crew"], "capabilities": {
			"memory_read": {"layers": ["l1", "l2"], "groups": ["crew"], "visibility": ["group"]},
			"memory_write": {"layers": ["l1", "l2"], "groups": ["crew"], "visibility": ["group"]},
			"tools": ["task_claim", "task_report"], "max_parallel_ops": 32, "autonomous": true, "ttl_seconds": 0}}`, i))
	}
	start := time.Now()
	record := &leaseRecord{items: map[string][]porcupine.Operation{}, start: start}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	crew := make([]*leaseWorker, workers)
	for i := range crew {
		crew[i] = &leaseWorker{t: t, n: n, clock: clock, record: record, index: i,
			proc: open(t, n, fmt.Sprintf("w%d", i))}
		wg.Go(func() { crew[i].work(stop) })
	}
	for fault := range faults {
		if fault%2 == 0 { // never without work
			must(t, lead, "task_submit",
				`{"group": "crew", "items": [{"intent": "a"}, {"intent": "b"}, {"intent": "c"}]}`)
		}
		soak.Strike(random, 30*time.Millisecond)
		jump := time.Duration(random.Int64N(int64(leaseTime + 5*time.Second)))
		victim := crew[random.IntN(workers)]
		switch random.IntN(4) {
		case 0:
			victim.kill()
		case 1: // stopped, past its lease, and back
			victim.signal(syscall.SIGSTOP)
			require.NoError(t, clock.move(leaseTime+time.Second))
			time.Sleep(time.Duration(50+random.IntN(50)) * time.Millisecond)
			victim.signal(syscall.SIGCONT)
		case 2:
			require.NoError(t, clock.move(jump))
		case 3:
			require.NoError(t, clock.move(-jump))
		}
	}
	close(stop)
	wg.Wait()
	overtake(t, lead, clock, crew)

	model := leaseModel(clock)
	sum := leaseTally{faults: faults, items: len(record.items), lost: len(record.unknown)}
	for item, history := range record.items {
		history = append(history, record.unknown...) // each may have been about any item
		for _, o := range history {
			out := o.Output.(leaseAnswer)
			switch in := o.Input.(leaseOp); {
			case out.lost && in.kind == "claim": // counted once, below
			case out.lost:
				sum.lost++
			case in.kind == "claim" && !out.resumed:
				if sum.claims++; out.fence > 1 {
					sum.taken++
				}
			case out.refused:
				sum.late++
			}
		}
		require.True(t, porcupine.CheckOperations(model, history), "%s: %s", item, words(history))
	}
	require.Positive(t, sum.late, "no lease was lost: nothing was tried")
	require.Positive(t, sum.taken)
	require.NoError(t, lead.Close())
	for _, w := range crew {
		require.NoError(t, w.proc.Close())
	}
	requireWhole(t, n.Database())
	return sum
}

// overtake has one worker lose its lease to another and report all the same, in
// case chance never did.
func overtake(t *testing.T, lead *Process, clock *nodeClock, crew []*leaseWorker) {
	t.Helper()
	held := map[*leaseWorker]string{}
	fences := map[*leaseWorker]int64{}
	for _, w := range crew { // nothing is left over
		for item, fence := w.claim(); item != ""; item, fence = w.claim() {
			w.report(item, "done", fence)
		}
	}
	slow, quick := crew[0], crew[1]
	must(t, lead, "task_submit", `{"group": "crew", "intent": "overtaken"}`)
	for _, w := range []*leaseWorker{slow, quick} {
		held[w], fences[w] = w.claim()
		require.NotEmpty(t, held[w])
		require.NoError(t, clock.move(leaseTime+time.Second))
	}
	require.Equal(t, held[slow], held[quick])
	slow.report(held[slow], "done", fences[slow])
	quick.report(held[quick], "done", fences[quick])
}

// words is a history as a person reads it.
func words(history []porcupine.Operation) string {
	text := ""
	for _, o := range history {
		text += fmt.Sprintf("\n%9d–%9d %+v → %+v", o.Call/1000, o.Return/1000, o.Input, o.Output)
	}
	return text
}

// leaseRecord is what all workers asked and were told, by item.
type leaseRecord struct {
	start   time.Time
	mu      sync.Mutex
	items   map[string][]porcupine.Operation
	unknown []porcupine.Operation // claims without an answer
}

func (r *leaseRecord) operation(in leaseOp, out leaseAnswer, since time.Time) porcupine.Operation {
	return porcupine.Operation{ClientId: in.worker, Input: in, Output: out,
		Call: since.Sub(r.start).Nanoseconds(), Return: time.Since(r.start).Nanoseconds()}
}

func (r *leaseRecord) add(item string, in leaseOp, out leaseAnswer, since time.Time) {
	o := r.operation(in, out, since)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.items[item] = append(r.items[item], o)
}

// leaseWorker claims and reports through a process that may end at any time.
type leaseWorker struct {
	t      *testing.T
	n      *Node
	clock  *nodeClock
	record *leaseRecord
	index  int

	mu   sync.Mutex
	proc *Process
}

func (w *leaseWorker) process() *Process {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.proc
}

// kill ends the process; work starts the next one.
func (w *leaseWorker) kill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.proc.Kill()
}

func (w *leaseWorker) signal(s syscall.Signal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	syscall.Kill(w.proc.PID(), s) //nolint:errcheck // it may have ended
}

// call calls a tool; ok is false if the process ended first, by then for sure.
func (w *leaseWorker) call(tool, args string) (a Answer, since time.Time, ok bool) {
	p := w.process()
	since = time.Now()
	a, err := p.Call(w.t.Context(), tool, json.RawMessage(args))
	if err == nil {
		return a, since, true
	}
	<-p.Ended()
	next, err := w.n.Open(w.t.Context(), fmt.Sprintf("w%d", w.index))
	if err != nil {
		w.t.Errorf("start w%d again: %v", w.index, err)
		return a, since, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.proc = next
	return a, since, false
}

func (w *leaseWorker) work(stop <-chan struct{}) {
	random := rand.New(rand.NewPCG(uint64(w.index), 11))
	item, fence := "", int64(0)
	for !w.t.Failed() {
		select {
		case <-stop:
			return
		default:
		}
		if item == "" || random.IntN(4) == 0 {
			item, fence = w.claim()
			continue
		}
		time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond) // the work
		kind := "done"
		if random.IntN(3) == 0 {
			kind = "released"
		}
		if w.report(item, kind, fence) {
			item = ""
		}
	}
}

// claim claims, and gives the item held after, "" for none.
func (w *leaseWorker) claim() (item string, fence int64) {
	in := leaseOp{worker: w.index, kind: "claim"}
	a, since, ok := w.call("task_claim", fmt.Sprintf(`{"lease_seconds": %d}`, int(leaseTime.Seconds())))
	out := leaseAnswer{lost: !ok, asked: since.UnixMicro(), told: time.Now().UnixMicro()}
	if !ok {
		o := w.record.operation(in, out, since)
		w.record.mu.Lock()
		defer w.record.mu.Unlock()
		w.record.unknown = append(w.record.unknown, o)
		return "", 0
	}
	id, held := look(a, "work.work_id")
	if !held {
		if a.Code != "" && a.Code != "busy" {
			w.t.Errorf("claim of w%d: %s", w.index, a.Text)
		}
		time.Sleep(5 * time.Millisecond)
		return "", 0
	}
	text, _ := look(a, "work.expires_at")
	until, err := time.Parse(time.RFC3339Nano, fmt.Sprint(text))
	if err != nil {
		w.t.Errorf("expires_at: %v", err)
	}
	number, _ := look(a, "work.fence")
	resumed, _ := look(a, "work.resumed")
	f, err := json.Number(fmt.Sprint(number)).Int64()
	if err != nil {
		w.t.Errorf("fence: %v", err)
	}
	if f >= 64 {
		w.t.Errorf("fence %d: the model has bits for 64", f)
	}
	out.fence, out.until, out.resumed = f, until.UnixMicro(), resumed == true
	w.record.add(fmt.Sprint(id), in, out, since)
	return fmt.Sprint(id), f
}

// report reports, and says whether the worker knows that its lease is over.
func (w *leaseWorker) report(item, kind string, fence int64) bool {
	in := leaseOp{worker: w.index, kind: kind, fence: fence}
	a, since, ok := w.call("task_report", fmt.Sprintf(`{"work_id": %q, "fence": %d, "outcome": %q}`, item, fence, kind))
	out := leaseAnswer{lost: !ok, refused: a.Code == "conflict", asked: since.UnixMicro(), told: time.Now().UnixMicro()}
	if a.Code == "busy" {
		return false
	}
	if a.Code != "" && a.Code != "conflict" {
		w.t.Errorf("report of w%d: %s", w.index, a.Text)
	}
	w.record.add(item, in, out, since)
	return ok
}
