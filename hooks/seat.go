package hooks

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"cordelia/access"
	"cordelia/internal/keys"
	"cordelia/memory"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

// maxAnnounced is how many announced calls are remembered; the oldest goes first.
const maxAnnounced = 1000

// announced is who a call was announced for.
type announced struct {
	caller ops.Caller
	err    error
}

// seat is the agent a sub-agent of the client acts as.
type seat struct {
	mu     sync.Mutex // held while it is taken
	caller ops.Caller
	key    keys.Identity
	id     schemas.EntityID // "" until it is taken, and once it is left
}

// announce records the sub-agent for which the client is about to make a call. A new sub-agent is
// registered as an agent below the caller.
func (h *Hooks) announce(ctx context.Context, caller ops.Caller, in Input) {
	if in.ToolUseID == "" {
		return
	}
	who := announced{caller: caller}
	if in.AgentID != "" {
		who.caller, who.err = h.seatOf(ctx, caller, in)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, known := h.calls[in.ToolUseID]; !known {
		if len(h.order) == maxAnnounced {
			delete(h.calls, h.order[0])
			h.order = h.order[1:]
		}
		h.order = append(h.order, in.ToolUseID)
	}
	h.calls[in.ToolUseID] = who
}

// Caller is who makes the call that the client names toolUseID: the caller itself, or
// the agent of one of its sub-agents (INV-SEAT). Once a hook of any kind has
// asked, a call that was not announced is refused: it may be a sub-agent's. Where none
// has, the client runs no hooks, and all that it calls is the caller's.
func (h *Hooks) Caller(caller ops.Caller, toolUseID string) (ops.Caller, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if who, known := h.calls[toolUseID]; known {
		return who.caller, who.err
	}
	if h.live {
		return caller, schemas.Errorf(schemas.CodeUnauthenticated,
			"the client's hook did not say which of its agents makes this call").
			Try("make the call again; if it goes on, restart the client with its hooks on, or end the plugin")
	}
	return caller, nil
}

// seatOf gives the caller that the sub-agent acts as.
func (h *Hooks) seatOf(ctx context.Context, parent ops.Caller, in Input) (ops.Caller, error) {
	h.mu.Lock()
	s := h.seats[in.AgentID]
	if s == nil {
		s = &seat{}
		h.seats[in.AgentID] = s
	}
	h.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id == "" {
		if err := h.take(ctx, s, parent, in); err != nil {
			return ops.Caller{}, schemas.Deniedf("this sub-agent has no identity of its own: %v", err).
				Try("leave this call to the agent that started you, and tell it why")
		}
		return s.caller, nil
	}
	// A parent that has its sub-agents work is there.
	_, err := h.place(ctx, parent)
	return s.caller, err
}

// seatedAs is the agent that a sub-agent of the client acts as, "" if it has none.
func (h *Hooks) seatedAs(agent string) schemas.EntityID {
	h.mu.Lock()
	s := h.seats[agent]
	h.mu.Unlock()
	if s == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// take registers the sub-agent's agent: a worker in the group of the folder, with the
// usual rights and those to work.
func (h *Hooks) take(ctx context.Context, s *seat, parent ops.Caller, in Input) error {
	group, err := h.place(ctx, parent)
	if err != nil {
		return err
	}
	kind := in.AgentType
	if kind == "" {
		kind = "sub-agent"
	}
	args := map[string]any{"agent_type": schemas.SwarmWorker, "display_name": schemas.Shorten(inert(kind), 100)}
	if group != "" {
		args["groups"] = []schemas.GroupID{group}
	}
	if args["capabilities"], err = h.rights(ctx, parent, group); err != nil {
		return err
	}
	made, err := ops.Ask[ops.AgentRegisterOut](ctx, h.node, parent, toolRegister, args)
	if err != nil {
		return err
	}
	id := made.AgentID
	file, err := h.node.OpenIdentity(ctx, string(id))
	if err != nil {
		return err
	}
	caller, err := h.node.Caller(ctx, file, parent.Session+"/"+in.AgentID)
	if err != nil {
		return err
	}
	caller.Dir, caller.Within = parent.Dir, parent.Entity
	s.caller, s.key, s.id = caller, file.Identity, id
	h.mu.Lock()
	h.seated[id] = true
	h.mu.Unlock()
	return nil
}

// place is the group the parent works in, "" if none.
func (h *Hooks) place(ctx context.Context, parent ops.Caller) (group schemas.GroupID, err error) {
	err = h.node.Auth.Do(ctx, parent.Principal, access.Op{Tool: toolRegister, Effect: access.Read},
		func(g access.Grant) error {
			group, err = memory.BoundGroup(g, parent.Dir)
			return err
		})
	return group, err
}

// rights are what a worker in group, "" for none, usually has and what it takes to work,
// as far as the parent has these tools.
func (h *Hooks) rights(ctx context.Context, parent ops.Caller,
	group schemas.GroupID) (rights map[string]any, err error) {
	groups := []string{}
	if group != "" {
		groups = append(groups, string(group))
	}
	if err := json.Unmarshal(node.UsualCapabilities(schemas.SwarmWorker, groups), &rights); err != nil {
		return nil, fmt.Errorf("usual rights: %w", err)
	}
	wanted := append(node.UsualTools(), "task_status")
	allowed, err := h.node.Auth.Tools(ctx, parent.Principal, wanted)
	if err != nil {
		return nil, fmt.Errorf("tools of the parent: %w", err)
	}
	rights["tools"] = slices.DeleteFunc(wanted, func(name string) bool { return !allowed[name] })
	return rights, nil
}

// subagentStop reminds a sub-agent of a lease it holds, once; else its agent ends.
func (h *Hooks) subagentStop(ctx context.Context, parent ops.Caller, in Input) (Answer, error) {
	h.mu.Lock()
	s := h.seats[in.AgentID]
	h.mu.Unlock()
	if s == nil {
		return Answer{}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id == "" {
		return Answer{}, nil
	}
	if answer, err := h.stop(ctx, s.caller, in); err == nil && answer.Decision != "" {
		return answer, nil
	}
	if _, err := ops.Ask[ops.AgentMoveOut](ctx, h.node, parent, toolDeactivate,
		map[string]any{"agent": s.id, "reason": "its sub-agent has ended"}); err != nil {
		slog.Debug("the agent of a sub-agent ends with its time alone", "agent", s.id, "err", err)
	}
	s.key.Erase()
	s.key, s.caller, s.id = keys.Identity{}, ops.Caller{}, ""
	return Answer{}, nil
}
