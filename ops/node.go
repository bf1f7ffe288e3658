package ops

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/events"
	"cordelia/internal/keys"
	"cordelia/internal/machinecheck"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/pipeline/controller"
	"cordelia/schemas"
	"cordelia/swarm"
	"cordelia/trust"
	"cordelia/work"
)

// Node is one process's view of the node: the database, the door to it, and the
// node's own key.
type Node struct {
	ID    schemas.EntityID // hash of the node's key
	Home  Home
	Store *store.Store
	Auth  *access.Authorizer

	tools          []string // names of all operations; the handlers cannot name the catalogue they are in
	key            keys.Identity
	periods        agents.Periods
	checks         machinecheck.Env
	prior          trust.Prior
	checkpointDirs []string // folders that get copies of the checkpoints
	durable        bool
	mono           func() agents.Monotonic
	embeddings     *memory.Embeddings // nil = off
	tasks          *controller.Controller
	stop           context.CancelFunc
	routines       sync.WaitGroup
	tainted        sync.Map     // reader → true: sessions that were shown second-hand words
	calls          atomic.Int64 // of operations, so far
	waiting        seenWork     // by kept calls
	troubles       troubles     // with tasks
	checking       checking     // of reports
	background     func(func(context.Context))
	CheckWait      time.Duration // how long a report waits for its machine checks
	changes        changes
}

// Config of Open. Zero values mean the defaults.
type Config struct {
	Home           Home
	Durability     store.Durability
	Clock          store.Clock
	Monotonic      func() agents.Monotonic
	Periods        agents.Periods
	Access         access.Config
	Checks         machinecheck.Env     // what machine checks may do; its clock is the store's
	CheckpointDirs []string             // absolute folders outside the home that get copies of the checkpoints
	Tasks          *controller.Settings // of the pipeline
	Prior          trust.Prior          // of agents registered by this process
	Embedder       memory.Embedder      // nil = search by words alone
	Embeddings     memory.EmbeddingOptions
}

// Open opens the node at c.Home, making its database and key on first use, and
// starts its routines. Close it.
func Open(ctx context.Context, c Config) (*Node, error) {
	settings := controller.DefaultSettings()
	if c.Tasks != nil {
		settings = *c.Tasks
	}
	settings.Checks = c.Checks.Kinds()
	tasks, err := controller.New(settings, swarm.Teams{})
	if err != nil {
		return nil, err
	}
	// Clients wait for a process to start: its key is derived while the database opens.
	var key keys.Identity
	loaded := make(chan error, 1)
	go func() {
		var err error
		key, err = c.Home.nodeKey()
		loaded <- err
	}()
	st, err := store.Open(ctx, store.Options{Path: c.Home.Database(), Durability: c.Durability, Clock: c.Clock})
	if bad := <-loaded; bad != nil {
		if err == nil {
			st.Close() //nolint:errcheck // nothing was written
		}
		return nil, bad
	}
	if err != nil {
		key.Erase()
		return nil, err
	}
	n := &Node{ID: key.ID(), Home: c.Home, Store: st, tools: Names(), key: key, periods: c.Periods, checks: c.Checks,
		prior: c.Prior, mono: c.Monotonic,
		checkpointDirs: c.CheckpointDirs, durable: c.Durability != store.Relaxed, tasks: tasks}
	if n.periods == (agents.Periods{}) {
		n.periods = agents.DefaultPeriods()
	}
	if n.mono == nil {
		n.mono = bootClock
	}
	n.checks.Now = st.Clock().Now
	c.Access.Lifecycle = lifecycle{n}
	c.Access.Seen = work.Seen
	c.Access.Cooldown = n.periods.Cooldown
	c.Access.Unaided = controller.Unaided
	if c.Access.TiersOf == nil {
		c.Access.TiersOf = trust.TiersOf
	}
	n.Auth = access.New(st, c.Access)
	if err := n.recheck(ctx); err != nil {
		return nil, errors.Join(err, n.Store.Close())
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	n.stop = stop
	n.CheckWait = checkWait
	n.background = func(f func(context.Context)) { n.routines.Go(func() { f(running) }) }
	n.routines.Go(func() { n.Auth.Run(running) })
	n.routines.Go(func() { n.sweep(running) })
	n.routines.Go(func() {
		tick := time.NewTicker(restAfter)
		defer tick.Stop()
		n.rest(running, tick.C)
	})
	n.routines.Go(func() { n.settleWork(running) })
	n.routines.Go(func() { n.checkpoints(running) })
	if c.Embedder != nil {
		n.embeddings = memory.NewEmbeddings(c.Embedder, c.Embeddings)
		n.routines.Go(func() { n.refreshEmbeddings(running) })
	}
	return n, nil
}

// recheck decides anew what an upgrade of the database left to decide.
func (n *Node) recheck(ctx context.Context) error {
	some := false
	if err := n.look(ctx, "recheck", func(g access.Grant) (err error) {
		some, err = memory.ToRecheck(g)
		return err
	}); err != nil || !some {
		return err
	}
	return n.routine(ctx, "recheck", func(g access.Grant) error { return memory.Recheck(g, n.tools) })
}

// Close ends the routines, writes what is buffered and closes the database.
func (n *Node) Close() error {
	n.stop()
	n.routines.Wait()
	n.key.Erase()
	return n.Store.Close()
}

// asNode is the identity of the node's own routines.
func asNode() access.Principal {
	return access.Principal{Entity: access.NodeEntity, Method: access.ByNode}
}

// routine runs f as the node, in a write transaction, audited under name.
func (n *Node) routine(ctx context.Context, name string, f func(access.Grant) error) error {
	return n.Auth.Do(ctx, asNode(), access.Op{Tool: name, Effect: access.Write}, f)
}

// look runs f as the node on a snapshot.
func (n *Node) look(ctx context.Context, name string, f func(access.Grant) error) error {
	return n.Auth.Do(ctx, asNode(), access.Op{Tool: name, Effect: access.Read}, f)
}

// lifecycle lets the authorizer make the moves it finds due.
type lifecycle struct{ n *Node }

// Move makes one of the node's lifecycle moves. A move another process made
// meanwhile is no error.
func (l lifecycle) Move(ctx context.Context, id schemas.EntityID, on schemas.Trigger) error {
	reason := string(on)
	if on == schemas.FirstOperation {
		reason = "" // that an agent works needs none
	}
	err := l.n.routine(ctx, "lifecycle", func(g access.Grant) error {
		_, _, err := l.n.moveAgent(g, string(id), on, reason)
		return err
	})
	if errors.Is(err, schemas.ErrConflict) {
		return nil
	}
	return err
}

// moveAgent makes a lifecycle move and what belongs to it: deactivation
// ends leases and archives the L1 context, reactivation restores it, removal deletes it and ends
// the memberships. Trust stays.
func (n *Node) moveAgent(g access.Grant, ref string, on schemas.Trigger,
	reason string) (agents.Moved, schemas.ItemID, error) {
	m, err := agents.Move(g, ref, on, reason, n.periods)
	if err != nil {
		return m, "", err
	}
	if m.Status != schemas.Active {
		if err := work.Revoke(g, m.ID); err != nil {
			return m, "", err
		}
	}
	if m.Status == schemas.Deactivated || m.Status == schemas.Removed {
		if err := n.tasks.Vacate(g, m.ID); err != nil {
			return m, "", err
		}
	}
	told, err := swarm.Coordinators(g, m.ID, m.Parent)
	if err != nil {
		return m, "", err
	}
	changed := schemas.AgentStatusChanged{AgentID: m.ID, OldStatus: m.From, NewStatus: m.Status}
	for _, coordinator := range told {
		if err := g.Emit(events.EntityStream(coordinator), schemas.EventAgentStatusChanged, changed); err != nil {
			return m, "", err
		}
	}
	var archive schemas.ItemID
	err = g.Routine(func() error {
		switch m.Status {
		case schemas.Deactivated:
			archive, err = n.archive(g, m.Record)
			return err
		case schemas.Removed:
			if err := leaveGroups(g, m.ID); err != nil {
				return err
			}
			return memory.DeleteHot(g, m.ID)
		case schemas.Active:
			if m.From == schemas.Deactivated {
				return memory.RestoreHot(g, m.ID)
			}
		}
		return nil
	})
	return m, archive, err
}
