package roles

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Tasks is what roles ask of the pipeline.
type Tasks interface {
	// SubmitFor begins a task in the name of a person; the node calls it.
	SubmitFor(g access.Grant, on schemas.EntityID, r TaskRequest) (taskID string, err error)
	// Check says why the pipeline would refuse a task; CodeInvalid.
	Check(r TaskRequest) error
}

// TaskRequest is a task that a delegation becomes.
type TaskRequest struct {
	Request  string
	Tools    []string
	Budget   time.Duration
	Deadline int64 // UTC µs, 0 = none
	Hold     bool
}

// Agents is what roles ask of the node about the agents behind them.
type Agents interface {
	// Enroll makes an agent below parent, with its key on this machine.
	Enroll(g access.Grant, parent schemas.EntityID, r agents.Registration) (agents.Record, error)
	// Move makes a lifecycle move with all that belongs to it.
	Move(g access.Grant, agent schemas.EntityID, on schemas.Trigger, reason string) error
	// Tools are the names of all operations.
	Tools() []string
}

// Roles decides over events and does what follows. Make it with New.
type Roles struct {
	tasks  Tasks
	agents Agents
	worlds sync.Map // workspace → *kept
}

// New joins roles to what they need.
func New(t Tasks, a Agents) *Roles { return &Roles{tasks: t, agents: a} }

// kept is a world with what it was read at.
type kept struct {
	version, epoch int64
	world          *World
}

// absent is the one answer for a workspace that is absent and one that is hidden.
func absent(ref string) error {
	if ref == "" {
		return schemas.NotFoundf("you have no workspace").Try("a person makes one: cordelia role apply FILE")
	}
	return schemas.NotFoundf("there is no workspace %q here", schemas.Shorten(ref, 64)).
		Expecting("a workspace of yours").Try("%s shows them; a person makes one: cordelia role apply FILE",
		schemas.Tool("role_list"))
}

// Mine lists the workspaces the actor may see: for a role its own, for any other actor those of
// the person above it.
func Mine(g access.Grant) ([]string, error) {
	if g.Tx() == nil {
		return nil, access.ErrNoGrant
	}
	rows, err := g.Tx().Query(selectMine, g.Root(), g.Actor())
	ids, err := store.Collect(rows, err, store.Column[string])
	if err != nil {
		return nil, fmt.Errorf("read workspaces: %w", err)
	}
	return ids, nil
}

// IsRole reports whether the actor is a role.
func IsRole(g access.Grant) (bool, error) {
	return areRoles.Of(g, g.Actor(), func() (is bool, err error) {
		if err = g.Tx().QueryRow(selectIsRole, g.Actor()).Scan(&is); err != nil {
			err = fmt.Errorf("read role: %w", err)
		}
		return is, err
	})
}

// areRoles says of agents whether they are roles: an agent is registered as one, and
// deactivated when it ends as one.
var areRoles access.Fact[schemas.EntityID, bool]

// Any reports whether the actor has a workspace at all: its tools are offered only then.
func Any(g access.Grant) (bool, error) {
	ids, err := Mine(g)
	return len(ids) > 0, err
}

// World reads the workspace that the actor means by ref, "" for its only one. CodeNotFound
// if it is absent or hidden.
func (r *Roles) World(g access.Grant, ref string) (*World, error) {
	if g.IsNode() {
		return r.load(g, ref)
	}
	mine, err := Mine(g)
	if err != nil {
		return nil, err
	}
	if ref == "" && len(mine) > 1 {
		return nil, several(len(mine), mine)
	}
	for _, id := range mine {
		if ref == "" || id == ref {
			return r.load(g, id)
		}
	}
	return nil, absent(ref)
}

// several asks which workspace is meant, of those that may be.
func several(n int, which []string) error {
	return schemas.Invalidf("you have %d workspaces", n).With(schemas.Violation{
		Path: schemas.Pointer("workspace"), Msg: "must be one of " + strings.Join(which, ", ")}).
		Try("repeat the call with one of them")
}

func idsOfWorlds(list []*World) (ids []string) {
	for _, w := range list {
		ids = append(ids, w.Workspace.Workspace)
	}
	return ids
}

// worldWith is World where the actor named none of several: the only one that one of these reports to be
// meant, the first of them that reports any.
func (r *Roles) worldWith(g access.Grant, ref string, meant ...func(*World) bool) (*World, error) {
	if ref != "" || g.IsNode() {
		return r.World(g, ref)
	}
	mine, err := Mine(g)
	if err != nil || len(mine) < 2 {
		return r.World(g, ref)
	}
	for _, is := range meant {
		found, err := r.worldsThat(g, mine, is)
		switch {
		case err != nil:
			return nil, err
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return nil, several(len(mine), idsOfWorlds(found))
		}
	}
	return r.World(g, ref)
}

// worldsThat are those of these workspaces that are meant.
func (r *Roles) worldsThat(g access.Grant, ids []string, is func(*World) bool) (found []*World, err error) {
	for _, id := range ids {
		w, err := r.load(g, id)
		if err != nil {
			return nil, err
		}
		if is(w) {
			found = append(found, w)
		}
	}
	return found, nil
}

// worldOf is World of a role, or of its owner, found by the role where the actor named none of
// several. CodeNotFound where the role is in another, which it names, or in none.
func (r *Roles) worldOf(g access.Grant, ref, role string) (*World, error) {
	has := func(w *World) bool { return w.Of(role) != nil }
	w, err := r.worldWith(g, ref, has)
	if g.IsNode() || role == "" || role == string(g.Root()) || err == nil && has(w) ||
		errors.Is(err, schemas.ErrNotFound) {
		return w, err
	}
	mine, failed := Mine(g)
	if failed != nil || len(mine) < 2 {
		return w, cmp.Or(failed, err)
	}
	elsewhere, failed := r.worldsThat(g, mine, has)
	switch {
	case failed != nil:
		return nil, failed
	case err == nil && len(elsewhere) > 0:
		there := idsOfWorlds(elsewhere)
		return nil, schemas.NotFoundf("there is no role %q in %s, but in %s", schemas.Shorten(role, 64),
			w.Workspace.Workspace, strings.Join(there, ", ")).
			Try("leave the workspace out, or name %s", there[0])
	case err != nil && len(elsewhere) == 0:
		all, failed := r.worldsThat(g, mine, func(*World) bool { return true })
		return nil, cmp.Or(failed, noRole(all, role))
	}
	return w, err
}

// load reads a workspace, from what is kept of it as long as nothing of it moved.
func (r *Roles) load(g access.Grant, id string) (*World, error) {
	var at kept
	err := g.Tx().QueryRow(selectVersion, id).Scan(&at.version)
	if errors.Is(err, store.ErrNoRows) {
		return nil, absent(id)
	}
	if err != nil {
		return nil, fmt.Errorf("read workspace: %w", err)
	}
	if at.epoch, err = access.Epoch(g.Tx()); err != nil {
		return nil, err
	}
	if before, ok := r.worlds.Load(id); ok {
		if k := before.(kept); k.version == at.version && k.epoch == at.epoch {
			return k.world, nil
		}
	}
	if at.world, err = read(g.Tx(), id); err == nil && !g.Tx().Writable() {
		r.worlds.Store(id, at) // what a transaction wrote may never be committed
	} else if err == nil {
		g.Tx().AfterCommit(func() { r.worlds.Store(id, at) })
	}
	return at.world, err
}

// read reads a workspace with its roles.
func read(tx *store.Tx, id string) (*World, error) {
	var spec string
	if err := tx.QueryRow(selectWorkspace, id).Scan(&spec); err != nil {
		return nil, fmt.Errorf("read workspace: %w", err)
	}
	var w schemas.Workspace
	if err := json.Unmarshal([]byte(spec), &w); err != nil {
		return nil, fmt.Errorf("workspace %s: %w", id, err)
	}
	rows, err := tx.Query(selectRoles, id)
	members, err := store.Collect(rows, err, func(r *sql.Rows) (*Member, error) {
		m := &Member{}
		var charter, why, agentWhy string
		if err := r.Scan(&m.Agent, &charter, &m.Own, &m.Parent, &m.Template, &m.Created, &why, &m.AgentIs,
			&agentWhy); err != nil {
			return m, err
		}
		err := json.Unmarshal([]byte(charter), &m.Role)
		m.explain(why, agentWhy)
		return m, err
	})
	if err != nil {
		return nil, fmt.Errorf("read roles: %w", err)
	}
	v := NewWorld(w, members)
	for _, m := range v.Members {
		if above := v.restsWith(m); above != nil {
			m.State, m.Why, m.Back = schemas.RoleSuspended, above.RoleID+" above it is suspended", above.Back
		}
	}
	return NewWorld(w, v.Members), nil // by the states that they have now
}

// restsWith is the nearest suspended role above m, if m acts but for that: its agent cannot work then.
func (w *World) restsWith(m *Member) *Member {
	for above := w.byAgent[m.Parent]; m.State.Acts() && above != nil; above = w.byAgent[above.Parent] {
		if above.State == schemas.RoleSuspended {
			return above
		}
	}
	return nil
}

// explain says why a role does not act, and what lets it: its own state, or that of its agent.
func (m *Member) explain(why, agentWhy string) {
	runs := m.AgentIs == schemas.Active || m.AgentIs == schemas.Registered
	switch m.State = m.Own; {
	case m.AgentIs == schemas.Removed:
		m.State, m.Why = schemas.RoleSuspended, agentRemoved
		if m.Parent == "" {
			m.Back = "cordelia role apply FILE"
		}
	case m.State == schemas.RoleDraft:
		m.Back = "cordelia role activate " + m.RoleID
	case m.State == schemas.RoleSuspended && ofFile(why):
		m.Why, _, _ = strings.Cut(why, "; ")
		if m.Back = "cordelia role apply FILE"; m.Status == schemas.RoleDraft {
			m.Back = "cordelia role resume " + m.RoleID // its file does not say that it acts
		}
	case m.State == schemas.RoleSuspended:
		m.Why, m.Back = why, "cordelia role resume "+m.RoleID
	case !runs:
		m.State, m.Why = schemas.RoleSuspended, "its agent is "+string(m.AgentIs)
		if m.Back = "cordelia agent resume " + m.RoleID; m.AgentIs == schemas.Deactivated {
			m.Back = "cordelia agent reactivate " + m.RoleID
		}
		if agentWhy != "" {
			m.Why += ": " + agentWhy
		}
	}
}

// changed makes what is kept of a workspace void.
func changed(g access.Grant, id string) error {
	if _, err := g.Tx().Exec(touchWorkspace, g.Tx().Micros(), id); err != nil {
		return fmt.Errorf("change workspace: %w", err)
	}
	return nil
}

// role finds a role of w by its id or its agent.
func (w *World) role(ref string) (*Member, error) {
	if m := w.Of(ref); m != nil {
		return m, nil
	}
	return nil, noRole([]*World{w}, ref)
}

// noRole is the answer for a role that none of these has, with the name that may be meant.
func noRole(in []*World, ref string, others ...string) error {
	var ids []string
	for _, w := range in {
		for _, m := range w.Members {
			ids = append(ids, m.RoleID)
		}
	}
	meant := ""
	if near := schemas.Nearest(strings.ToLower(ref), append(ids, others...)); near != "" {
		meant = fmt.Sprintf("did you mean %q? ", near)
	}
	expected := "the id of a role of your workspace"
	for _, o := range others {
		expected += fmt.Sprintf(", or %q", o)
	}
	return schemas.NotFoundf("there is no role %q here", schemas.Shorten(ref, 64)).Expecting("%s", expected).
		Try("%s%s shows them", meant, schemas.Tool("role_list"))
}

// entity is the entity that a line of reporting leads to: the role's agent if it acts, else that of
// the role it reports to, and so on up to the owner.
func (w *World) entity(ref string) schemas.EntityID {
	for range len(w.Members) + 1 {
		m := w.Of(ref)
		switch {
		case m == nil:
			return w.Workspace.Owner
		case m.State == schemas.RoleActive:
			return m.Agent
		}
		ref = m.ReportsTo
	}
	return w.Workspace.Owner
}

// unmarshal reads JSON that this package wrote.
func unmarshal(text string, to any) error {
	if err := json.Unmarshal([]byte(text), to); err != nil {
		return fmt.Errorf("read what was stored: %w", err)
	}
	return nil
}

// encoded is v as JSON.
func encoded(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("roles: encode: %v", err)) // plain data of this package
	}
	return string(raw)
}
