package ops

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/schemas"
	"cordelia/trust"
)

// What explains an agent to the person above it. These are no tools: they name agents above
// the one that is asked about, and who judged it.

// ExplainedRight is a right that an agent or an ancestor of it declares, with the entity that
// denies it.
type ExplainedRight struct {
	What     string `json:"what"`
	Declared bool   `json:"declared"`         // by the agent itself
	Denied   []Wall `json:"denied,omitempty"` // none = it may
}

// Wall is an agent of a chain that does not allow something.
type Wall struct {
	Agent string `json:"agent"` // its name
	Why   string `json:"why"`
}

// AgentRights is what an agent may, and why.
type AgentRights struct {
	Chain  []schemas.Agent  `json:"chain"` // the person's own child first, the agent last
	Rights []ExplainedRight `json:"rights"`
}

// AgentRights says of each thing that an agent or one above it declares whether the agent
// may do it, and who takes it away. The rule is access.Evaluate, which decides each call.
func (s *Service) AgentRights(ctx context.Context, person Caller, agent string) (out AgentRights, err error) {
	op := access.Op{Tool: "agent_rights", Effect: access.Read, Human: true}
	err = s.Auth.Do(ctx, person.Principal, op, func(g access.Grant) error {
		out = AgentRights{Chain: []schemas.Agent{}, Rights: []ExplainedRight{}}
		id, err := g.Resolve(agent)
		if err != nil {
			return err
		}
		if below, err := g.Holds(id); err != nil || !below || id == g.Actor() {
			return cmp.Or(err, access.NotKnown(agent))
		}
		chain, err := g.ChainOf(id)
		if err != nil {
			return err
		}
		if last := &chain[len(chain)-1]; last.Status == schemas.Registered {
			last.Status = schemas.Active // as its first call makes it
		}
		names := map[schemas.EntityID]string{}
		for _, link := range chain[1:] {
			who, err := g.Profile(link.ID)
			if err != nil {
				return err
			}
			out.Chain, names[link.ID] = append(out.Chain, who), who.Name
		}
		self := out.Chain[len(out.Chain)-1]
		member, err := g.MembershipsOf(id)
		if err != nil {
			return err
		}
		for _, asked := range askable(chain, member) {
			owner := cmp.Or(asked.in.Owner, g.Root())
			tier, whose, err := g.TierOf(id, owner)
			if err != nil {
				return err
			}
			r := ExplainedRight{What: asked.what, Declared: true, Denied: wallsOf(self, tier, names[whose], asked)}
			for _, d := range access.Evaluate(chain, asked.op, g.Tx().Micros()) {
				r.Denied = append(r.Denied, Wall{names[d.ID], denialWords(d, asked.op)})
				r.Declared = r.Declared && d.ID != id
			}
			out.Rights = append(out.Rights, r)
		}
		return nil
	})
	return out, err
}

// wallsOf is what the group, and then the scoping matrix, takes from an agent: by its tier, or by what
// its type may never do. whose is the agent that the tier is of.
func wallsOf(self schemas.Agent, tier schemas.Tier, whose string, asked askedRight) []Wall {
	op := asked.op
	switch {
	case op.Visibility == schemas.Group && asked.in.Role == "":
		return []Wall{{self.Name, "is no member of it"}}
	case op.Kind == access.KindWrite && asked.in.Role == access.RoleViewer:
		return []Wall{{self.Name, "is a viewer there, who only reads"}}
	case op.Kind == access.KindWrite && asked.in.Shut != "":
		return []Wall{{"", "the group " + asked.in.Shut}}
	case allowsAt(tier, self, op):
		return nil
	case allowsAt(schemas.Medium, self, op):
		return []Wall{{whose, "is of tier " + string(tier)}}
	}
	return []Wall{{self.Name, fmt.Sprintf("is of type %s, which may not %s that", self.AgentType, op.Kind)}}
}

// askedRight is an operation, in words.
type askedRight struct {
	what string
	op   access.Operation
	in   access.Membership // of the agent, if op is on a group
}

// askable lists the rights that an entity of a chain declares: each tool, and each place of
// memory to read from and write to. A group is one that is declared by its name, or that the agent is
// a member of: a pattern with a star is no place.
func askable(chain []access.ChainLink, member []access.Membership) (list []askedRight) {
	var tools []string
	places := map[access.Kind]map[string]access.Operation{access.KindRead: {}, access.KindWrite: {}}
	in := map[schemas.GroupID]access.Membership{}
	for _, m := range member {
		in[m.Group] = m
	}
	add := func(kind access.Kind, group schemas.GroupID) {
		places[kind]["group "+string(group)] = access.Operation{Layer: schemas.L2, Visibility: schemas.Group,
			Group: group, GroupKind: in[group].Kind, Role: in[group].Role}
	}
	for _, m := range member {
		add(access.KindRead, m.Group)
		add(access.KindWrite, m.Group)
	}
	for _, link := range chain {
		caps, ok := link.Boundary.Capabilities()
		if !ok {
			continue
		}
		tools = append(tools, caps.Tools...)
		for kind, scope := range map[access.Kind]schemas.MemoryScope{access.KindRead: caps.MemoryRead,
			access.KindWrite: caps.MemoryWrite} {
			for _, group := range scope.Groups {
				if !strings.Contains(group, "*") {
					add(kind, schemas.GroupID(group))
				}
			}
			if slices.Contains(scope.Layers, schemas.L1) {
				places[kind]["contexts (L1) of others"] = access.Operation{Layer: schemas.L1}
			}
			for _, v := range scope.Visibility {
				if v != schemas.Group {
					places[kind][string(v)+" items of others"] = access.Operation{Layer: schemas.L2, Visibility: v}
				}
			}
		}
	}
	slices.Sort(tools)
	for _, tool := range slices.Compact(tools) {
		list = append(list, askedRight{what: "call " + tool, op: access.Operation{Tool: tool}})
	}
	for _, kind := range []access.Kind{access.KindRead, access.KindWrite} {
		tool := memorySearch.Name
		if kind == access.KindWrite {
			tool = memoryWriteWarm.Name
		}
		for _, place := range slices.Sorted(maps.Keys(places[kind])) {
			op := places[kind][place]
			op.Tool, op.Kind = tool, kind
			list = append(list, askedRight{string(kind) + " " + place, op, in[op.Group]})
		}
	}
	return list
}

// allowsAt reports whether the scoping matrix allows an agent an operation at a tier. It asks of
// memory alone.
func allowsAt(t schemas.Tier, self schemas.Agent, op access.Operation) bool {
	return op.Layer == "" || access.MatrixAllows(access.RowFor(self.AgentType, t), t,
		access.Question{Operation: op, Grants: self.Grants})
}

// denialWords says why an entity of a chain denies an operation.
func denialWords(d access.Denial, op access.Operation) string {
	switch d.Reason {
	case access.DeniedTool:
		return "does not hold the tool " + op.Tool
	case access.DeniedNotActive:
		return "is " + string(d.Status)
	case access.DeniedExpired:
		return "has expired"
	}
	return cmp.Or(d.MayNot(op), "has no person above it")
}

// TaskLessons lists the lessons that a task left.
func (s *Service) TaskLessons(ctx context.Context, person Caller, task string) (list []memory.Item, err error) {
	op := access.Op{Tool: memorySearch.Name, Effect: access.Read, Human: true}
	err = s.Auth.Do(ctx, person.Principal, op, func(g access.Grant) error {
		list, err = memory.LessonsOfTask(g, task)
		return err
	})
	return list, err
}

// ScoreHistory says how an agent's score came about, verdict by verdict, oldest first; at
// most the newest limit.
func (s *Service) ScoreHistory(ctx context.Context, person Caller, agent string, limit int) (list []JudgedOnce,
	err error) {
	op := access.Op{Tool: "trust_history", Effect: access.Read, Human: true, InPerson: true}
	err = s.Auth.Do(ctx, person.Principal, op, func(g access.Grant) error {
		counted, err := trust.History(g, agent, limit)
		if err != nil {
			return err
		}
		list = make([]JudgedOnce, len(counted))
		for i, c := range counted {
			list[i] = JudgedOnce{Counted: c, By: g.NameOf(c.Witness)}
			if items, err := memory.Get(g, []schemas.ItemID{c.Item}); err == nil {
				list[i].Name = items[0].Name
			}
		}
		return nil
	})
	return list, err
}

// JudgedOnce is a verdict with the name of the entity that gave it.
type JudgedOnce struct {
	trust.Counted
	By   string `json:"by"`
	Name string `json:"item_name,omitempty"` // of what it is about, if that is still there
}
