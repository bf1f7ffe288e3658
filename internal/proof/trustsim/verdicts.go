package main

import (
	"context"

	"cordelia/ops"
)

// word is the right verdict on i with a probability, else the other.
func (n *run) word(i item, right float64) string {
	if (n.judge.Float64() < right) == i.right() {
		return "right"
	}
	return "wrong"
}

// assessAll is a day's verdicts on what was found.
func (n *run) assessAll(ctx context.Context, found []item) error {
	for range userADay {
		if i, ok := n.pick(found); ok {
			if err := n.assess(ctx, noUser, n.person, i, args{"verdict": n.word(i, userRight)}); err != nil {
				return err
			}
		}
	}
	for range relayedADay {
		if i, ok := n.pick(found); ok {
			if err := n.assess(ctx, noRelayed, n.reader, i, args{"verdict": n.word(i, relayedRight),
				"relayed": true}); err != nil {
				return err
			}
		}
	}
	if err := n.compare(ctx, found); err != nil {
		return err
	}
	for _, a := range n.agents {
		if a.names == 0 {
			continue
		}
		if err := n.peer(ctx, a, found); err != nil {
			return err
		}
	}
	return nil
}

// compare compares items on one fact with each other, knowing no better which
// of them is right.
func (n *run) compare(ctx context.Context, found []item) error {
	var pairs [][2]item
	for _, i := range found {
		for _, j := range found {
			if i.fact == j.fact && i.author != j.author {
				pairs = append(pairs, [2]item{i, j})
			}
		}
	}
	for range min(crossADay, len(pairs)) {
		p := pairs[n.judge.IntN(len(pairs))]
		verdict := "right"
		if p[0].value != p[1].value {
			verdict = "wrong"
		}
		if err := n.assess(ctx, noCross, n.reader, p[0], args{"verdict": verdict, "basis": p[1].id}); err != nil {
			return err
		}
	}
	return nil
}

// peer is what a itself says of others' items in a day.
func (n *run) peer(ctx context.Context, a *agent, found []item) error {
	switch a.role {
	case honest, noisy, sleeper, poisoner:
		i, ok := n.pick(found)
		if !ok || i.author == a {
			return nil
		}
		return n.assess(ctx, noPeers, a.caller, i, args{"verdict": n.word(i, peerRight)})
	case colluder, forger:
		if err := n.side(ctx, a, "right", func(o *agent) bool { return o != a && o.role == a.role }); err != nil {
			return err
		}
		return n.side(ctx, a, "wrong", func(o *agent) bool { return o.role != a.role })
	}
	return nil
}

// side gives the same verdict on any item of an agent that whose selects.
func (n *run) side(ctx context.Context, a *agent, verdict string, whose func(*agent) bool) error {
	var theirs []item
	for _, i := range n.items {
		if whose(i.author) {
			theirs = append(theirs, i)
		}
	}
	i, ok := n.pick(theirs)
	if !ok {
		return nil
	}
	what, kind := args{"verdict": verdict}, noPeers
	if a.role == forger {
		what["relayed"], kind = true, noRelayed
	}
	return n.assess(ctx, kind, a.caller, i, what)
}

// pick chooses one item.
func (n *run) pick(from []item) (item, bool) {
	if len(from) == 0 {
		return item{}, false
	}
	return from[n.judge.IntN(len(from))], true
}

// assess gives a verdict, if the policy does not leave its kind out; one about what the
// assessor may not see any more is not given. The dice have been cast by then, so that
// leaving one kind out moves no other.
func (n *run) assess(ctx context.Context, kind string, c ops.Caller, i item, a args) error {
	if n.policy.leaves == kind {
		return nil
	}
	a["id"] = i.id
	if _, err := n.call(ctx, c, "trust_assess", a); err != nil && !refused(err) {
		return err
	}
	return nil
}
