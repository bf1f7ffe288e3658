package node

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/internal/keys"
	"cordelia/pipeline/controller"
	"cordelia/roles"
	"cordelia/schemas"
)

// dueRoles finds what time or ended work makes due of roles.
func (n *Node) dueRoles(g access.Grant) (func(context.Context) error, error) {
	due, err := roles.Due(g)
	if err != nil || !due {
		return nil, err
	}
	return func(ctx context.Context) error { return n.Routine(ctx, "role_sweep", n.roles.Settle) }, nil
}

// ReapRoles is Reap of roles alone.
func (n *Node) ReapRoles(ctx context.Context) error { return n.reap(ctx, []finding{n.dueRoles}) }

// roleTasks lets roles begin tasks of the pipeline.
type roleTasks struct{ n *Node }

// SubmitFor begins a task in the name of an agent.
func (t roleTasks) SubmitFor(g access.Grant, on schemas.EntityID, r roles.TaskRequest) (string, error) {
	out, err := t.n.tasks.Submit(g, requestOf(r, on))
	return out.TaskID, err
}

// Check says why the pipeline would refuse a task.
func (roleTasks) Check(r roles.TaskRequest) error { return requestOf(r, "").Check() }

func requestOf(r roles.TaskRequest, on schemas.EntityID) controller.Request {
	return controller.Request{Request: r.Request, Tools: r.Tools, Budget: r.Budget, Deadline: r.Deadline, Hold: r.Hold,
		On: on}
}

// roleAgents lets roles make and move the agents behind them.
type roleAgents struct{ n *Node }

// Enroll makes an agent below parent. Its key file is written once the transaction is on disk
// (WriteRoleKeys); where that fails, cordelia key unwrap writes it.
func (a roleAgents) Enroll(g access.Grant, parent schemas.EntityID, r agents.Registration) (agents.Record, error) {
	identity, err := keys.NewIdentity(rand.Reader)
	if err != nil {
		return agents.Record{}, err
	}
	r.Key = identity.Recipient(1)
	r.Seal = func(parent keys.Recipient) ([]byte, error) { return keys.Seal(identity, parent) }
	record, err := a.n.enlistUnder(g, parent, r)
	if err != nil {
		identity.Erase()
		return record, err
	}
	g.Tx().AfterCommit(func() { a.n.newKeys.add(identity) })
	return record, nil
}

// newKeys are the keys of roles that were made and whose files are not written yet.
type newKeys struct {
	mu   sync.Mutex
	list []keys.Identity
}

func (k *newKeys) add(i keys.Identity) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = append(k.list, i)
}

// WriteRoleKeys writes the key files of roles that this process made. The roles stand even if
// that fails.
func (n *Node) WriteRoleKeys() {
	n.newKeys.mu.Lock()
	list := n.newKeys.list
	n.newKeys.list = nil
	n.newKeys.mu.Unlock()
	for _, identity := range list {
		if err := n.WriteAgentKey(identity); err != nil {
			slog.Warn("the key file of a role was not written: cordelia key unwrap "+string(identity.ID()), "err", err)
		}
		identity.Erase()
	}
}

// Move makes a lifecycle move with all that belongs to it. One that was made before is none.
func (a roleAgents) Move(g access.Grant, agent schemas.EntityID, on schemas.Trigger, reason string) error {
	move := func(g access.Grant) error {
		_, _, err := a.n.MoveAgent(g, string(agent), on, reason)
		return err
	}
	var err error
	switch on {
	case schemas.TTLExpiry, schemas.TaskComplete, schemas.Activate:
		err = g.AsNode(move)
	default:
		err = move(g)
	}
	if errors.Is(err, schemas.ErrConflict) {
		return nil
	}
	return err
}

// Tools are the names of all operations.
func (a roleAgents) Tools() []string { return a.n.tools }
