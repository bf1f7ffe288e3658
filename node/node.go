package node

import (
	"context"
	"errors"
	"log/slog"
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
	"cordelia/memory/embedding"
	"cordelia/pipeline/controller"
	"cordelia/roles"
	"cordelia/schemas"
	"cordelia/swarm"
	"cordelia/trust"
	"cordelia/work"
)

// Node is one process's view of an installation: the database, the authorizer that opens
// it, and the node's own key.
type Node struct {
	ID    schemas.EntityID // hash of the node's key
	Home  Home
	Store *store.Store
	Auth  *access.Authorizer
	// Embeddings embed what is written and searched for; nil = off.
	Embeddings *embedding.Vectors

	tools          []string // names of all operations: what capabilities may grant
	key            keys.Identity
	periods        agents.Periods
	checks         machinecheck.Env
	prior          trust.Prior
	place          string   // of the audit record, as store.Place says it
	checkpointDirs []string // folders that get copies of the checkpoints
	durable        bool
	mono           func() agents.Monotonic
	tasks          *controller.Controller
	roles          *roles.Roles
	newKeys        newKeys
	retention      retention
	hookCalls      bool // calls of executors that a client's hooks report are kept
	stop           context.CancelFunc
	routines       sync.WaitGroup
	calls          atomic.Int64                // of operations, so far
	troubles       troubles                    // with tasks
	checking       checking                    // of reports
	background     func(func(context.Context)) // runs it until Close
	CheckWait      time.Duration               // how long a report waits for its machine checks
	changes        changes
}

// Config of Open. Zero values mean the defaults.
type Config struct {
	Home           Home
	Database       string   // address of a PostgreSQL database; "" = the file in the home
	Tools          []string // names of all operations: what capabilities may grant
	Durability     store.Durability
	Clock          store.Clock
	Monotonic      func() agents.Monotonic
	Periods        agents.Periods
	Access         access.Config
	Checks         machinecheck.Env     // what machine checks may do; its clock is the store's
	CheckpointDirs []string             // absolute folders outside the home that get copies of the checkpoints
	Tasks          *controller.Settings // of the pipeline
	NoHookCalls    bool                 // calls of executors that a client's hooks report are not kept
	Retention      events.Retention     // how long events are kept
	Prior          trust.Prior          // of agents registered by this process
	Embedder       embedding.Embedder   // nil = search by words alone
	Embeddings     embedding.Options
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
	st, key, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	place, err := st.Place(ctx)
	if err != nil {
		key.Erase()
		return nil, errors.Join(err, st.Close())
	}
	n := &Node{ID: key.ID(), Home: c.Home, Store: st, tools: c.Tools, key: key, periods: c.Periods, checks: c.Checks,
		prior: c.Prior, mono: c.Monotonic, place: place,
		checkpointDirs: c.CheckpointDirs, durable: c.Durability != store.Relaxed, tasks: tasks, hookCalls: !c.NoHookCalls,
		retention: retention{of: c.Retention}}
	if n.periods == (agents.Periods{}) {
		n.periods = agents.DefaultPeriods()
	}
	if n.mono == nil {
		n.mono = bootClock
	}
	n.checks.Now = st.Clock().Now
	n.roles = roles.New(roleTasks{n}, roleAgents{n})
	n.Auth = access.New(st, n.authorizing(c.Access))
	if err := n.recheck(ctx); err != nil {
		return nil, errors.Join(err, n.Store.Close())
	}
	if c.Embedder != nil {
		n.Embeddings = memory.NewVectors(c.Embedder, c.Embeddings)
	}
	n.start(ctx)
	return n, nil
}

// open opens the database and loads the node's key. Clients wait for a process to start:
// its key is derived while the database opens.
func (c Config) open(ctx context.Context) (*store.Store, keys.Identity, error) {
	var key keys.Identity
	loaded := make(chan error, 1)
	go func() {
		var err error
		key, err = c.Home.nodeKey()
		loaded <- err
	}()
	st, err := store.Open(ctx, store.Options{Path: c.Home.Database(), URL: c.Database, Durability: c.Durability,
		Clock: c.Clock})
	if bad := <-loaded; bad != nil {
		if err == nil {
			st.Close() //nolint:errcheck // nothing was written
		}
		return nil, keys.Identity{}, bad
	}
	if err != nil {
		key.Erase()
	}
	return st, key, err
}

// authorizing gives the authorizer what it asks of the packages above it.
func (n *Node) authorizing(c access.Config) access.Config {
	c.Lifecycle = lifecycle{n}
	c.Seen = work.Seen
	c.Cooldown = n.periods.Cooldown
	c.BlindRole = controller.BlindRole
	if c.TiersOf == nil {
		c.TiersOf = trust.TiersOf
	}
	return c
}

// start starts the routines, which last until Close.
func (n *Node) start(ctx context.Context) {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	n.stop = stop
	n.CheckWait = checkWait
	n.background = func(f func(context.Context)) { n.routines.Go(func() { f(running) }) }
	n.background(n.Auth.Run)
	n.background(func(ctx context.Context) {
		tick := time.NewTicker(restAfter)
		defer tick.Stop()
		n.rest(ctx, tick.C)
	})
	n.background(n.runReaper)
	n.background(n.checkpoints)
	if n.Embeddings != nil {
		n.background(n.refreshEmbeddings)
	}
}

// recheck decides anew what an upgrade of the database left to decide.
func (n *Node) recheck(ctx context.Context) error {
	some := false
	if err := n.Look(ctx, "recheck", func(g access.Grant) (err error) {
		some, err = memory.ToRecheck(g)
		return err
	}); err != nil || !some {
		return err
	}
	return n.Routine(ctx, "recheck", func(g access.Grant) error { return memory.Recheck(g, n.tools) })
}

// Now is what the node's clock shows.
func (n *Node) Now() time.Time { return n.Store.Clock().Now() }

// Tools are the names of all operations: what capabilities may grant.
func (n *Node) Tools() []string { return n.tools }

// HookCalls reports whether calls of executors that a client's hooks report are kept.
func (n *Node) HookCalls() bool { return n.hookCalls }

// Tasks is what moves the tasks of the pipeline.
func (n *Node) Tasks() *controller.Controller { return n.tasks }

// Roles is what decides over the events of workspaces.
func (n *Node) Roles() *roles.Roles { return n.roles }

// CheckRoots are the folders that machine checks may look into.
func (n *Node) CheckRoots() []string { return n.checks.Roots }

// Called counts a call of an operation: a node without calls gives memory back.
func (n *Node) Called() { n.calls.Add(1) }

// Regularly calls f each time a period has passed, until the node is closed, and logs what
// fails.
func (n *Node) Regularly(every time.Duration, what string, f func(context.Context) error) {
	n.background(func(ctx context.Context) {
		regularly(ctx, every, func() {
			if err := f(ctx); err != nil && ctx.Err() == nil {
				slog.Warn(what, "err", err)
			}
		})
	})
}

// closeWait is how long the end of a process waits for a server's database: longer than a write waits for
// others, which then says so itself.
const closeWait = 12 * time.Second

// Close ends the routines, writes what is buffered and closes the database. Where a server does
// not answer it gives up what was not acknowledged.
func (n *Node) Close() error {
	n.stop()
	if n.Store.Path() == "" {
		defer time.AfterFunc(closeWait, n.giveUp).Stop()
	}
	n.routines.Wait()
	n.WriteRoleKeys()
	n.key.Erase()
	return n.Store.Close()
}

// giveUp ends the wait for a server that does not answer.
func (n *Node) giveUp() {
	slog.Warn("the database server does not answer: what this process had not yet written is given up, such as calls "+
		"under way, counts of calls and a checkpoint of the audit record", "waited", closeWait)
	n.Store.Drop()
}

// asNode is the identity of the node's own routines.
func asNode() access.Principal {
	return access.Principal{Entity: access.NodeEntity, Method: access.ByNode}
}

// Routine runs f as the node, in a write transaction, audited under name.
func (n *Node) Routine(ctx context.Context, name string, f func(access.Grant) error) error {
	return n.Auth.Do(ctx, asNode(), access.Op{Tool: name, Effect: access.Write}, f)
}

// Ping asks the database and says how long the answer took.
func (n *Node) Ping(ctx context.Context) (took time.Duration, err error) {
	err = n.Store.Read(ctx, func(tx *store.Tx) error {
		begun := time.Now()
		defer func() { took = time.Since(begun) }()
		var one int
		return tx.QueryRow(`SELECT 1`).Scan(&one)
	})
	return took, err
}

// Look runs f as the node on a snapshot.
func (n *Node) Look(ctx context.Context, name string, f func(access.Grant) error) error {
	return n.Auth.Do(ctx, asNode(), access.Op{Tool: name, Effect: access.Read}, f)
}
