package ops

import (
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/proof/soak"
	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
	"cordelia/node"
	"cordelia/schemas"
)

// hand is an agent that takes work.
func (h *house) hand(name string) Caller {
	h.must(h.lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": name, "name": name,
		"capabilities": map[string]any{"tools": []string{"task_claim", "task_report"}}})
	return h.caller(name)
}

// patient is c when its client comes back for answers.
func patient(c Caller) Caller {
	c.MayPend = true
	return c
}

// waitFor makes a call that the node keeps.
func (h *house) waitFor(c Caller, args map[string]any) PendingCall {
	h.t.Helper()
	_, err := h.call(patient(c), "task_claim", args)
	pending, ok := errors.AsType[ErrPending](err)
	require.True(h.t, ok, "%v", err)
	require.Equal(h.t, CallWaiting, pending.State)
	return pending.PendingCall
}

func (h *house) poll(c Caller, id string) PendingCall {
	h.t.Helper()
	pending, err := h.node.Pending(h.t.Context(), c, id)
	require.NoError(h.t, err)
	return pending
}

// A wait for a result ends with it, in line and as a pending call; who may not see the
// work may not wait for it, and what is shown is what is so when it is asked for.
func TestWaitForAResult_INV_PENDING(t *testing.T) {
	h := newHouse(t)
	hand, id := h.hand("hand"), h.submit("count them")
	_, err := h.call(h.lead, "task_status", map[string]any{"wait_seconds": 1})
	require.ErrorIs(t, err, schemas.ErrInvalid)
	_, err = h.call(hand, "task_status", map[string]any{"work_id": id, "wait_seconds": 1})
	require.ErrorIs(t, err, schemas.ErrDenied, "not among its tools")
	out := h.must(h.lead, "task_status", map[string]any{"work_id": id, "wait_seconds": 1})
	require.Equal(t, "ready", out["items"].([]any)[0].(map[string]any)["state"], "the wait is over, and nothing ended")

	_, err = h.call(patient(h.lead), "task_status", map[string]any{"work_id": id, "wait_seconds": 3000})
	pending, ok := errors.AsType[ErrPending](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, CallWaiting, h.poll(h.lead, pending.ID).State)
	inLine := make(chan map[string]any, 1)
	go func() {
		out, err := h.call(h.lead, "task_status", map[string]any{"work_id": id, "wait_seconds": 50})
		assert.NoError(t, err)
		inLine <- out
	}()
	c := h.must(hand, "task_claim", map[string]any{})["work"].(map[string]any)
	require.Equal(t, CallWaiting, h.poll(h.lead, pending.ID).State, "claimed is not done")
	h.must(hand, "task_report", map[string]any{"work_id": id, "fence": c["fence"], "outcome": "done",
		"result": map[string]any{"n": 3}})
	require.Equal(t, "done", (<-inLine)["items"].([]any)[0].(map[string]any)["state"])
	answered := h.poll(h.lead, pending.ID)
	require.Equal(t, CallAnswered, answered.State)
	shown := answered.Answer.(TaskStatusOut).Items
	require.Len(t, shown, 1)
	require.JSONEq(t, `{"n": 3}`, string(shown[0].Result))
	require.NoError(t, h.node.CancelPending(t.Context(), h.lead, pending.ID), "there is nothing to take back")
	require.Equal(t, "done", h.stateOf(id))
	_, err = h.node.Pending(t.Context(), hand, pending.ID)
	require.ErrorIs(t, err, schemas.ErrNotFound)
}

// claimed is the item a pending call got, nil if none.
func claimed(k PendingCall) map[string]any {
	raw, err := json.Marshal(k.Answer)
	if err != nil {
		return nil
	}
	var out struct{ Work map[string]any }
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out.Work
}

func (h *house) submit(intent string) string {
	h.t.Helper()
	raw, err := json.Marshal(h.must(h.lead, "task_submit", map[string]any{"intent": intent})["items"])
	require.NoError(h.t, err)
	var items []struct {
		WorkID string `json:"work_id"`
	}
	require.NoError(h.t, json.Unmarshal(raw, &items), "%s", raw)
	return items[0].WorkID
}

func (h *house) stateOf(id string) string {
	h.t.Helper()
	item := h.must(h.lead, "task_status", map[string]any{"work_id": id})["items"].([]any)[0].(map[string]any)
	return item["state"].(string)
}

// leases counts those there ever were.
func (h *house) leases() (n int) {
	h.t.Helper()
	require.NoError(h.t, h.node.Look(h.t.Context(), "test", func(g access.Grant) error {
		return g.Tx().QueryRow(`SELECT count(*) FROM work_leases`).Scan(&n)
	}))
	return n
}

// other is the node as another process has it.
func (h *house) other() *Service {
	n, err := Open(h.t.Context(), node.Config{Home: h.node.Home, Clock: h.clock, Monotonic: h.monotonic,
		Database: storetest.Options(h.t, store.Options{Path: string(h.node.Home)}).URL})
	require.NoError(h.t, err)
	h.t.Cleanup(func() { require.NoError(h.t, n.Close()) })
	return n
}

// INV-PENDING: a call waits until there is work, and its answer is the same whoever of
// the node's processes is asked, and how often.
func TestPendingClaim_INV_PENDING(t *testing.T) {
	h := newHouse(t)
	w := h.hand("w")
	pending := h.waitFor(w, map[string]any{"wait_seconds": 60})
	require.Equal(t, CallWaiting, h.poll(w, pending.ID).State)
	second := h.other()
	item := h.submit("Count the boats")
	got, err := second.Pending(t.Context(), w, pending.ID)
	require.NoError(t, err)
	require.Equal(t, CallAnswered, got.State)
	require.NoError(t, got.Err)
	require.Equal(t, item, claimed(got)["work_id"])
	require.Equal(t, got, h.poll(w, pending.ID))
	require.Equal(t, 1, h.leases())
	// The call that does not wait gives the same item.
	now := h.must(w, "task_claim", map[string]any{})["work"].(map[string]any)
	require.Equal(t, true, now["resumed"])
	delete(now, "resumed")
	require.Equal(t, claimed(got), now)
	// With work at hand there is nothing to wait for.
	h.must(w, "task_report", map[string]any{"work_id": item, "fence": now["fence"], "outcome": "done",
		"result": map[string]any{"boats": 3}})
	require.Nil(t, claimed(h.poll(w, pending.ID)), "what it says belongs to the lease")
	next := h.submit("Count again")
	out := h.must(patient(w), "task_claim", map[string]any{"wait_seconds": 60})
	require.Equal(t, next, out["work"].(map[string]any)["work_id"])
}

// INV-PENDING: for anyone else a pending call is not there.
func TestPendingCallsAreTheirCallers_INV_PENDING(t *testing.T) {
	h := newHouse(t)
	w, v := h.hand("w"), h.hand("v")
	pending := h.waitFor(w, map[string]any{"wait_seconds": 60})
	acting := h.waitFor(h.lead, map[string]any{"wait_seconds": 60, "as": "w"})
	absent := schemas.NewID()
	_, want := h.node.Pending(t.Context(), v, absent)
	require.ErrorIs(t, want, schemas.ErrNotFound)
	for _, c := range []struct {
		who Caller
		id  string
	}{{v, pending.ID}, {h.lead, pending.ID}, {w, acting.ID}, {w, absent}} {
		_, err := h.node.Pending(t.Context(), c.who, c.id)
		require.Equal(t, want, err)
		require.Equal(t, want, h.node.CancelPending(t.Context(), c.who, c.id))
	}
	h.submit("Count the boats")
	require.NotNil(t, claimed(h.poll(h.lead, acting.ID)), "it acts as w")
}

func TestPendingCallsEnd(t *testing.T) {
	h := newHouse(t)
	w := h.hand("w")
	_, err := h.call(w, "task_claim", map[string]any{"wait_seconds": 51})
	require.ErrorIs(t, err, schemas.ErrInvalid, "in line")
	_, err = h.call(patient(w), "task_claim", map[string]any{"wait_seconds": maxPendingSeconds + 1})
	require.ErrorIs(t, err, schemas.ErrInvalid)

	pending := h.waitFor(w, map[string]any{"wait_seconds": 60})
	h.clock.advance(59 * time.Second)
	require.Equal(t, CallWaiting, h.poll(w, pending.ID).State)
	h.clock.advance(time.Second)
	over := h.poll(w, pending.ID)
	require.Equal(t, CallAnswered, over.State)
	require.Equal(t, taskClaimIn{}.noWork().String(), over.Answer.(TaskClaimOut).Next.String())
	h.clock.advance(answerLasts - time.Second)
	require.Equal(t, over.Answer, h.poll(w, pending.ID).Answer)
	h.clock.advance(time.Second)
	_, err = h.node.Pending(t.Context(), w, pending.ID)
	require.ErrorIs(t, err, schemas.ErrNotFound)
	require.Equal(t, 1, h.pendingRows())
	require.NoError(t, h.node.forget(t.Context()))
	require.Zero(t, h.pendingRows())
}

func (h *house) pendingRows() (n int) {
	h.t.Helper()
	require.NoError(h.t, h.node.Look(h.t.Context(), "test", func(g access.Grant) error {
		return g.Tx().QueryRow(`SELECT count(*) FROM mcp_tasks`).Scan(&n)
	}))
	return n
}

func TestCancelledPendingCalls(t *testing.T) {
	h := newHouse(t)
	w := h.hand("w")
	drop := func(id string) { require.NoError(t, h.node.CancelPending(t.Context(), w, id)) }

	waiting := h.waitFor(w, map[string]any{"wait_seconds": 60})
	require.Equal(t, CallWaiting, h.poll(w, waiting.ID).State)
	require.Len(t, h.node.waiting.byID, 1)
	drop(waiting.ID)
	require.Empty(t, h.node.waiting.byID, "what was found out for it is forgotten")
	drop(waiting.ID)
	item := h.submit("Count the boats")
	require.Equal(t, CallCancelled, h.poll(w, waiting.ID).State)
	require.Equal(t, "ready", h.stateOf(item))

	// One that was answered gives the item back.
	h.must(w, "task_report", map[string]any{"work_id": item,
		"fence": h.must(w, "task_claim", map[string]any{})["work"].(map[string]any)["fence"], "outcome": "done"})
	pending := h.waitFor(w, map[string]any{"wait_seconds": 60})
	item = h.submit("Count again")
	require.Equal(t, item, claimed(h.poll(w, pending.ID))["work_id"])
	drop(pending.ID)
	require.Equal(t, "ready", h.stateOf(item))
	given := h.must(h.lead, "task_status", map[string]any{"work_id": item})["items"].([]any)[0].(map[string]any)
	require.Equal(t, "the call that claimed it was cancelled", given["note"], "who reads the item learns why")
	drop(pending.ID)
	require.Equal(t, CallCancelled, h.poll(w, pending.ID).State)
	require.Equal(t, "ready", h.stateOf(item))

	// What the caller holds is answered at once, and no wait of its.
	first := h.must(w, "task_claim", map[string]any{})["work"].(map[string]any)
	again := h.must(patient(w), "task_claim", map[string]any{"wait_seconds": 60})["work"].(map[string]any)
	require.Equal(t, first["fence"], again["fence"])

	// Nor what was reported.
	h.must(w, "task_report", map[string]any{"work_id": item, "fence": first["fence"], "outcome": "done"})
	pending = h.waitFor(w, map[string]any{"wait_seconds": 60})
	item = h.submit("Count for good")
	fence := claimed(h.poll(w, pending.ID))["fence"]
	h.must(w, "task_report", map[string]any{"work_id": item, "fence": fence, "outcome": "done"})
	drop(pending.ID)
	require.Equal(t, "done", h.stateOf(item))
}

// Two waits of one agent are answered by one lease, and only the one that made it
// ends it.
func TestTwoWaitsOneLease(t *testing.T) {
	h := newHouse(t)
	w := h.hand("w")
	first, second := h.waitFor(w, map[string]any{"wait_seconds": 60}), h.waitFor(w, map[string]any{"wait_seconds": 60})
	item := h.submit("Count the boats")
	h.submit("and the gulls")
	require.Equal(t, item, claimed(h.poll(w, first.ID))["work_id"])
	require.Equal(t, item, claimed(h.poll(w, second.ID))["work_id"])
	require.Equal(t, 1, h.leases())
	require.NoError(t, h.node.CancelPending(t.Context(), w, second.ID))
	require.Equal(t, "leased", h.stateOf(item))
	require.NoError(t, h.node.CancelPending(t.Context(), w, first.ID))
	require.Equal(t, "ready", h.stateOf(item))
}

// What a pending call came to is shown with the rights its caller has when it asks.
func TestPendingCallsAndRightsTaken(t *testing.T) {
	h := newHouse(t)
	tools := func(tools ...string) {
		h.must(h.lead, "agent_capabilities", map[string]any{"agent": "w",
			"capabilities": map[string]any{"tools": tools}})
	}
	w := h.hand("w")
	waiting, answered := h.waitFor(w, map[string]any{"wait_seconds": 60}), h.waitFor(w,
		map[string]any{"wait_seconds": 60})
	item := h.submit("Count the boats")
	require.Equal(t, item, claimed(h.poll(w, answered.ID))["work_id"])
	tools("task_report")
	got := h.poll(w, answered.ID)
	require.ErrorIs(t, got.Err, schemas.ErrDenied)
	require.Nil(t, got.Answer)
	require.Equal(t, "ready", h.stateOf(item))
	h.clock.advance(time.Minute)
	refused := h.poll(w, waiting.ID)
	require.Equal(t, CallAnswered, refused.State)
	require.ErrorIs(t, refused.Err, schemas.ErrDenied)
	require.NoError(t, h.node.CancelPending(t.Context(), w, answered.ID), "there is nothing to give back")

	tools("task_claim", "task_report")
	require.Nil(t, claimed(h.poll(w, answered.ID)), "the lease is over")
	require.Equal(t, item, h.must(w, "task_claim", map[string]any{})["work"].(map[string]any)["work_id"])
	require.Nil(t, claimed(h.poll(w, answered.ID)), "that is another")
	require.NoError(t, h.node.CancelPending(t.Context(), w, answered.ID))
	require.Equal(t, "leased", h.stateOf(item))
	require.ErrorIs(t, h.poll(w, waiting.ID).Err, schemas.ErrDenied, "it stays what it was")
}

// A repeated call gets one lease, with an idempotency key also across its waits.
func TestPendingCallsAndIdempotencyKeys(t *testing.T) {
	h := newHouse(t)
	w := h.hand("w")
	args := map[string]any{"wait_seconds": 60, "idempotency_key": "once"}
	first, second := h.waitFor(w, args), h.waitFor(w, args)
	item := h.submit("Count the boats")
	got := claimed(h.poll(w, first.ID))
	require.Equal(t, item, got["work_id"])
	h.must(w, "task_report", map[string]any{"work_id": item, "fence": got["fence"], "outcome": "released"})
	h.submit("and the gulls")
	require.Nil(t, claimed(h.poll(w, second.ID)), "the lease the key stands for is over")
	require.Equal(t, 1, h.leases())
}

// Whoever has as many as may be waits for one to end; nobody else does.
func TestPendingCallsAreBounded(t *testing.T) {
	h := newHouse(t)
	w, v := h.hand("w"), h.hand("v")
	pending, busy := []string{}, 0
	for range 1000 {
		_, err := h.call(patient(w), "task_claim", map[string]any{"wait_seconds": 60})
		if k, ok := errors.AsType[ErrPending](err); ok {
			pending = append(pending, k.ID)
			continue
		}
		require.ErrorIs(t, err, schemas.ErrBusy)
		busy++
	}
	require.Len(t, pending, maxPending)
	require.Equal(t, 1000-maxPending, busy)
	h.waitFor(v, map[string]any{"wait_seconds": 60})

	require.NoError(t, h.node.CancelPending(t.Context(), w, pending[7]))
	h.waitFor(w, map[string]any{"wait_seconds": 60})
	_, err := h.node.Pending(t.Context(), w, pending[7])
	require.ErrorIs(t, err, schemas.ErrNotFound, "it made room")
	_, err = h.node.Pending(t.Context(), w, pending[0])
	require.NoError(t, err, "what waits does not")

	h.clock.advance(time.Minute)
	h.waitFor(w, map[string]any{"wait_seconds": 60})
}

// A poll says that a client runs, not that its agent does.
func TestPollingIsNoSignOfLife(t *testing.T) {
	h := newHouse(t)
	w := h.hand("w")
	pending := h.waitFor(w, map[string]any{"wait_seconds": 3000})
	h.poll(w, pending.ID)
	seen := func() any {
		h.node.Auth.Flush(t.Context())
		return h.must(h.lead, "agent_list",
			map[string]any{"agent": "w"})["agents"].([]any)[0].(map[string]any)["last_seen_at"]
	}
	before := seen()
	for range 5 {
		h.clock.advance(time.Minute)
		h.poll(w, pending.ID)
	}
	require.Equal(t, before, seen())
}

// INV-PENDING: polls by two processes, a cancellation and a submission at once: the
// item has one lease, or none and is free.
func TestPendingCallsRace_INV_PENDING(t *testing.T) {
	h := newHouse(t)
	w := h.hand("w")
	second := h.other()
	answered, cancelled := 0, 0
	for round := range soak.Count(t, 60, 6000) {
		pending := h.waitFor(w, map[string]any{"wait_seconds": 60})
		before := h.leases()
		var item string
		var wg sync.WaitGroup
		if round%3 > 0 {
			item = h.submit("Count the boats")
		} else {
			wg.Go(func() { item = h.submit("Count the boats") })
		}
		poll := func(n *Service) {
			if _, err := n.Pending(t.Context(), w, pending.ID); err != nil {
				t.Errorf("poll: %v", err)
			}
		}
		cancel := func() {
			if err := h.node.CancelPending(t.Context(), w, pending.ID); err != nil {
				t.Errorf("cancel: %v", err)
			}
		}
		switch round % 6 { // a database may always answer one of them first
		case 1:
			poll(second)
		case 4:
			cancel()
		}
		for _, n := range []*Service{h.node, second, second} {
			wg.Go(func() { poll(n) })
		}
		wg.Go(cancel)
		wg.Wait()
		got := h.poll(w, pending.ID)
		require.Equal(t, CallCancelled, got.State)
		require.Equal(t, "ready", h.stateOf(item))
		require.LessOrEqual(t, h.leases()-before, 1)
		if h.leases() > before {
			answered++
		} else {
			cancelled++
		}
		h.must(h.lead, "task_cancel", map[string]any{"work_id": item})
	}
	require.NotZero(t, answered)
	require.NotZero(t, cancelled)
	t.Logf("%d claimed and gave back, %d were cancelled first", answered, cancelled)
}
