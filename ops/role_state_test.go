package ops_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/node"
	"cordelia/schemas"
)

const cmoLines = "  - role_id: cmo\n    soul: You own marketing.\n    domains: [marketing]\n"

// cool has the node suspend the agent of a role, as it does after too many refused calls.
func (f *firm) cool(role string) {
	f.T.Helper()
	require.NoError(f.T, f.Node.Routine(f.T.Context(), "lifecycle", func(g access.Grant) error {
		var agent string
		if err := g.Tx().QueryRow(`SELECT agent FROM roles WHERE role_id = ? AND state <> 'terminated'`, role).
			Scan(&agent); err != nil {
			return err
		}
		_, _, err := f.Node.MoveAgent(g, agent, schemas.RateLimit, "too many refusals")
		return err
	}))
}

// cooled lets the node's own suspensions end.
func (f *firm) cooled() {
	f.T.Helper()
	f.Clock.Move(agents.DefaultPeriods().Cooldown + time.Minute)
	require.NoError(f.T, f.Node.Reap(f.T.Context()))
}

// role gives the entry of a role in the list.
func (f *firm) role(id string) map[string]any {
	f.T.Helper()
	return f.Must(f.person, "role_list", map[string]any{"role": id})["role"].(map[string]any)
}

// A person's suspension of a role holds, though the node suspended its agent before and would have
// ended that; what is answered is the state that is reached.
func TestASuspensionOfARoleHolds(t *testing.T) {
	f := newFirm(t, company)
	cro := f.Caller("cro")
	move := func(on schemas.Trigger) (schemas.RoleStatus, error) {
		return f.Node.MoveRole(t.Context(), f.person, "", "cro", on, "it leaks")
	}
	f.cool("cro")
	to, err := move(schemas.Suspend)
	require.NoError(t, err)
	require.Equal(t, schemas.RoleSuspended, to)
	f.cooled()
	require.Equal(t, 1, f.Number(`SELECT count(*) FROM entities WHERE id = ? AND status = 'suspended'
		AND status_by = 'ann' AND status_reason = 'it leaks'`, cro.Entity))
	_, err = f.Call(cro, "memory_search", map[string]any{})
	require.Error(t, err)

	f.Must(f.person, "agent_deactivate", map[string]any{"agent": "cro"})
	_, err = move(schemas.Resume)
	require.ErrorIs(t, err, schemas.ErrConflict)
	require.ErrorContains(t, err, "cro would not act: its agent is deactivated")
	f.Must(f.person, "agent_lifecycle", map[string]any{"agent": "cro", "action": "reactivate"})
	to, err = move(schemas.Resume)
	require.NoError(t, err)
	require.Equal(t, schemas.RoleActive, to)
	f.cool("cro")
	to, err = move(schemas.RoleTry)
	require.NoError(t, err)
	require.Equal(t, schemas.RoleSuspended, to, "its agent still is")
}

// A person suspends an agent that the node or a lower agent suspended; the suspension of a higher one stays
// that one's.
func TestAHigherSuspensionTakesOver(t *testing.T) {
	f := newFirm(t, company)
	worker := f.Must(f.Lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": "w",
		"name": "w"})["agent_id"]
	suspend := map[string]any{"agent": worker, "action": "suspend"}
	by := func(who any) {
		t.Helper()
		require.Equal(t, 1, f.Number(`SELECT count(*) FROM entities WHERE id = ? AND status = 'suspended'
			AND status_by = ?`, worker, who))
	}
	f.Must(f.Lead, "agent_lifecycle", map[string]any{"agent": worker, "action": "activate"})
	f.Must(f.Lead, "agent_lifecycle", suspend)
	by(f.Lead.Entity)
	f.Must(f.person, "agent_lifecycle", suspend)
	by("ann")
	for _, action := range []string{"suspend", "resume"} {
		_, err := f.Call(f.Lead, "agent_lifecycle", map[string]any{"agent": worker, "action": action})
		require.Error(t, err, action)
	}
	_, err := f.Call(f.person, "agent_lifecycle", suspend)
	require.ErrorIs(t, err, schemas.ErrConflict)
	by("ann")
}

// What a file says of a role's state is done to the role, also while its agent is suspended.
func TestAFileMovesARoleItself(t *testing.T) {
	f := newFirm(t, company)
	with := func(status string) string {
		return strings.Replace(company, "  - role_id: cmo\n", "  - role_id: cmo\n    status: "+status+"\n", 1)
	}
	is := func(state string) {
		t.Helper()
		require.Equal(t, state, f.role("cmo")["state"])
	}
	f.cool("cmo")
	less := f.apply(strings.Replace(company, cmoLines, "", 1))
	require.Equal(t, "suspend", less.Changes[0].Does)
	f.cooled()
	is("suspended")
	f.apply(company)
	is("active")

	f.cool("cmo")
	f.apply(with("testing"))
	f.cooled()
	is("testing")
	f.apply(company)
	is("active") // without the line

	f.apply(with("draft"))
	is("suspended")
	require.Equal(t, "its file says draft", f.role("cmo")["why"])
	require.Empty(t, f.apply(with("draft")).Changes)
	f.apply(company)
	is("active")

	f.apply(with("draft"))
	_, err := f.Node.MoveRole(t.Context(), f.person, "", "cmo", schemas.Resume, "")
	require.NoError(t, err)
	f.apply(strings.Replace(with("draft"), "You own marketing.", "You own all marketing.", 1))
	is("active") // the person's word stands until the file says otherwise
}

// A file leaves out a role that never began; its roles whose agents are gone it makes again.
func TestAFileOfRolesThatAreGone(t *testing.T) {
	f := newFirm(t, strings.Replace(company, "  - role_id: cmo\n", "  - role_id: cmo\n    status: draft\n", 1),
		func(c *node.Config) { // its clock since the machine's start moves with the other
			c.Monotonic = func() agents.Monotonic { return agents.Monotonic{Boot: "b", Micros: c.Clock.Now().UnixMicro()} }
		})
	require.Empty(t, f.apply(strings.Replace(company, cmoLines, "", 1)).Changes)
	require.Equal(t, "draft", f.role("cmo")["state"])
	f.apply(company)
	require.Equal(t, "active", f.role("cmo")["state"])

	f.Must(f.person, "agent_deactivate", map[string]any{"agent": "cmo"})
	f.apply(strings.Replace(company, cmoLines, "", 1))
	require.Contains(t, fmt.Sprint(f.apply(company).Notes), "first: cordelia agent reactivate cmo")
	f.Clock.Move(8 * 24 * time.Hour)
	for range 3 {
		require.NoError(t, f.Node.Reap(t.Context()))
		f.Clock.Move(2 * time.Hour)
	}
	require.Equal(t, []any{"its agent is removed", "cordelia role apply FILE"},
		[]any{f.role("cmo")["why"], f.role("cmo")["back"]})
	spawns := strings.Replace(company, "allowed_spawners: [cro]", "allowed_spawners: [cro, cmo]", 1)
	require.Contains(t, fmt.Sprint(f.apply(spawns).Changes), "{role cmo create its agent is removed}")
	require.Equal(t, "active", f.role("cmo")["state"])
	require.Empty(t, f.apply(spawns).Changes)
	require.Equal(t, "ignore", f.send(f.person, map[string]any{"type": "a.b", "domain": "nowhere"})["action"])
}

// What a suspended role spawned gets no events: the agent below a suspended one cannot do the work.
func TestChildrenRestWithTheirParent(t *testing.T) {
	f := newFirm(t, strings.Replace(company, "allowed_spawners: [cro]", "allowed_spawners: [cro, bdr-apac]", 1))
	spawn := func(who, territory string) {
		f.Must(f.Caller(who), "role_spawn", map[string]any{"template": "bdr",
			"params": map[string]any{"territory": territory}})
	}
	spawn("cro", "APAC")
	spawn("bdr-apac", "Japan")
	event := map[string]any{"type": "lead.created", "role": "bdr-japan"}
	require.Equal(t, "delegate", f.send(f.person, event)["action"])
	_, err := f.Node.MoveRole(t.Context(), f.person, "", "cro", schemas.Suspend, "a rest")
	require.NoError(t, err)
	d := f.send(f.person, event)
	require.Equal(t, "ignore", d["action"])
	require.Contains(t, d["reason"], "above it is suspended; a person lets it act: cordelia role resume cro")
	_, err = f.Node.MoveRole(t.Context(), f.person, "", "cro", schemas.Resume, "")
	require.NoError(t, err)
	require.Equal(t, "delegate", f.send(f.person, event)["action"])
}

// A ttl that changes in the file moves the end of the role and of its agent, counted from when it was made.
func TestATTLFollowsTheFile(t *testing.T) {
	f := newFirm(t, company)
	with := func(ttl string) string {
		return strings.Replace(company, "  - role_id: cmo\n", "  - role_id: cmo\n    ttl: "+ttl+"\n", 1)
	}
	ends := func() (role, agent int) {
		return f.Number(`SELECT until FROM roles WHERE role_id = 'cmo'`),
			f.Number(`SELECT expires_at FROM entities WHERE name = 'cmo'`)
	}
	made := f.Number(`SELECT created_at FROM roles WHERE role_id = 'cmo'`)
	f.Clock.Move(24 * time.Hour)
	for _, days := range []int{90, 30} {
		f.apply(with(fmt.Sprintf("%dd", days)))
		role, agent := ends()
		require.Equal(t, made+days*24*3600*1_000_000, role)
		require.Equal(t, role, agent)
	}
	f.apply(company)
	role, agent := ends()
	require.Equal(t, []int{0, 0}, []int{role, agent})
	f.apply(with("1h"))
	f.settle()
	require.Equal(t, 1, f.Number(`SELECT count(*) FROM roles WHERE role_id = 'cmo' AND reason = 'ttl_expiry'`))
}
