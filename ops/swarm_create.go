package ops

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/internal/keys"
	"cordelia/schemas"
	"cordelia/swarm"
)

var swarmCreate = Define(Spec{
	Name: "swarm_create", Title: "Create a swarm", Toolset: Swarms, Effect: access.Write,
	SearchHint: "team workers parallel coordinate manifest spawn agents resize",
	Description: "Make agents that share a goal, a group and work (intents). pipeline: slots are stages. " +
		"hierarchical: a coordinator assigns. add_to lets a swarm grow; with coordinator_slot it replaces a " +
		"coordinator that ended.",
}, createSwarm)

type swarmCreateIn struct {
	AddTo              schemas.GroupID  `json:"add_to,omitempty" jsonschema:"swarm that grows"`
	SwarmID            schemas.GroupID  `json:"swarm_id,omitempty" jsonschema:"default from goal"`
	GroupID            schemas.GroupID  `json:"group_id,omitempty" jsonschema:"its group, default its id"`
	Goal               string           `json:"goal,omitempty" jsonschema:"what for"`
	Strategy           schemas.Strategy `json:"strategy,omitempty" enum:"broadcast,pipeline,hierarchical"`
	CoordinatorSlot    string           `json:"coordinator_slot,omitempty" jsonschema:"slot of the coordinator"`
	CoordinatorAgentID string           `json:"coordinator_agent_id,omitempty" jsonschema:"or an agent there is"`
	Agents             []swarmSlot      `json:"agents" jsonschema:"the slots"`
	Culture            json.RawMessage  `json:"culture,omitempty" jsonschema:"as in memory_group"`
	DryRun             bool             `json:"dry_run,omitempty" jsonschema:"only say what would be"`
}

type swarmSlot struct {
	Slot         string            `json:"slot" also:"name" jsonschema:"name"`
	AgentType    schemas.AgentType `json:"agent_type,omitempty" jsonschema:"default swarm-worker"`
	Capabilities json.RawMessage   `json:"capabilities,omitempty" like:"capabilities" jsonschema:"default: what the strategy needs"`
	Count        int               `json:"count,omitempty" jsonschema:"default 1"`
	Work         []string          `json:"work,omitempty" jsonschema:"intents"`
}

// SwarmCreateOut is the answer of swarm_create.
type SwarmCreateOut struct {
	SwarmID     schemas.GroupID     `json:"swarm_id"`
	Strategy    schemas.Strategy    `json:"strategy"`
	Coordinator schemas.EntityID    `json:"coordinator,omitempty"`
	Agents      []SwarmAgentOut     `json:"agents"`
	TaskID      string              `json:"task_id,omitempty"`
	DryRun      bool                `json:"dry_run,omitempty"`
	Refused     []schemas.Violation `json:"refused,omitempty"` // of a dry run
	Notes       []schemas.Hint      `json:"notes,omitempty"`
	Next        schemas.Hint        `json:"next"`

	grew bool
}

// SwarmAgentOut is one agent of it.
type SwarmAgentOut struct {
	Name  string           `json:"name"`
	ID    schemas.EntityID `json:"agent_id,omitempty"`
	Slot  string           `json:"slot"`
	Group schemas.GroupID  `json:"group,omitempty"` // its own, or its stage's
}

// Text says what was made.
func (o SwarmCreateOut) Text() string {
	agents := make([]string, len(o.Agents))
	for i, a := range o.Agents {
		agents[i] = a.Name
		if more := words(", ", when(a.Slot != "" && !strings.HasPrefix(a.Name, a.Slot), "%s", a.Slot), string(a.Group),
			when(a.ID != "" && a.ID == o.Coordinator, "coordinator")); more != "" {
			agents[i] += " (" + more + ")"
		}
	}
	did := "is made"
	if o.grew {
		did = "has grown"
	}
	if o.DryRun {
		did = "would be made" + when(len(o.Refused) > 0, ", but for %s",
			schemas.Count(len(o.Refused), "refusal", "refusals"))
	}
	list := []string{fmt.Sprintf("%s (%s) %s: %s", o.SwarmID, o.Strategy, did, strings.Join(agents, ", ")),
		when(o.TaskID != "", "its work is task %s", short(o.TaskID))}
	for _, v := range o.Refused {
		list = append(list, "- "+words(": ", schemas.FieldPath(v.Path), v.Msg))
	}
	return lines(append(list, hintLines(o.Notes), o.Next.String())...)
}

func createSwarm(ctx context.Context, c *Call, in swarmCreateIn) (SwarmCreateOut, error) {
	plan, err := in.plan(c)
	if err != nil {
		return SwarmCreateOut{}, err
	}
	if err := c.asMaker(ctx, in.AddTo); err != nil {
		return SwarmCreateOut{}, err
	}
	if in.DryRun {
		out, err := c.trySwarm(ctx, plan)
		out.Notes = append(out.Notes, in.idle()...)
		return out, err
	}
	var parent keys.Recipient
	if err := c.do(ctx, c.lookOp(), func(g access.Grant) (err error) {
		parent, err = agents.KeyOf(g, g.Actor())
		return err
	}); err != nil {
		return SwarmCreateOut{}, err
	}
	made, err := swarm.MakeKeys(plan.Agents(), parent)
	defer func() {
		for i := range made {
			made[i].Identity.Erase()
		}
	}()
	if err != nil {
		return SwarmCreateOut{}, fmt.Errorf("make keys: %w", err)
	}
	out, err := Transact(ctx, c, func(g access.Grant) (SwarmCreateOut, error) {
		m, err := swarm.Create(g, plan, made, c.Node.Enlist)
		out := swarmAnswer(m)
		out.Notes = append(out.Notes, in.idle()...)
		return out, err
	})
	if err != nil {
		return out, err
	}
	out.grew = in.AddTo != ""
	return c.keepKeys(ctx, out, made), nil
}

// idle names the stages of a pipeline that begins to work and has nothing for them:
// what comes before them would reach no agent.
func (in swarmCreateIn) idle() (notes []schemas.Hint) {
	begun := false
	for _, a := range in.Agents {
		begun = begun || len(a.Work) > 0
		if in.Strategy == schemas.InPipeline && begun && len(a.Work) == 0 && a.Slot != in.CoordinatorSlot {
			notes = append(notes, schemas.Hintf(
				"stage %s has no work yet: %s with group and an item of role %s; it begins once what the stage before "+
					"has by then is accepted", a.Slot, schemas.Tool("task_submit"), a.Slot))
		}
	}
	return notes
}

// asMaker lets who stands above the maker of a swarm add to it as the maker, whose
// the agents are, as it could by naming it.
func (c *Call) asMaker(ctx context.Context, id schemas.GroupID) error {
	if id == "" {
		return nil
	}
	return c.do(ctx, c.lookOp(), func(g access.Grant) error {
		maker, err := swarm.Maker(g, id)
		if err != nil || maker == g.Actor() {
			return err
		}
		below, err := g.Holds(maker)
		if below {
			c.As = string(maker)
		}
		return err
	})
}

// lookOp is the call as one that changes nothing.
func (c *Call) lookOp() access.Op {
	return access.Op{Tool: c.Op.Name, Effect: access.Read, As: c.As, InPerson: c.Op.InPerson}
}

// trySwarm says what the plan would come to.
func (c *Call) trySwarm(ctx context.Context, plan *swarm.Plan) (out SwarmCreateOut, err error) {
	err = c.do(ctx, c.lookOp(), func(g access.Grant) error {
		m, err := swarm.Try(g, plan)
		out = swarmAnswer(m)
		return err
	})
	out.DryRun, out.Next = true, schemas.Hintf("nothing was made; call again without dry_run")
	if len(out.Refused) > 0 {
		out.Next = schemas.Hintf("nothing was made; ask for less, or have your own rights widened")
	}
	return out, err
}

// plan checks the arguments.
func (in swarmCreateIn) plan(c *Call) (*swarm.Plan, error) {
	slots := make([]schemas.SwarmSlot, len(in.Agents))
	for i, a := range in.Agents {
		slots[i] = schemas.SwarmSlot(a)
	}
	if in.AddTo != "" {
		if in.SwarmID != "" || in.GroupID != "" || in.Goal != "" || in.Strategy != "" || in.CoordinatorAgentID != "" ||
			in.Culture != nil {
			return nil, schemas.Invalidf("add_to lets a swarm grow and changes nothing else of it").Expecting(
				"add_to and agents, and coordinator_slot to replace a coordinator that has ended").
				Try("leave the rest out, or leave add_to out to make a new swarm")
		}
		return swarm.NewGrowth(in.AddTo, in.CoordinatorSlot, slots, c.Node.Tools())
	}
	m := schemas.SwarmManifest{SwarmID: in.SwarmID, GroupID: in.GroupID, Goal: in.Goal, Strategy: in.Strategy,
		CoordinatorSlot: in.CoordinatorSlot, CoordinatorAgentID: in.CoordinatorAgentID, Agents: slots}
	if in.Culture != nil {
		m.Culture = &schemas.SwarmCulture{}
		if err := strictly(in.Culture, m.Culture); err != nil {
			return nil, schemas.Invalidf("the swarm was not made").Try("mend culture, or leave it out").With(
				schemas.Violation{Path: "/culture",
					Msg: "may have broadcast_eagerness, ttl_default, notification_policy and departure_policy"}).
				Because(
					err)
		}
	}
	return swarm.NewPlan(m, c.Node.Tools(), c.Node.Now().UTC().Format(time.DateOnly))
}

func strictly(raw json.RawMessage, to any) error {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

func swarmAnswer(m swarm.Made) SwarmCreateOut {
	out := SwarmCreateOut{SwarmID: m.ID, Strategy: m.Strategy, Coordinator: m.Coordinator, TaskID: m.Task,
		Refused: m.Refused, Agents: []SwarmAgentOut{}}
	for _, a := range m.Agents {
		out.Agents = append(out.Agents, SwarmAgentOut{Name: a.Name, ID: a.ID, Slot: a.Slot, Group: a.Cell})
	}
	if m.Twin != "" {
		out.Notes = append(out.Notes, schemas.Hintf("%s of yours runs already for this goal; if this call is a repeat of "+
			"that one, end one of the two with %s", m.Twin, schemas.Do("swarm_disband")))
	}
	if m.Parallel > 0 {
		out.Notes = append(out.Notes, schemas.Hintf(
			"you may do %d things at a time, so that many of these agents hold work or wait at once", m.Parallel))
	}
	return out
}

// keepKeys stores the keys of the agents on this machine, several at a time, and says
// what to do next. The swarm stands even if a file cannot be written.
func (c *Call) keepKeys(ctx context.Context, out SwarmCreateOut, made []swarm.Key) SwarmCreateOut {
	missing, refs := make([]bool, len(out.Agents)), make([]string, len(out.Agents))
	turn := make(chan struct{}, 8)
	var wg sync.WaitGroup
	for i, a := range out.Agents {
		wg.Go(func() {
			turn <- struct{}{}
			refs[i] = c.Node.RefOf(ctx, a.ID)
			_, kept := c.keepKey(ctx, made[i].Identity, a.ID, refs[i])
			missing[i] = !kept
			<-turn
		})
	}
	wg.Wait()
	out.Next = schemas.Hintf("Run each as its own process: cordelia mcp --as NAME; how they stand: %s",
		schemas.Tool("swarm_status", "swarm_id", out.SwarmID))
	var unclear []string
	for i, a := range out.Agents {
		if refs[i] != a.Name {
			unclear = append(unclear, a.Name+": "+refs[i])
		}
		if missing[i] {
			out.Notes = append(out.Notes, schemas.Hintf("the key of %s could not be stored here: cordelia key unwrap %s",
				a.Name, a.ID))
		}
	}
	if len(unclear) > 0 {
		out.Notes = append(out.Notes, schemas.Hintf(
			"by their names others may be meant; to --as and as give the ids: %s", strings.Join(unclear, ", ")))
	}
	return out
}
