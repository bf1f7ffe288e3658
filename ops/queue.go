package ops

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"slices"
	"strings"
	"time"

	"cordelia/access"
	"cordelia/internal/keys"
	"cordelia/memory"
	"cordelia/pipeline/controller"
	"cordelia/run"
	"cordelia/schemas"
	"cordelia/work"
)

// Self is the agent that takes work, nil if a person has it taken: by agents of theirs.
func (s *Seats) Self() *run.Agent {
	if s.Person.Method == access.ByHuman {
		return nil
	}
	a := run.Agent{ID: s.Person.Entity, Name: schemas.ShortID(string(s.Person.Entity))}
	hand := s.Person
	hand.Apart = s.apart()
	s.hands.Store(a.ID, hand)
	return &a
}

// Hire registers an agent below the caller that takes work of the caller's groups, and with
// no more rights than that takes. It lives as long as one for a seat, or as all above it
// may: what it begins in the first half of that it can end. Its key is kept in memory alone.
func (s *Seats) Hire(ctx context.Context) (run.Agent, error) {
	h := seatAgent{name: "worker-" + schemas.NewID()[24:], display: "worker", life: seatLife,
		session: s.Person.Session}
	err := s.Node.Auth.Do(ctx, s.Person.Principal, access.Op{Tool: agentRegister.Name, Effect: access.Read},
		func(g access.Grant) error {
			list, err := memory.ListGroups(g)
			h.groups = []schemas.GroupID{}
			for _, one := range list {
				if !s.elsewhere(one.ID) {
					h.groups = append(h.groups, one.ID)
				}
			}
			for _, l := range g.Chain() {
				if caps, bounded := l.Boundary.Capabilities(); bounded && caps.TTLSeconds > 0 {
					h.life = min(h.life, int(caps.TTLSeconds))
				}
			}
			h.autonomous = !slices.ContainsFunc(g.Chain(), func(l access.ChainLink) bool {
				caps, bounded := l.Boundary.Capabilities()
				return bounded && !caps.Autonomous
			})
			return err
		})
	if err != nil {
		return run.Agent{}, err
	}
	wanted := []string{taskClaim.Name, taskReport.Name, taskStatus.Name, memorySearch.Name, memoryReadWarm.Name}
	allowed, err := s.Node.Auth.Tools(ctx, s.Person.Principal, wanted)
	if err != nil {
		return run.Agent{}, err
	}
	for _, tool := range wanted {
		if allowed[tool] {
			h.tools = append(h.tools, tool)
		}
	}
	began := time.Now()
	a, err := s.register(ctx, h)
	a.Renew = began.Add(time.Duration(h.life) * time.Second / 2)
	if code := schemas.CodeOf(err); code == schemas.CodeDenied {
		return a, schemas.Deniedf("no further agent can be registered for it: %v", err).
			Expecting("agent_register and a max_delegation_depth of 1 or more").
			Try("have it fill one seat at a time: --parallel 1")
	}
	return a, err
}

// Next waits for work that an agent may take, and claims it.
func (s *Seats) Next(ctx context.Context, a run.Agent, role string, wait time.Duration) (*work.Claimed, error) {
	hand, err := s.Hand(a)
	if err != nil {
		return nil, err
	}
	in := map[string]any{"lease_seconds": s.lease(), "wait_seconds": int(wait.Seconds())}
	if role != "" {
		in["role"] = role
	}
	out, err := ask[TaskClaimOut](ctx, s.Node, hand, taskClaim, in)
	return out.Work, err
}

// SeatOf gives the seat that an item is. It is the node's own doing: the holder of the lease
// need not see the task.
func (s *Seats) SeatOf(ctx context.Context, workID string) (v controller.View, one controller.SeatView, ok bool,
	err error) {
	err = s.Node.Look(ctx, "task_seat", func(g access.Grant) error {
		v, one, ok, err = controller.SeatOf(g, workID)
		return err
	})
	return v, one, ok, err
}

// elsewhere reports whether a group's tasks are about another repository than the worker's.
func (s *Seats) elsewhere(group schemas.GroupID) bool {
	return s.Repo != "" && strings.HasPrefix(string(group), runGroups) && group != RunGroup(s.Repo)
}

// seatAgent is an agent that fills seats.
type seatAgent struct {
	name, display string
	groups        []schemas.GroupID
	tools         []string
	life          int // seconds
	autonomous    bool
	session       string
}

// register registers an agent that fills seats. Its key is made here and kept in memory
// alone.
func (s *Seats) register(ctx context.Context, h seatAgent) (a run.Agent, err error) {
	identity, err := keys.NewIdentity(rand.Reader)
	if err != nil {
		return a, err
	}
	r := identity.Recipient(1)
	var nonce [32]byte
	rand.Read(nonce[:])
	pop := schemas.RegisterPoP{ParentID: s.Person.Entity, PublicKey: r.PublicKey, Nonce: nonce}
	text := base64.StdEncoding.EncodeToString
	scope := map[string]any{"layers": []string{"l2"}, "groups": h.groups, "visibility": []string{"group"}}
	out, err := ask[AgentRegisterOut](ctx, s.Node, s.Person, agentRegister, map[string]any{
		"agent_type": schemas.SwarmWorker, "name": h.name, "display_name": h.display, "groups": h.groups,
		"capabilities": map[string]any{"memory_read": scope, "memory_write": scope, "tools": h.tools,
			"max_parallel_ops": 4, "ttl_seconds": h.life, "autonomous": h.autonomous},
		"own_key": map[string]any{"public_key": text(r.PublicKey), "enc_public_key": text(r.EncPublicKey),
			"enc_binding": text(r.Binding),
			"nonce":       text(nonce[:]), "proof": text(identity.Sign(pop.SigningBytes()))}})
	if err != nil {
		return a, err
	}
	a = run.Agent{ID: out.AgentID, Name: out.Name}
	hand, err := s.Node.Caller(ctx, keys.File{EntityID: a.ID, Kind: keys.Agent, KeySeq: 1, Identity: identity},
		h.session)
	hand.Apart = s.apart()
	s.hands.Store(a.ID, hand)
	return a, err
}
