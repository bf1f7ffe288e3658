package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"cordelia/access"
	"cordelia/ops"
	"cordelia/schemas"
)

// agent is a plant at work, under the name it has now.
type agent struct {
	plant
	number int
	names  int // so far
	caller ops.Caller
	shut   bool // out of the group, or refused today
	out    bool
	standing
	turned int // verdicts when it turned, for a sleeper
}

// item is what a written item says.
type item struct {
	id     schemas.ItemID
	author *agent
	fact   int
	value  int
}

func (i item) right() bool { return i.value == 0 }

// run is one world under one policy.
type run struct {
	*world
	*house
	policy policy
	reader ops.Caller
	agents []*agent
	items  []item
	byID   map[schemas.ItemID]item
	asked  []int // facts that an agent meant to state truly: what may be asked for
	ask    *rand.Rand
	judge  *rand.Rand
	result result
}

// live runs the world from its first day to its last in the folder dir.
func live(ctx context.Context, w *world, p policy, dir string) (r result, err error) {
	h, err := newHouse(ctx, dir, p)
	if err != nil {
		return r, err
	}
	defer func() {
		if bad := h.close(); err == nil {
			err = bad
		}
	}()
	n := &run{world: w, house: h, policy: p, byID: map[schemas.ItemID]item{}, ask: w.stream("questions"),
		judge: w.stream("verdicts")}
	if n.reader, err = h.enrol(ctx, "reader"); err != nil {
		return r, err
	}
	for i, pl := range w.plants {
		a := &agent{plant: pl, number: i}
		if a.from == 0 {
			if err := n.named(ctx, a); err != nil {
				return r, err
			}
		}
		n.agents = append(n.agents, a)
	}
	for day := range w.days {
		if err := n.day(ctx, day); err != nil {
			return r, fmt.Errorf("%s, %s, seed %d, day %d: %w", w.name, p.name, w.seed, day, err)
		}
	}
	n.result.items = len(n.items)
	_, err = h.node.VerifyTrust(ctx, h.person.Principal)
	return n.result, err
}

// named registers a under its next name.
func (n *run) named(ctx context.Context, a *agent) (err error) {
	a.names++
	if a.caller, err = n.enrol(ctx, fmt.Sprintf("agent-%d-%d", a.number, a.names)); err != nil {
		return err
	}
	a.out, a.shut = false, false
	a.standing, err = n.standing(ctx, n.policy, a.caller.Entity)
	return err
}

func (n *run) day(ctx context.Context, day int) error {
	morning := start.Add(time.Duration(day) * 24 * time.Hour)
	n.clock.set(morning)
	var open []string // predictions that will hold
	for _, a := range n.agents {
		if a.from == day && day > 0 {
			if err := n.named(ctx, a); err != nil {
				return err
			}
		}
		if a.names == 0 {
			continue
		}
		file, err := n.work(ctx, a, day)
		if err != nil {
			return err
		}
		if file != "" {
			open = append(open, file)
		}
	}
	if err := n.node.CheckPredictions(ctx); err != nil {
		return err
	}
	found, err := n.look(ctx)
	if err != nil {
		return err
	}
	if err := n.assessAll(ctx, found); err != nil {
		return err
	}
	for _, file := range open {
		if err := os.WriteFile(filepath.Join(n.files, file), nil, 0o600); err != nil {
			return err
		}
	}
	n.clock.set(morning.Add(12 * time.Hour))
	if err := n.node.CheckPredictions(ctx); err != nil {
		return err
	}
	return n.evening(ctx, day)
}

// work is what a writes in a day. It gives the file that a prediction of a's
// needs to hold.
func (n *run) work(ctx context.Context, a *agent, day int) (file string, err error) {
	t := n.plan[a.number][day]
	if t.copies {
		if err := n.copyLie(ctx, a, &t); err != nil {
			return "", err
		}
	}
	if t.value == 0 && !slices.Contains(n.asked, t.fact) {
		n.asked = append(n.asked, t.fact)
	}
	n.result.forecast(a.accuracy, t.value == 0)
	session := fmt.Sprintf("day %d of %d", day, a.number)
	id, err := n.write(ctx, a.caller, session, n.facts[t.fact].says(t.value, t.template), nil)
	if a.shut = refused(err); err != nil && !a.shut {
		return "", err
	}
	if _, known := n.byID[id]; err == nil && !known {
		i := item{id, a, t.fact, t.value}
		n.items, n.byID[id] = append(n.items, i), i
	}
	if !t.predicts || n.policy.leaves == noPredictions {
		return "", nil
	}
	name := fmt.Sprintf("agent-%d-day-%d", a.number, day)
	_, err = n.write(ctx, a.caller, session, "there will be a file "+name, args{"prediction": args{
		"due": n.clock.Now().Add(6 * time.Hour).Format(time.RFC3339), "check": args{"kind": "file", "path": name}}})
	if err != nil && !refused(err) {
		return "", err
	}
	if !t.comesTrue {
		return "", nil
	}
	return name, nil
}

// copyLie makes t what another liar's item says, if a finds one.
func (n *run) copyLie(ctx context.Context, a *agent, t *attempt) error {
	ids, err := n.search(ctx, a.caller, n.facts[t.fact].question())
	if refused(err) {
		return nil
	}
	for _, id := range ids {
		if i, ok := n.byID[id]; ok && !i.right() && i.author != a {
			t.fact, t.value = i.fact, i.value
			break
		}
	}
	return err
}

// look is what the reader looks for in a day; it gives what was found, each once.
func (n *run) look(ctx context.Context) (found []item, err error) {
	n.result.begin()
	for range questionsADay {
		if len(n.asked) == 0 {
			return nil, nil
		}
		wanted := n.asked[n.ask.IntN(len(n.asked))]
		ids, err := n.search(ctx, n.reader, n.facts[wanted].question())
		if err != nil {
			return nil, err
		}
		var hits []item
		for _, id := range ids {
			i, ok := n.byID[id]
			if !ok {
				return nil, fmt.Errorf("a search found %s, which nobody wrote", id)
			}
			hits = append(hits, i)
			if !slices.Contains(found, i) {
				found = append(found, i)
			}
		}
		n.result.retrieved(wanted, hits)
	}
	return found, nil
}

// evening is when the user looks at the scores: an untrusted agent leaves the group, and its
// items with it. Whitewashers come back.
func (n *run) evening(ctx context.Context, day int) error {
	for _, a := range n.agents {
		if a.names == 0 {
			continue
		}
		s, err := n.standing(ctx, n.policy, a.caller.Entity)
		if err != nil {
			return err
		}
		a.standing = s
		if a.role == sleeper && day == turnsOn-1 {
			a.turned = s.verdicts
		}
		n.result.noteTier(a, day)
		if s.tier == schemas.Untrusted && !a.out {
			a.out = true
			if _, err := n.call(ctx, n.person, "memory_group",
				args{"action": "remove", "group": group, "entity": string(a.caller.Entity)}); err != nil {
				return err
			}
		}
		if a.role == whitewasher && (a.out || a.shut) && a.names <= newNames {
			if err := n.named(ctx, a); err != nil {
				return err
			}
		}
	}
	// A rival's tiers follow the ledger; that they moved must be known.
	return n.node.Store.Write(ctx, access.BumpEpoch)
}
