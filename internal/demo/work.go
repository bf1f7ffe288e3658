package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"cordelia/internal/drive"
)

const (
	swarmID = "swarm-harbour"
	crew    = 3
	items   = 12 // that are raced for
	lease   = 15 // seconds, of the worker that is killed: the shortest there is
)

// makeSwarm makes the swarm and starts a session for each of its workers.
func (s *stage) makeSwarm(ctx context.Context) (err error) {
	if s.lead, err = s.node.Open(ctx, ""); err != nil {
		return err
	}
	work := make([]string, items)
	for i := range work {
		work[i] = fmt.Sprintf("Sound the depth at buoy %d", i+1)
	}
	var made struct {
		SwarmID string `json:"swarm_id"`
		Agents  []struct {
			Name string `json:"name"`
			ID   string `json:"agent_id"`
		} `json:"agents"`
	}
	if err := call(ctx, s.lead, "swarm_create", object{"goal": "Chart the harbour", "strategy": "broadcast",
		"swarm_id": swarmID,
		"agents":   []object{{"slot": "hand", "count": crew, "work": work}}}, &made); err != nil {
		return err
	}
	ids := map[string]bool{}
	for _, a := range made.Agents {
		ids[a.ID] = true
		s.hands = append(s.hands, &hand{name: a.Name, id: a.ID})
	}
	if err := check(made.SwarmID == swarmID && len(ids) == crew, "the swarm is made with %d agents: %+v", crew,
		made); err != nil {
		return err
	}
	s.prove(fmt.Sprintf("%s, with %d agents and %d items", made.SwarmID, len(ids), items),
		"An agent asks for a swarm: groups, workers and work come in one transaction, or not at all.")
	if err := s.openSessions(ctx); err != nil {
		return err
	}
	all, err := s.lead.List(ctx)
	if err != nil {
		return err
	}
	few, err := s.hands[0].client.List(ctx)
	if err != nil {
		return err
	}
	if err := check(len(few) > 0 && len(few) < len(all), "a worker is offered fewer tools than its maker: %d of %d",
		len(few), len(all)); err != nil {
		return err
	}
	s.prove(fmt.Sprintf("tools offered: %d to the agent that made them, %d to a worker", len(all), len(few)),
		"A worker gets no more rights than its work takes.")
	s.step.Facts = object{"swarm_id": made.SwarmID, "agents": len(ids), "items": items, "tools_of_lead": len(all),
		"tools_of_worker": len(few)}
	s.step.Shown = fmt.Sprintf("%s: %d agents, each with a key and %d tools", made.SwarmID, len(ids), len(few))
	return nil
}

// openSessions starts the workers: the last over HTTP, the others over stdio.
func (s *stage) openSessions(ctx context.Context) error {
	address, err := s.node.Serve(ctx)
	if err != nil {
		return err
	}
	for i, h := range s.hands {
		if i == crew-1 {
			if h.client, err = s.node.Dial(ctx, address, "agents/"+h.id+".key"); err != nil {
				return err
			}
			s.prove("POST "+address+"/mcp, after signing a challenge with its key",
				"%s speaks MCP over HTTP with a bearer token.", h.name)
			continue
		}
		if h.process, err = s.node.Open(ctx, h.name); err != nil {
			return err
		}
		h.client = h.process
		s.prove(fmt.Sprintf("process %d, agent %s", h.process.PID(), short(h.id)),
			"%s speaks MCP over stdio with a process of its own.", h.name)
	}
	return nil
}

// race has all workers take and report work at once until there is none.
func (s *stage) race(ctx context.Context) error {
	taken := make([][]string, crew) // by whom, in the order of hands
	errs := make([]error, crew)
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i, h := range s.hands {
		all.Go(func() {
			<-begin
			taken[i], errs[i] = h.workUp(ctx)
		})
	}
	close(begin)
	all.Wait()
	by, count := object{}, map[string]int{}
	var answers []string
	for i, h := range s.hands {
		if errs[i] != nil {
			return fmt.Errorf("%s: %w", h.name, errs[i])
		}
		for _, id := range taken[i] {
			count[id]++
		}
		by[h.name] = len(taken[i])
		answers = append(answers, fmt.Sprintf("%s %d", h.name, len(taken[i])))
	}
	twice, claims := 0, 0
	for _, n := range count {
		claims += n
		if n > 1 {
			twice++
		}
	}
	done, err := s.inState(ctx, "done")
	if err != nil {
		return err
	}
	if err := check(claims == items && len(count) == items && twice == 0 && done == items,
		"each of %d items is claimed once and done: %d claims of %d items, %d twice, %d done", items, claims,
		len(count), twice, done); err != nil {
		return err
	}
	s.prove(strings.Join(answers, ", "), "%d processes ask for work at the same moment, again and again.", crew)
	s.prove(fmt.Sprintf("%d items, %d claims, %d claimed twice, %d done", items, claims, twice, done),
		"Nobody shares a list, and no item goes to two.")
	s.step.Facts = object{"items": items, "claims": claims, "twice": twice, "done": done, "by": by}
	s.step.Shown = fmt.Sprintf("%d items, %d claims, %d twice", items, claims, twice)
	return nil
}

// workUp takes and reports work until there is none; ids are those of the items.
func (h *hand) workUp(ctx context.Context) (ids []string, err error) {
	for {
		got, err := claim(ctx, h.client, object{})
		if err != nil || got == nil {
			return ids, err
		}
		ids = append(ids, got.WorkID)
		if err := call(ctx, h.client, "task_report", got.done(object{"metres": len(ids)}), nil); err != nil {
			return ids, err
		}
	}
}

// inState counts the swarm's items in a state.
func (s *stage) inState(ctx context.Context, state string) (int, error) {
	var out struct{ Items []struct{} }
	err := call(ctx, s.lead, "task_status", object{"group": swarmID, "state": state, "limit": 50}, &out)
	return len(out.Items), err
}

// leftover is what the killed worker held.
type leftover struct {
	seat
	holder *hand
}

// kill kills a worker that holds an item.
func (s *stage) kill(ctx context.Context) error {
	if err := call(ctx, s.lead, "task_submit", object{"group": swarmID, "intent": "Sound the channel"},
		nil); err != nil {
		return err
	}
	victim, other := s.hands[1], s.hands[0]
	got, err := claim(ctx, victim.client, object{"lease_seconds": lease})
	if err != nil {
		return err
	}
	if err := check(got != nil && got.Lease == lease, "%s gets a lease of %d s", victim.name, lease); err != nil {
		return err
	}
	s.left = leftover{*got, victim}
	s.prove(fmt.Sprintf("item %s, fence %d, lease until %s", short(got.WorkID), got.Fence, clock(got.Expires)),
		"%s takes an item: a lease of %d seconds, with a fence.", victim.name, lease)
	victim.process.Kill()
	_, err = victim.client.Call(ctx, "task_claim", []byte(`{}`))
	if err := check(errors.Is(err, drive.ErrEnded), "process %d is gone: %v", victim.process.PID(), err); err != nil {
		return err
	}
	s.prove(fmt.Sprintf("process %d: %v", victim.process.PID(), err),
		"Its process is killed, without a word of goodbye.")
	var none struct {
		Work *seat
		Next string
	}
	if err := call(ctx, other.client, "task_claim", object{}, &none); err != nil {
		return err
	}
	if err := check(none.Work == nil, "while the lease lasts nobody else gets the item: %+v", none.Work); err != nil {
		return err
	}
	s.prove(none.Next, "%s asks for it: not while the lease lasts. We come back to that.", other.name)
	s.step.Facts = object{"work_id": got.WorkID, "fence": got.Fence, "pid": victim.process.PID(),
		"lease_seconds": got.Lease}
	s.step.Shown = fmt.Sprintf("process %d killed with fence %d in its hand", victim.process.PID(), got.Fence)
	return nil
}

// takeOver has another worker take what the killed one held, once its lease is over.
func (s *stage) takeOver(ctx context.Context) error {
	heir := s.hands[0]
	waited := s.Teller.Wait("waiting for the lease to end")
	got, err := claim(ctx, heir.client, object{"wait_seconds": 2 * lease})
	waited()
	if err != nil {
		return err
	}
	if err := check(got != nil && got.WorkID == s.left.WorkID && got.Fence > s.left.Fence,
		"%s gets item %s with a higher fence than %d: %+v",
		heir.name, s.left.WorkID, s.left.Fence, got); err != nil {
		return err
	}
	s.prove(fmt.Sprintf("item %s, fence %d", short(got.WorkID), got.Fence), "The lease ran out, and %s gets the item.",
		heir.name)
	back, err := s.node.Open(ctx, s.left.holder.name)
	if err != nil {
		return err
	}
	words, err := refused(ctx, back, "task_report", s.left.done(object{"metres": 99}), "conflict")
	if err != nil {
		return err
	}
	s.prove(words, "The killed one comes back and reports with fence %d.", s.left.Fence)
	if err := call(ctx, heir.client, "task_report", got.done(object{"metres": 12}), nil); err != nil {
		return err
	}
	var status struct {
		Items []struct {
			State  string
			Result struct{ Metres int }
		}
	}
	if err := call(ctx, s.lead, "task_status", object{"work_id": got.WorkID, "detail": true}, &status); err != nil {
		return err
	}
	if err := check(len(status.Items) == 1 && status.Items[0].State == "done" && status.Items[0].Result.Metres == 12,
		"the item is done as %s reported it: %+v", heir.name, status); err != nil {
		return err
	}
	s.prove(fmt.Sprintf("%s, %d metres", status.Items[0].State, status.Items[0].Result.Metres),
		"What %s reports with fence %d counts.", heir.name, got.Fence)
	s.step.Facts = object{"work_id": got.WorkID, "fence_before": s.left.Fence, "fence": got.Fence, "late": words,
		"metres": status.Items[0].Result.Metres}
	s.step.Shown = fmt.Sprintf("fence %d → %d; the late report did not count", s.left.Fence, got.Fence)
	return back.Close()
}
