package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"cordelia/internal/machinecheck"
	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

type args = map[string]any

// house is a node with a person and the agents who fill the seats.
type house struct {
	node    *ops.Service
	files   string // where machine checks look
	person  ops.Caller
	lead    ops.Caller // submits
	planner ops.Caller // R2 and R4b
	doers   [2]ops.Caller
	judge   ops.Caller
	child   ops.Caller // below the first doer
	close   func() error
}

func newHouse(ctx context.Context, dir string) (h *house, err error) {
	h = &house{files: filepath.Join(dir, "files")}
	if err := os.Mkdir(h.files, 0o700); err != nil {
		return nil, err
	}
	h.node, err = ops.Open(ctx, node.Config{Home: node.Home(filepath.Join(dir, "home")), Durability: store.Relaxed,
		Checks: machinecheck.Env{Roots: []string{h.files}}})
	if err != nil {
		return nil, err
	}
	keyring := h.node.Keyring(nil)
	h.close = func() error { keyring.Close(); return h.node.Close() }
	if err = h.furnish(ctx, keyring); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

func (h *house) furnish(ctx context.Context, keyring *node.Keyring) (err error) {
	if _, err = h.node.Establish(ctx, "ann", nil, nil); err != nil {
		return err
	}
	h.person, err = h.node.Person(ctx, keyring, "")
	return err
}

// hire fills the seats of a trial with new agents below a new submitter: what one trial
// shows of an agent, or teaches, must not decide the next.
func (h *house) hire(ctx context.Context, trial string) (err error) {
	if h.lead, err = h.enrol(ctx, h.person, "lead-"+trial, 2, "agent_register", "task_submit", "task_claim",
		"task_report"); err != nil {
		return err
	}
	for name, who := range map[string]*ops.Caller{"planner": &h.planner, "second": &h.doers[1], "judge": &h.judge} {
		if *who, err = h.enrol(ctx, h.lead, name+"-"+trial, 0, "task_claim", "task_report"); err != nil {
			return err
		}
	}
	h.doers[0], err = h.enrol(ctx, h.lead, "doer-"+trial, 1, "agent_register", "task_claim", "task_report")
	if err != nil {
		return err
	}
	h.child, err = h.enrol(ctx, h.doers[0], "child-"+trial, 0, "task_claim", "task_report")
	return err
}

// enrol registers an agent below another or the person, which registers agents that many
// levels below itself.
func (h *house) enrol(ctx context.Context, below ops.Caller, name string, depth int,
	tools ...string) (c ops.Caller, err error) {
	scope := args{"layers": []string{"l1", "l2"}, "groups": []string{}, "visibility": []string{"private"}}
	if err := h.call(ctx, below, "agent_register", args{"agent_type": "claude-code", "display_name": name, "name": name,
		"capabilities": args{"memory_read": scope, "memory_write": scope, "autonomous": true, "max_parallel_ops": 4,
			"ttl_seconds":          0,
			"max_delegation_depth": depth, "tools": tools}}, nil); err != nil {
		return c, fmt.Errorf("register %s: %w", name, err)
	}
	key, err := h.node.OpenIdentity(ctx, name)
	if err != nil {
		return c, err
	}
	return h.node.Caller(ctx, key, name)
}

// call makes a call as a face would.
func (h *house) call(ctx context.Context, c ops.Caller, tool string, a args, into any) error {
	raw, err := json.Marshal(a)
	if err != nil {
		return err
	}
	out, err := ops.Find(tool).Call(ctx, h.node, c, raw)
	if err != nil || into == nil {
		return err
	}
	if raw, err = json.Marshal(out); err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// seat is what a claim gives.
type seat struct {
	WorkID string `json:"work_id"`
	Fence  int64  `json:"fence"`
	Brief  struct{ Criteria []string }
}

// claim takes a seat, nil if there is none.
func (h *house) claim(ctx context.Context, c ops.Caller, role schemas.PipelineRole) (*seat, error) {
	var out struct{ Work *seat }
	err := h.call(ctx, c, "task_claim", args{"role": role}, &out)
	return out.Work, err
}

// report says what became of a seat.
func (h *house) report(ctx context.Context, c ops.Caller, s *seat, outcome string, more args) error {
	a := args{"work_id": s.WorkID, "fence": s.Fence, "outcome": outcome}
	for k, v := range more {
		a[k] = v
	}
	return h.call(ctx, c, "task_report", a, nil)
}

// again makes a report that must not count; what the node answers shows that.
func (h *house) again(ctx context.Context, c ops.Caller, s *seat, more args) error {
	err := h.report(ctx, c, s, "done", more)
	if errors.Is(err, schemas.ErrConflict) || errors.Is(err, schemas.ErrNotFound) {
		return nil
	}
	if err == nil {
		return fmt.Errorf("a report that does not count was taken: %s", s.WorkID)
	}
	return err
}
