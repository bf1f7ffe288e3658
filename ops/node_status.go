package ops

import (
	"context"
	"time"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/memory"
	"cordelia/pipeline/controller"
	"cordelia/roles"
	"cordelia/schemas"
	"cordelia/swarm"
	"cordelia/work"
)

// NodeStatus is what runs below a person, what waits, and what it took.
type NodeStatus struct {
	Agents  AgentCounts        `json:"agents"`
	Roles   []roles.Entry      `json:"suspended_roles,omitempty"`
	Running []work.Status      `json:"running"` // items that an agent holds
	Tasks   []controller.Entry `json:"tasks"`   // that are not over
	Swarms  []swarm.Entry      `json:"swarms"`  // that run
	Waiting WaitingCounts      `json:"waiting"`
	Spent   work.Spent         `json:"last_24_hours"` // on work submitted in them
}

// AgentCounts is how many agents there are by their status.
type AgentCounts struct {
	Active    int         `json:"active"` // registered ones, which are yet to call, among them
	Suspended []Suspended `json:"suspended"`
}

// Suspended is an agent that may not call, with why.
type Suspended struct {
	Name   string `json:"name"`
	Reason string `json:"reason,omitempty"`
}

// WaitingCounts is how much waits for whom, each at most 100.
type WaitingCounts struct {
	Reviews int `json:"reviews"` // for the person
	Held    int `json:"held"`    // items that instruct agents, for the person's release
	Asking  int `json:"asking"`  // tasks with a question or a result for the person
	Ready   int `json:"ready"`   // items for an agent
	Blocked int `json:"blocked"` // items that agents gave up, for the person
}

// mostCounted bounds what one look counts.
const mostCounted = 100

// Status gives a person what runs, what waits and what it took.
func (s *Service) Status(ctx context.Context, person Caller) (out NodeStatus, err error) {
	op := access.Op{Tool: "status", Effect: access.Read, Human: true}
	err = s.Auth.Do(ctx, person.Principal, op, func(g access.Grant) error {
		out = NodeStatus{Running: []work.Status{}, Tasks: []controller.Entry{}, Swarms: []swarm.Entry{},
			Agents: AgentCounts{Suspended: []Suspended{}}}
		if err := out.agents(g); err != nil {
			return err
		}
		if out.Roles, err = s.Roles().Suspended(g); err != nil {
			return err
		}
		if err := out.work(g); err != nil {
			return err
		}
		swarms, err := swarm.List(g)
		if err != nil {
			return err
		}
		for _, s := range swarms {
			if s.EndedAt == "" {
				out.Swarms = append(out.Swarms, s)
			}
		}
		waiting, _, err := listFrom(g, reviewPlace{}, mostCounted, false)
		if err != nil {
			return err
		}
		out.Waiting.Reviews = len(waiting)
		held, err := memory.Held(g)
		if err != nil {
			return err
		}
		out.Waiting.Held = len(held)
		out.Spent, err = work.SpentSince(g, g.Tx().Now().Add(-24*time.Hour))
		return err
	})
	return out, err
}

func (s *NodeStatus) agents(g access.Grant) error {
	list, err := agents.List(g, agents.Filter{Status: schemas.Suspended, Limit: mostCounted})
	if err != nil {
		return err
	}
	for _, a := range list {
		s.Agents.Suspended = append(s.Agents.Suspended, Suspended{a.Name, a.StatusReason})
	}
	s.Agents.Active, err = agents.CountActive(g)
	return err
}

func (s *NodeStatus) work(g access.Grant) (err error) {
	if s.Running, err = work.List(g, work.Filter{State: schemas.WorkLeased, Limit: mostCounted}); err != nil {
		return err
	}
	if err := intents(g, s.Running); err != nil {
		return err
	}
	for state, n := range map[schemas.WorkState]*int{schemas.WorkReady: &s.Waiting.Ready,
		schemas.WorkBlocked: &s.Waiting.Blocked} {
		if *n, err = work.Count(g, state, mostCounted); err != nil {
			return err
		}
	}
	tasks, err := controller.List(g, controller.Filter{States: controller.Open(), Limit: mostCounted})
	if err != nil {
		return err
	}
	s.Tasks = append(s.Tasks, tasks...)
	asking, err := controller.List(g, controller.Filter{Limit: mostCounted,
		States: []schemas.TaskState{schemas.TaskClarifying, schemas.TaskReview}})
	s.Waiting.Asking = len(asking)
	return err
}
