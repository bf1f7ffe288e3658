package swarm

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/schemas"
)

// Limits of manifests, in bytes and pieces.
const (
	maxGoal = 1000
	maxID   = 80 // cells add to it
	maxSlot = 30
	maxWork = 100 // items of all slots
)

// prefix begins the ids of all swarms.
const prefix = "swarm-"

// Plan is a checked manifest.
type Plan struct {
	manifest schemas.SwarmManifest
	addTo    schemas.GroupID // the swarm that is to grow, "" for a new one
	culture  memory.CulturePatch
	slots    []slot
	tools    []string
	day      string // in the ids it makes
}

// slot is a checked slot.
type slot struct {
	n           int // its place in the swarm; 0 until known, and for the coordinator's
	name        string
	kind        schemas.AgentType
	asked       string // of its capabilities, as JSON; what is left out is what the strategy needs
	declared    access.Declared
	count, made int // to make now, made before
	work        []string
}

// NewPlan checks a manifest before a transaction is taken for it; tools are the
// names of all there are. CodeInvalid lists every violation.
func NewPlan(m schemas.SwarmManifest, tools []string, day string) (*Plan, error) {
	p := &Plan{manifest: m, tools: tools, day: day}
	c := checker{}
	if m.GroupID != "" && m.SwarmID == "" {
		p.manifest.SwarmID = m.GroupID
	} else if m.GroupID != "" && m.GroupID != m.SwarmID {
		c.say("/group_id", "must be the same as swarm_id, or left out")
	}
	if id := string(p.manifest.SwarmID); id != "" && (!strings.HasPrefix(id, prefix) || len(id) > maxID ||
		strings.Contains(id, ".") || schemas.CheckGroupID(id) != nil) {
		c.say("/swarm_id", "must begin with %s and have at most %d characters of a-z 0-9 _ -", prefix, maxID)
	}
	if p.manifest.Goal = strings.TrimSpace(m.Goal); p.manifest.Goal == "" {
		c.say("/goal", "is missing: what the swarm is for")
	} else if len(p.manifest.Goal) > maxGoal {
		c.say("/goal", "has %d bytes, and at most %d are taken", len(p.manifest.Goal), maxGoal)
	}
	if m.Strategy == "" {
		c.say("/strategy", "is missing: one of %s", schemas.Joined(schemas.Strategies()))
	} else if !slices.Contains(schemas.Strategies(), m.Strategy) {
		c.say("/strategy", "must be one of %s", schemas.Joined(schemas.Strategies()))
	}
	if m.CoordinatorSlot != "" && m.CoordinatorAgentID != "" {
		c.say("/coordinator_agent_id", "cannot stand beside coordinator_slot")
	}
	if m.Strategy == schemas.Hierarchical && m.CoordinatorSlot == "" && m.CoordinatorAgentID == "" {
		c.say("/coordinator_slot", "is missing, as coordinator_agent_id is: who assigns the work?")
	}
	if m.Culture != nil {
		p.culture = memory.CulturePatch{TTL: m.Culture.TTLDefault}
		for _, f := range []struct {
			text string
			to   **string
		}{{m.Culture.BroadcastEagerness, &p.culture.Broadcast}, {m.Culture.NotificationPolicy, &p.culture.Notification},
			{m.Culture.DeparturePolicy, &p.culture.Departure}} {
			if f.text != "" {
				*f.to = &f.text
			}
		}
		c.found = append(c.found, memory.CheckSwarmCulture(p.culture)...)
	}
	p.readSlots(&c)
	p.checkLead(&c)
	return p, c.refusal("the swarm was not made", "swarm_create")
}

// checkLead checks that the coordinator's slot is one of one agent.
func (p *Plan) checkLead(c *checker) {
	if s := p.coordinator(); p.manifest.CoordinatorSlot != "" && (s == nil || s.count != 1) {
		c.say("/coordinator_slot", "must name a slot of one agent")
	}
}

// NewGrowth checks slots by which a swarm is to grow. lead names the one of them that
// replaces a coordinator that has ended, "" = none.
func NewGrowth(addTo schemas.GroupID, lead string, agents []schemas.SwarmSlot, tools []string) (*Plan, error) {
	p := &Plan{manifest: schemas.SwarmManifest{SwarmID: addTo, CoordinatorSlot: lead, Agents: agents}, addTo: addTo,
		tools: tools}
	c := checker{}
	p.readSlots(&c)
	p.checkLead(&c)
	return p, c.refusal("the swarm was not changed", "swarm_create")
}

// readSlots checks the slots. Default capabilities depend on the strategy, which is
// known later of a swarm that grows.
func (p *Plan) readSlots(c *checker) {
	if len(p.manifest.Agents) == 0 {
		c.say("/agents", "must have a slot")
	}
	total, work := 0, 0
	for i, a := range p.manifest.Agents {
		at := fmt.Sprintf("/agents/%d", i)
		s := slot{name: a.Slot, kind: a.AgentType, count: a.Count, work: a.Work}
		if !isSlot(a.Slot) {
			c.say(at+"/slot", "must have 1 to %d characters of a-z 0-9 -, and begin with a letter", maxSlot)
		}
		if slices.ContainsFunc(p.slots, func(o slot) bool { return o.name == s.name }) {
			c.say(at+"/slot", "%q is there twice; use count", a.Slot)
		}
		if s.count == 0 {
			s.count = 1
		}
		if s.count < 1 || s.count > schemas.MaxSwarmAgents {
			c.say(at+"/count", "must be 1 to %d", schemas.MaxSwarmAgents)
		}
		total += max(s.count, 0)
		if s.kind == "" {
			s.kind = schemas.SwarmWorker
		}
		if !slices.Contains(schemas.AgentTypes(), s.kind) {
			c.say(at+"/agent_type", "must be one of %s", schemas.Joined(schemas.AgentTypes()))
		}
		if len(a.Capabilities) > 0 {
			s.asked = string(a.Capabilities)
			if _, err := capabilities(s.asked, false, schemas.MaxSwarmAgents, p.tools); err != nil {
				c.below(at+"/capabilities", err)
			}
		}
		work += len(a.Work)
		p.slots = append(p.slots, s)
	}
	if total > schemas.MaxSwarmAgents {
		c.say("/agents", "are %d agents together, and a swarm has at most %d", total, schemas.MaxSwarmAgents)
	}
	if work > maxWork {
		c.say("/agents", "have %d work items together, and may begin with %d; task_submit takes more", work, maxWork)
	}
}

func isSlot(s string) bool {
	return s != "" && len(s) <= maxSlot && s[0] >= 'a' && s[0] <= 'z' &&
		strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// coordinator is the coordinator's slot, nil if there is none.
func (p *Plan) coordinator() *slot {
	for i := range p.slots {
		if p.manifest.CoordinatorSlot != "" && p.slots[i].name == p.manifest.CoordinatorSlot {
			return &p.slots[i]
		}
	}
	return nil
}

// Agents is how many agents the plan makes.
func (p *Plan) Agents() (n int) {
	for _, s := range p.slots {
		n += s.count
	}
	return n
}

// capabilities are what is asked for a slot, laid over what it gets if nothing is:
// its own context, the swarm's groups, public reading and the tools of its part.
// parallel is what the maker may hand down of operations at a time.
func capabilities(asked string, coordinates bool, parallel int, tools []string) (access.Declared, error) {
	names := []string{"memory_read_hot", "memory_write_hot", "memory_session", "memory_search", "memory_read_warm",
		"memory_write_warm",
		"events_poll", "events_subscribe", "task_claim", "task_report", "task_status", "swarm_status"}
	if coordinates {
		names = append(names, "memory_share", "task_submit", "task_cancel", "swarm_disband")
	}
	usual, err := json.Marshal(map[string]any{
		"memory_read":  map[string]any{"layers": []string{"l1", "l2"}, "visibility": []string{"group", "public"}},
		"memory_write": map[string]any{"layers": []string{"l1", "l2"}, "visibility": []string{"group"}},
		"tools":        names, "max_parallel_ops": min(parallelOps, parallel),
	})
	if err != nil {
		return access.Declared{}, err
	}
	return access.ParseOver(usual, []byte(asked), tools)
}

// parallelOps is how much an agent of a swarm does at a time: a lease or a wait, and
// calls beside it.
const parallelOps = 4

// checker collects violations.
type checker struct{ found []schemas.Violation }

func (c *checker) say(path, format string, args ...any) {
	c.found = append(c.found, schemas.Violation{Path: path, Msg: fmt.Sprintf(format, args...)})
}

// below takes over the violations of err, with paths below at.
func (c *checker) below(at string, err error) {
	for _, v := range violationsOf(err) {
		c.found = append(c.found, schemas.Violation{Path: at + v.Path, Msg: v.Msg})
	}
}

// violationsOf lists what err complains of.
func violationsOf(err error) []schemas.Violation {
	if e, ok := errors.AsType[*schemas.Error](err); ok {
		return e.Violations
	}
	return nil
}

func (c *checker) refusal(msg, tool string) error {
	if len(c.found) == 0 {
		return nil
	}
	return schemas.Invalidf("%s", msg).Try("correct what is listed and %s again", schemas.Do(tool)).With(c.found...)
}
