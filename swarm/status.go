package swarm

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/schemas"
	"cordelia/trust"
)

// record is a swarm as stored. Times are UTC µs.
type record struct {
	id             schemas.GroupID
	goal           string
	strategy       schemas.Strategy
	creator        schemas.EntityID
	coordinator    schemas.EntityID
	created, ended int64
	answer         string
}

// load reads a swarm the actor is in, made, or stands above the maker of.
// CodeNotFound if there is none, or it is hidden.
func load(g access.Grant, id schemas.GroupID) (record, error) {
	if g.Tx() == nil {
		return record{}, access.ErrNoGrant
	}
	var s record
	err := g.Tx().QueryRow(selectSwarm, id, g.Actor()).Scan(&s.id, &s.goal, &s.strategy, &s.creator, &s.coordinator,
		&s.created, &s.ended, &s.answer)
	if errors.Is(err, store.ErrNoRows) {
		return s, schemas.NotFoundf("there is no swarm %s here", strconv.Quote(brief(string(id)))).
			Expecting("the id of a swarm you are in or made").Try("%s lists your swarms", schemas.Alone("swarm_status"))
	}
	if err != nil {
		return s, fmt.Errorf("read swarm: %w", err)
	}
	return s, nil
}

// Maker gives the entity that made a swarm the actor may see: agents that are added to the
// swarm become its children.
func Maker(g access.Grant, id schemas.GroupID) (schemas.EntityID, error) {
	s, err := load(g, id)
	return s.creator, err
}

func brief(s string) string {
	if len(s) > 80 {
		return s[:80]
	}
	return s
}

// merging are those whose derived items are the synthesis.
func (s record) merging() []schemas.EntityID {
	if s.coordinator == "" {
		return []schemas.EntityID{s.creator}
	}
	return []schemas.EntityID{s.coordinator, s.creator}
}

// runs reports whether the actor may see and end all of it: the coordinator, the creator, and
// entities above them.
func (s record) runs(g access.Grant) (bool, error) {
	if g.Actor() == s.coordinator {
		return true, nil
	}
	return g.Holds(s.creator)
}

// slotsOf lists the slots of a swarm.
func slotsOf(g access.Grant, id schemas.GroupID) ([]slot, error) {
	rows, err := g.Tx().Query(selectSlots, id)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (s slot, err error) {
		return s, r.Scan(&s.n, &s.name, &s.kind, &s.asked, &s.made)
	})
	if err != nil {
		return nil, fmt.Errorf("read slots: %w", err)
	}
	return list, nil
}

// groupsOf lists the groups of a swarm, its own first.
func groupsOf(g access.Grant, id schemas.GroupID) ([]schemas.GroupID, error) {
	rows, err := g.Tx().Query(selectCells, id)
	cells, err := store.Collect(rows, err, store.Column[schemas.GroupID])
	if err != nil {
		return nil, fmt.Errorf("read cells: %w", err)
	}
	return append([]schemas.GroupID{id}, cells...), nil
}

// Status is how a swarm stands. Numbers are of seconds where they end in _s.
type Status struct {
	SwarmID     schemas.GroupID  `json:"swarm_id"`
	Goal        string           `json:"goal"`
	Strategy    schemas.Strategy `json:"strategy"`
	Coordinator string           `json:"coordinator,omitempty"` // its name
	Age         int64            `json:"age_s"`
	EndedAt     string           `json:"ended_at,omitempty"`
	Slots       []SlotStatus     `json:"slots"`
	Work        []WorkCount      `json:"work"`
	Findings    int              `json:"findings"`
	// Unmerged counts the findings no synthesis was derived from; the ids are for who
	// runs the swarm.
	Unmerged    int              `json:"not_in_synthesis"`
	UnmergedIDs []schemas.ItemID `json:"not_in_synthesis_ids,omitempty"`
	JudgedWrong []schemas.ItemID `json:"judged_wrong,omitempty"` // of those, by the reader's view
	Budget      Budget           `json:"budget"`
}

// WorkCount is how many items of a swarm are in a state.
type WorkCount struct {
	State schemas.WorkState `json:"state"`
	Items int               `json:"items"`
}

// SlotStatus is a slot with its agents.
type SlotStatus struct {
	Slot   string        `json:"slot"`
	Agents []AgentStatus `json:"agents"`
}

// AgentStatus is an agent of a swarm. What is usual is left out: that it is active,
// and what only detail shows.
type AgentStatus struct {
	Name     string              `json:"name"`
	Status   schemas.AgentStatus `json:"status,omitempty"`
	Seen     *int64              `json:"seen_s,omitempty"`  // since its last sign of life; absent before the first
	Lease    *int64              `json:"lease_s,omitempty"` // left of the lease it has
	Progress *float64            `json:"progress,omitempty"`
	ID       schemas.EntityID    `json:"agent_id,omitempty"`
	Cell     schemas.GroupID     `json:"cell,omitempty"`
	WorkID   string              `json:"work_id,omitempty"`
}

// Budget is what is left of what the swarm may use.
type Budget struct {
	Agents   int   `json:"agents_left"`              // that could be added
	Parallel int   `json:"parallel_used"`            // of what its maker may do at a time
	Most     int   `json:"parallel_max,omitempty"`   // absent where nothing bounds it
	Expires  int64 `json:"first_expiry_s,omitempty"` // until the first of its agents ends
	living   int
}

// maxUnmerged is how many ids of findings a status lists.
const maxUnmerged = 20

// Show says how a swarm stands, to its members and those above its maker.
// CodeNotFound if there is none, or it is hidden.
func Show(g access.Grant, id schemas.GroupID, detail bool) (Status, error) {
	s, err := load(g, id)
	if err != nil {
		return Status{}, err
	}
	now := g.Tx().Micros()
	out := Status{SwarmID: s.id, Goal: s.goal, Strategy: s.strategy, Age: (now - s.created) / 1e6, Work: []WorkCount{},
		Slots: []SlotStatus{}}
	if s.ended != 0 {
		out.EndedAt = events.Timestamp(s.ended)
	}
	if s.coordinator != "" {
		if err := g.Tx().QueryRow(selectName, s.coordinator).Scan(&out.Coordinator); err != nil {
			return out, fmt.Errorf("read coordinator: %w", err)
		}
	}
	if err := out.agents(g, s, detail); err != nil {
		return out, err
	}
	runs, err := s.runs(g)
	if err != nil {
		return out, err
	}
	if detail && !runs {
		if err := out.narrow(g); err != nil {
			return out, err
		}
	}
	groups, err := groupsOf(g, s.id)
	if err != nil {
		return out, err
	}
	if err := out.work(g, groups); err != nil {
		return out, err
	}
	if err := out.findings(g, s, groups, runs); err != nil {
		return out, err
	}
	return out, out.budget(g, s)
}

// findings counts the findings of a swarm and those its synthesis leaves out, and lists those to
// an actor that runs the swarm.
func (out *Status) findings(g access.Grant, s record, groups []schemas.GroupID, runs bool) (err error) {
	if out.Findings, err = memory.CountFindings(g, groups, s.merging()); err != nil {
		return err
	}
	missing, err := memory.Unmerged(g, groups, s.merging(), "")
	if err != nil {
		return err
	}
	if out.Unmerged = len(missing); !runs {
		return nil
	}
	out.UnmergedIDs = missing[:min(len(missing), maxUnmerged)]
	words, err := memory.WordsOf(g, out.UnmergedIDs)
	if err != nil {
		return err
	}
	wrong, err := trust.JudgedWrong(g, words)
	if err != nil {
		return err
	}
	for _, id := range out.UnmergedIDs {
		if wrong[id] {
			out.JudgedWrong = append(out.JudgedWrong, id)
		}
	}
	return nil
}

// member is an agent of a swarm as it is read, times in UTC µs.
type member struct {
	AgentStatus
	n                    int // of its slot
	seen, expires, lease int64
}

// show gives what a status shows of m at a moment.
func (m member) show(now int64, detail bool) AgentStatus {
	if m.seen > 0 {
		m.Seen = new(max(0, (now-m.seen)/1e6))
	}
	if m.WorkID != "" {
		m.Lease = new(max(0, (m.lease-now)/1e6))
	}
	if m.Status == schemas.Active {
		m.Status = ""
	}
	if !detail {
		m.ID, m.Cell, m.WorkID = "", "", ""
	}
	return m.AgentStatus
}

// agents adds the slots with their agents, and counts those that have not ended.
func (out *Status) agents(g access.Grant, s record, detail bool) error {
	slots, err := slotsOf(g, s.id)
	if err != nil {
		return err
	}
	at := map[int]int{}
	for _, k := range slots {
		at[k.n] = len(out.Slots)
		out.Slots = append(out.Slots, SlotStatus{Slot: k.name, Agents: []AgentStatus{}})
	}
	now := g.Tx().Micros()
	rows, err := g.Tx().Query(selectAgents, s.id)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (m member, err error) {
		return m, r.Scan(&m.ID, &m.Name, &m.n, &m.Cell, &m.Status, &m.seen, &m.expires, &m.WorkID, &m.lease)
	})
	if err != nil {
		return fmt.Errorf("read agents: %w", err)
	}
	ids := make([]schemas.EntityID, len(list))
	for i, m := range list {
		ids[i] = m.ID
	}
	progress, err := memory.Progress(g, ids)
	if err != nil {
		return err
	}
	for _, m := range list {
		if p, ok := progress[m.ID]; ok {
			m.Progress = &p
		}
		if m.Status == schemas.Registered || m.Status == schemas.Active || m.Status == schemas.Suspended {
			if out.Budget.living++; m.expires > 0 {
				left := max(1, (m.expires-now)/1e6)
				if out.Budget.Expires == 0 || left < out.Budget.Expires {
					out.Budget.Expires = left
				}
			}
		}
		slot := &out.Slots[at[m.n]]
		slot.Agents = append(slot.Agents, m.show(now, detail))
	}
	return nil
}

// narrow leaves out of a status with detail what names things of cells that the
// actor does not see.
func (out *Status) narrow(g access.Grant) error {
	scope, err := g.ReadScope()
	if err != nil {
		return err
	}
	for _, slot := range out.Slots {
		for i := range slot.Agents {
			if a := &slot.Agents[i]; a.Cell != "" && !slices.Contains(scope.Groups, a.Cell) {
				a.Cell, a.WorkID = "", ""
			}
		}
	}
	return nil
}

func (out *Status) work(g access.Grant, groups []schemas.GroupID) error {
	rows, err := g.Tx().Query(countWork, store.List(groups))
	counts, err := store.Collect(rows, err, func(r *sql.Rows) (c WorkCount, err error) {
		return c, r.Scan(&c.State, &c.Items)
	})
	if err != nil {
		return fmt.Errorf("count work: %w", err)
	}
	out.Work = append(out.Work, counts...)
	return nil
}

func (out *Status) budget(g access.Grant, s record) error {
	if err := g.Tx().QueryRow(selectParallel, s.creator, g.Tx().Micros()).Scan(&out.Budget.Parallel,
		&out.Budget.Most); err != nil {
		return fmt.Errorf("read budget: %w", err)
	}
	if s.ended == 0 {
		out.Budget.Agents = schemas.MaxSwarmAgents - out.Budget.living
	}
	return nil
}

// slug is a goal as part of an id: its first words.
func slug(goal string) string {
	var words []string
	for _, w := range strings.FieldsFunc(strings.ToLower(goal),
		func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		if len(strings.Join(append(words, w), "-")) > maxSlug {
			break
		}
		words = append(words, w)
	}
	if len(words) == 0 {
		return "work"
	}
	return strings.Join(words, "-")
}

// maxSlug is the longest part of an id that is made of a goal.
const maxSlug = 32
