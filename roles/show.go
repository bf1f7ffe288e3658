package roles

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Entry is a role in a list.
type Entry struct {
	Role      string             `json:"role"`
	Workspace string             `json:"workspace"`
	State     schemas.RoleStatus `json:"state"`
	Why       string             `json:"why,omitempty"`  // it is suspended
	Back      string             `json:"back,omitempty"` // what a person runs to let it act
	Domains   []string           `json:"domains,omitempty"`
	ReportsTo string             `json:"reports_to"`
	Parent    string             `json:"parent,omitempty"`
	Template  string             `json:"template,omitempty"`
	Agent     schemas.EntityID   `json:"agent_id"`
	Open      int                `json:"open"`    // delegations that are not over
	Today     int                `json:"today"`   // delegations of this day (UTC)
	Waiting   int                `json:"waiting"` // its questions that are not decided
}

// Detail is a role with its charter, how it stands, and what it decided last.
type Detail struct {
	Entry
	Soul            string                            `json:"soul"`
	Operators       []string                          `json:"operator_ids,omitempty"`
	Authority       schemas.Authority                 `json:"authority,omitzero"`
	Clearance       map[string]schemas.Classification `json:"clearance,omitempty"`
	Goals           []Goal                            `json:"goals,omitempty"`
	Trust           []Trusted                         `json:"trust,omitempty"`
	Budget          schemas.RoleBudget                `json:"budget,omitzero"`
	Wake            schemas.Wake                      `json:"wake"`
	TTL             string                            `json:"ttl,omitempty"`
	MemoryPolicy    schemas.MemoryPolicy              `json:"memory_policy"`
	Recommendations []Recommendation                  `json:"recommendations,omitempty"`
	Last            []Past                            `json:"last,omitempty"`
}

// Goal is an objective with how far it is.
type Goal struct {
	schemas.Objective
	Progress []float64 `json:"progress,omitempty"` // of each key result, 0–1
}

// Trusted is what a role is trusted with, and who looks.
type Trusted struct {
	Action     string `json:"action"`
	Hundredths int    `json:"hundredths"`
	Watch      Watch  `json:"watch"`
}

// Past is a decision that was made.
type Past struct {
	Event    string `json:"event"` // its type
	At       string `json:"at"`
	Action   Action `json:"action"`
	Approval bool   `json:"needs_approval,omitempty"`
	Reason   string `json:"reason"`
	Would    string `json:"would,omitempty"` // of a role in testing: what would have followed
}

// Word is the action as people and agents read it.
func (p Past) Word() string { return word(p.Action, p.Approval) }

// List lists the roles of the actor's workspaces, or of one.
func (r *Roles) List(g access.Grant, workspace string) (out []Entry, err error) {
	return out, r.each(g, workspace, func(w *World) error {
		for _, m := range w.Members {
			e, err := w.entry(g, m)
			if err != nil {
				return err
			}
			out = append(out, e)
		}
		return nil
	})
}

// Suspended lists the roles of the actor's workspaces that are suspended.
func (r *Roles) Suspended(g access.Grant) (out []Entry, err error) {
	return out, r.each(g, "", func(w *World) error {
		for _, m := range w.Members {
			if m.State == schemas.RoleSuspended {
				out = append(out, w.describe(m))
			}
		}
		return nil
	})
}

// each calls f with the workspace that is named, or with all of the actor's.
func (r *Roles) each(g access.Grant, workspace string, f func(*World) error) error {
	ids := []string{workspace}
	if workspace == "" {
		var err error
		if ids, err = Mine(g); err != nil {
			return err
		}
	}
	for _, id := range ids {
		w, err := r.World(g, id)
		if err == nil {
			err = f(w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// describe is a role in a list without what it has to do.
func (w *World) describe(m *Member) Entry {
	e := Entry{Role: m.RoleID, Workspace: w.Workspace.Workspace, State: m.State, Why: m.Why, Back: m.Back,
		Domains:   m.Domains,
		ReportsTo: cmp.Or(m.ReportsTo, string(w.Workspace.Owner)), Template: m.Template, Agent: m.Agent}
	if p := w.byAgent[m.Parent]; p != nil {
		e.Parent = p.RoleID
	}
	return e
}

func (w *World) entry(g access.Grant, m *Member) (Entry, error) {
	e := w.describe(m)
	day := g.Tx().Micros() - g.Tx().Micros()%dayMicros
	if err := g.Tx().QueryRow(selectTally, m.Agent, day).Scan(&e.Open, &e.Today, &e.Waiting); err != nil {
		return e, fmt.Errorf("read episodes: %w", err)
	}
	return e, nil
}

// dayMicros is a day.
const dayMicros = 24 * 3600 * 1_000_000

// Show gives one role. CodeNotFound if it is absent or hidden.
func (r *Roles) Show(g access.Grant, workspace, ref string) (d Detail, err error) {
	w, err := r.worldOf(g, workspace, ref)
	if err != nil {
		return d, err
	}
	m, err := w.role(ref)
	if err != nil {
		return d, err
	}
	if d.Entry, err = w.entry(g, m); err != nil {
		return d, err
	}
	d.Soul, d.Operators, d.Authority, d.Clearance, d.Budget = m.Soul, m.OperatorIDs, m.Authority, m.Clearance, m.Budget
	d.Wake, d.TTL, d.MemoryPolicy = cmp.Or(m.Wake, schemas.WakeAlways), m.TTL,
		cmp.Or(m.MemoryPolicy, schemas.ArchiveMemory)
	for _, o := range m.Goals {
		goal := Goal{Objective: o}
		for _, k := range o.KeyResults {
			goal.Progress = append(goal.Progress, k.Progress())
		}
		d.Goals = append(d.Goals, goal)
	}
	actions := slices.Concat(m.Authority.Autonomous, m.Authority.NeedsApproval)
	slices.Sort(actions)
	for _, a := range slices.Compact(actions) {
		n, err := w.trust(g, m, a)
		if err != nil {
			return d, err
		}
		d.Trust = append(d.Trust, Trusted{a, n, watchOf(n)})
	}
	if d.Recommendations, err = Recommendations(g, m.Agent); err != nil {
		return d, err
	}
	d.Last, err = past(g, selectPast, m.Agent, 10)
	return d, err
}

// Tested says what a role in testing would have done, the newest first.
func (r *Roles) Tested(g access.Grant, workspace, ref string) ([]Past, error) {
	w, err := r.worldOf(g, workspace, ref)
	if err != nil {
		return nil, err
	}
	m, err := w.role(ref)
	if err != nil {
		return nil, err
	}
	list, err := past(g, selectSandboxed, m.Agent, 100)
	if err != nil {
		return nil, err
	}
	return list, nil
}

func past(g access.Grant, query string, agent schemas.EntityID, limit int) ([]Past, error) {
	rows, err := g.Tx().Query(query, agent, limit)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (p Past, err error) {
		var event, decision, asked string
		var at int64
		if err := r.Scan(&event, &decision, &at, &asked); err != nil {
			return p, err
		}
		var e Event
		var d Decision
		if err := unmarshal(event, &e); err != nil {
			return p, err
		}
		if err := unmarshal(decision, &d); err != nil {
			return p, err
		}
		p = Past{Event: e.Type, At: events.Timestamp(at), Action: d.Action, Approval: d.Approval, Reason: d.Reason}
		if asked != "" { // what became of what it asked for
			p.Reason += "; " + asked
		}
		if d.Sandbox {
			p.Would = d.would()
		}
		return p, nil
	})
	if err != nil {
		return nil, fmt.Errorf("read decisions: %w", err)
	}
	return list, nil
}

// would says what follows from a decision of a role that is active.
func (d Decision) would() string {
	switch {
	case d.Action == Delegate:
		return fmt.Sprintf("%s by %s", d.Trigger, d.Operator)
	case d.Approval:
		return fmt.Sprintf("ask %s to approve %s", d.Target, d.Trigger)
	case d.Action == Escalate, d.Action == Forward:
		return string(d.Action) + " to " + d.Target
	}
	return "nothing"
}
