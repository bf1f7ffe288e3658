package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"cordelia/access"
	"cordelia/internal/machinecheck"
	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
	"cordelia/trust"
)

const (
	user  = "ann" // who stands above all agents
	group = "team"
)

// clock is moved by the run alone; the node's routines read it meanwhile.
type clock struct{ micros atomic.Int64 }

func (c *clock) Now() time.Time        { return time.UnixMicro(c.micros.Load()).UTC() }
func (c *clock) move(by time.Duration) { c.micros.Add(by.Microseconds()) }
func (c *clock) set(to time.Time)      { c.micros.Store(to.UnixMicro()) }

// house is a node with its user and the group that all agents share.
type house struct {
	node   *ops.Service
	clock  *clock
	files  string // what predictions are about
	person ops.Caller
	close  func() error
}

func newHouse(ctx context.Context, dir string, p policy) (h *house, err error) {
	h = &house{clock: &clock{}, files: filepath.Join(dir, "files")}
	h.clock.set(start)
	if err := os.Mkdir(h.files, 0o700); err != nil {
		return nil, err
	}
	h.node, err = ops.Open(ctx, node.Config{Home: node.Home(filepath.Join(dir, "home")), Durability: store.Relaxed,
		Clock:  h.clock,
		Checks: machinecheck.Env{Roots: []string{h.files}}, Access: access.Config{TiersOf: p.tiersOf()}})
	if err != nil {
		return nil, err
	}
	keyring := h.node.Keyring(nil)
	h.close = func() error { keyring.Close(); return h.node.Close() }
	if err = h.furnish(ctx, keyring); err != nil {
		err = errors.Join(err, h.close())
	}
	return h, err
}

func (h *house) furnish(ctx context.Context, keyring *node.Keyring) error {
	if _, err := h.node.Establish(ctx, user, nil, nil); err != nil {
		return err
	}
	var err error
	if h.person, err = h.node.Person(ctx, keyring, ""); err != nil {
		return err
	}
	_, err = h.call(ctx, h.person, "memory_group", args{"action": "create", "group": group,
		"culture": args{"departure_policy": "restrictive"}})
	return err
}

type args = map[string]any

// call makes a call as a face would, a second after the last one.
func (h *house) call(ctx context.Context, c ops.Caller, tool string, a args) (args, error) {
	h.clock.move(time.Second)
	raw, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	out, err := ops.Find(tool).Call(ctx, h.node, c, raw)
	if err != nil {
		return nil, err
	}
	if raw, err = json.Marshal(out); err != nil {
		return nil, err
	}
	var m args
	return m, json.Unmarshal(raw, &m)
}

// refused reports whether the caller may not: the outcome a demotion has.
func refused(err error) bool {
	return errors.Is(err, schemas.ErrDenied) || errors.Is(err, schemas.ErrNotFound) || errors.Is(err, errProposed) ||
		schemas.CodeOf(err) == schemas.CodeBusy // too many wait
}

// enrol registers an agent directly below the user and takes it into the group.
// Agents of one parent that is an agent are related: their words do not count for each
// other.
func (h *house) enrol(ctx context.Context, name string) (ops.Caller, error) {
	memory := args{"layers": []string{"l1", "l2"}, "groups": []string{group}}
	with := func(visibility ...string) args {
		m := maps.Clone(memory)
		m["visibility"] = visibility
		return m
	}
	if _, err := h.call(ctx, h.person, "agent_register",
		args{"agent_type": "claude-code", "display_name": name, "name": name, "groups": []string{group},
			"capabilities": args{"memory_read": with("private", "group"), "memory_write": with("private", "group"),
				"autonomous":       true,
				"max_parallel_ops": 4, "ttl_seconds": 0, "tools": []string{"memory_write_warm", "memory_search",
					"memory_read_warm", "trust_assess"}}}); err != nil {
		return ops.Caller{}, fmt.Errorf("register %s: %w", name, err)
	}
	key, err := h.node.OpenIdentity(ctx, name)
	if err != nil {
		return ops.Caller{}, err
	}
	return h.node.Caller(ctx, key, name)
}

// write remembers text, in the group if it is for all.
func (h *house) write(ctx context.Context, c ops.Caller, session, text string, more args) (schemas.ItemID, error) {
	data := args{"type": "insight", "content": text, "source_session": session}
	a := args{"type": "learning", "data": data}
	if more == nil {
		a["group"] = group
	}
	maps.Copy(data, more)
	out, err := h.call(ctx, c, "memory_write_warm", a)
	if err != nil {
		return "", err
	}
	if out["proposal"] != nil {
		return "", errProposed
	}
	return schemas.ItemID(out["id"].(string)), nil
}

// errProposed is the result of a Low agent's write: here proposals are never decided.
var errProposed = errors.New("the write waits for review")

// search gives the ids of the best hits of the group.
func (h *house) search(ctx context.Context, c ops.Caller, query string) ([]schemas.ItemID, error) {
	out, err := h.call(ctx, c, "memory_search", args{"query": query, "group": group, "limit": topHits})
	if err != nil {
		return nil, err
	}
	var ids []schemas.ItemID
	for _, r := range out["results"].([]any) {
		ids = append(ids, schemas.ItemID(r.(args)["id"].(string)))
	}
	return ids, nil
}

// standing is how an agent stands with the user under a policy, and how many
// verdicts there were about it.
type standing struct {
	accuracy float64
	tier     schemas.Tier
	last     bool // what it wrote comes last in a search, or it is below Medium
	verdicts int
}

func (h *house) standing(ctx context.Context, p policy, agent schemas.EntityID) (s standing, err error) {
	err = h.node.Store.Read(ctx, func(tx *store.Tx) error {
		if err := tx.QueryRow(countVerdicts, agent).Scan(&s.verdicts); err != nil {
			return err
		}
		if p.accuracy == nil {
			books, err := trust.TiersOf(tx, agent)
			for _, b := range books {
				s.last = s.last || b.From == 0 && below(b.Ranks)
			}
			return err
		}
		rights, err := p.verdictsOn(tx, agent)
		if err == nil {
			s.accuracy = p.accuracy(rights)
			s.tier = tierOf(s.accuracy)
			s.last = below(s.tier)
		}
		return err
	})
	if err != nil || p.accuracy != nil {
		return s, err
	}
	out, err := h.call(ctx, h.person, "trust_score", args{"agent": string(agent)})
	if err == nil {
		s.accuracy, s.tier = out["accuracy"].(float64), schemas.Tier(out["tier"].(string))
		s.last = s.last || below(s.tier)
	}
	return s, err
}

// below reports a tier below Medium.
func below(t schemas.Tier) bool { return t == schemas.Untrusted || t == schemas.Low }
