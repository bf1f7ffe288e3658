package roles

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"cordelia/schemas"
)

// Event is what a role decides over (role seed §4.2).
type Event struct {
	ID        string            `json:"id"`
	Type      string            `json:"type"`
	Source    string            `json:"source"` // as its sender names it; By says who that was
	Domain    string            `json:"domain"`
	Payload   json.RawMessage   `json:"payload,omitempty" any:"true"`
	Timestamp string            `json:"timestamp"`
	Metadata  map[string]string `json:"metadata,omitempty"`

	By      schemas.EntityID       `json:"by"`                // who brought it; "node" for hooks and schedules
	Outside bool                   `json:"outside,omitempty"` // its payload comes from outside this node
	Secrecy schemas.Classification `json:"classification,omitempty"`
	Thread  string                 `json:"thread,omitempty"` // what it belongs to, as issue:12
	Names   string                 `json:"role,omitempty"`   // the role it is for
	Effect  string                 `json:"effect,omitempty"` // why it is an effect of our own, "" = it is none
	Depth   int                    `json:"depth,omitempty"`  // how many events in a row caused it
}

// Action is what a role decides (role seed §4.3).
type Action string

// The actions.
const (
	Delegate Action = "delegate"
	Escalate Action = "escalate"
	Forward  Action = "forward"
	Ignore   Action = "ignore"
)

// Word is the action as people and agents read it: an escalation that, approved, is done asks.
func (d Decision) Word() string { return word(d.Action, d.Approval) }

func word(a Action, approval bool) string {
	if a == Escalate && approval {
		return "ask"
	}
	return string(a)
}

// Watch says who looks at what a delegation leads to.
type Watch string

// The watches (role seed §4.8).
const (
	WatchReview Watch = "review" // a person approves it first
	WatchReport Watch = "report" // it is done, and reported
	WatchSilent Watch = "silent" // it is done, and logged
)

// Step is one thing that was looked at on the way to a decision.
type Step struct {
	Step string `json:"step"`
	Says string `json:"says"`
}

// Decision is what a role decides over an event (role seed §4.3).
type Decision struct {
	Role     string `json:"role"`
	Action   Action `json:"action"`
	Reason   string `json:"reason"`
	Operator string `json:"operator_id,omitempty"`
	Trigger  string `json:"trigger_id,omitempty"` // the action of its authority
	Target   string `json:"target_role_id,omitempty"`
	Approval bool   `json:"needs_approval,omitempty"` // an escalation that, approved, is done
	Watch    Watch  `json:"watch,omitempty"`
	Sandbox  bool   `json:"sandbox,omitempty"` // of a role in testing: nothing follows
	Withheld bool   `json:"withheld,omitempty"`
	Steps    []Step `json:"steps"`
}

// Used is what a role used today (UTC).
type Used struct {
	Tasks  int
	Tokens int64
	Money  float64 // US dollars
}

// Known is what a decision needs to know that is not in the world.
type Known struct {
	Trust func(m *Member, action string) (hundredths int)
	Used  func(m *Member) Used
	Wakes func(m *Member) int // by the event's thread, within the last hour
	// Refuses says why the pipeline takes no task of a recipe, "" if it does.
	Refuses func(m *Member, d Decision, recipe schemas.Recipe) string
}

// maxWakes is how often a thread wakes a role within an hour.
const maxWakes = 20

// Trust in hundredths, as everywhere (role seed §4.8).
const (
	trustStart  = 30
	reviewBelow = 30
	silentAbove = 70
)

// Handle is m's decision over an event: pure, and without a model. Its steps, in order:
// lifecycle, origin, wake rule, domain, thread, clearance, trigger, authority, capability trust,
// budget, recipe. The first step that decides ends it.
func (w *World) Handle(m *Member, e Event, k Known) Decision {
	d := Decision{Role: m.RoleID, Sandbox: m.State == schemas.RoleTesting}
	if !w.wakes(&d, m, e, k) {
		w.act(&d, m, e, k)
	}
	return d
}

// step records a step; its text is the reason of the decision, if no other step follows.
func (d *Decision) step(name, format string, args ...any) {
	d.Reason = fmt.Sprintf(format, args...)
	d.Steps = append(d.Steps, Step{name, d.Reason})
}

// end ends the decision with a step.
func (d *Decision) end(a Action, target, name, format string, args ...any) (decided bool) {
	d.step(name, format, args...)
	d.Action, d.Target = a, target
	return true
}

// wakes decides whether the event is for m and wakes it; decided is true if it does not.
func (w *World) wakes(d *Decision, m *Member, e Event, k Known) (decided bool) {
	if !m.State.Acts() {
		return d.end(Ignore, "", "lifecycle", "%s", m.standing())
	}
	d.step("lifecycle", "%s is %s", m.RoleID, m.State)
	if e.By == m.Agent {
		return d.end(Ignore, "", "origin", "it comes from %s itself", m.RoleID)
	}
	switch wake := cmp.Or(m.Wake, schemas.WakeAlways); {
	case wake == schemas.WakeNever:
		return d.end(Ignore, "", "wake", "no event wakes %s", m.RoleID)
	case wake == schemas.WakeNamed && e.Names != m.RoleID:
		return d.end(Ignore, "", "wake", "only an event that names %s wakes it", m.RoleID)
	}
	if !m.owns(e.Domain) {
		if other := w.otherOwner(m, e.Domain); other != nil {
			return d.end(Forward, other.RoleID, "domain", "%s belongs to %s", e.Domain, other.RoleID)
		}
		return d.end(Ignore, "", "domain", "%s", w.unowned(e.Domain))
	}
	d.step("domain", "%s is its own", e.Domain)
	if e.Thread != "" && k.Wakes(m) >= maxWakes {
		return d.end(Ignore, "", "thread", "%s woke it %d times within the hour", e.Thread, maxWakes)
	}
	return false
}

// act decides what m does with an event that woke it.
func (w *World) act(d *Decision, m *Member, e Event, k Known) (decided bool) {
	up := cmp.Or(m.ReportsTo, string(w.Workspace.Owner))
	if have := m.clearanceFor(e.Domain); rank(have) < rank(e.Secrecy) {
		d.Withheld = true
		return d.end(Escalate, up, "clearance", "the event is %s, and %s may be told what is %s", e.Secrecy, m.RoleID, have)
	}
	if d.Operator, d.Trigger = w.trigger(m, e.Type); d.Trigger == "" {
		if level, why := authorityOn(m.Authority, "", e.Type); level == forbidden {
			return d.end(Escalate, up, "authority", "%s", why)
		}
		return d.end(Escalate, up, "trigger", "no operator of %s is triggered by %s", m.RoleID, e.Type)
	}
	d.step("trigger", "%s triggers %s of %s", e.Type, d.Trigger, d.Operator)
	level, why := authorityOn(m.Authority, d.Trigger, e.Type)
	if d.Operator == directive && level != forbidden && e.By == w.Workspace.Owner {
		level, why = autonomous, "the owner directs it"
	}
	if level == forbidden {
		return d.end(Escalate, up, "authority", "%s", why)
	}
	d.step("authority", "%s", why)
	trust := k.Trust(m, d.Trigger)
	d.Watch = watchOf(trust)
	authorized := d.Reason
	d.step("trust", "%s is trusted %d/100 with %s: %s", m.RoleID, trust, d.Trigger, d.Watch)
	if why := m.over(k.Used(m)); why != "" {
		return d.end(Escalate, up, "budget", "%s", why)
	}
	if recipe := w.recipe(*d, e); recipe.Kind == schemas.AsTask {
		if why := k.Refuses(m, *d, recipe); why != "" {
			return d.end(Escalate, up, "recipe", "no task is made of it: %s", why)
		}
	}
	if level == needsApproval || d.Watch == WatchReview {
		if level == needsApproval {
			d.Reason = authorized
		}
		d.Approval, d.Action, d.Target = true, Escalate, up
		return true
	}
	d.Action = Delegate
	return true
}

// otherOwner is the first role beside m that owns a domain and acts, nil if there is none.
func (w *World) otherOwner(m *Member, domain string) *Member {
	for _, o := range w.Owners(domain) {
		if o != m && cmp.Or(o.Wake, schemas.WakeAlways) == schemas.WakeAlways {
			return o
		}
	}
	return nil
}

// clearanceFor is the highest classification that m may get of a domain: by its entry for the
// domain, else for *, else internal.
func (m *Member) clearanceFor(domain string) schemas.Classification {
	return cmp.Or(m.Clearance[domain], m.Clearance["*"], schemas.InternalInfo)
}

// rank orders classifications; an event that names none is internal.
func rank(c schemas.Classification) int {
	return slices.Index(schemas.Classifications(), cmp.Or(c, schemas.InternalInfo))
}

// over says which part of its budget m has used up today, "" if none.
func (m *Member) over(u Used) string {
	b := m.Budget
	switch {
	case b.Tasks > 0 && u.Tasks >= b.Tasks:
		return fmt.Sprintf("%s has used today's budget of %s", m.RoleID, schemas.Count(b.Tasks, "task", "tasks"))
	case b.Tokens > 0 && u.Tokens >= b.Tokens:
		return fmt.Sprintf("%s has used today's budget of %d tokens", m.RoleID, b.Tokens)
	case b.Money > 0 && u.Money >= b.Money:
		return fmt.Sprintf("%s has used today's budget of $%.2f", m.RoleID, b.Money)
	}
	return ""
}

// watchOf says who looks at what a role does that is trusted so far.
func watchOf(hundredths int) Watch {
	switch {
	case hundredths < reviewBelow:
		return WatchReview
	case hundredths > silentAbove:
		return WatchSilent
	}
	return WatchReport
}
