package roles

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

// Whatever the roles of a workspace are, an event that comes in is decided, by no role twice, and
// its way ends within 8 hops at a role that does not forward (INV-ROLE-DECIDED, INV-ROLE-LOOP).
func TestEveryWayEnds_INV_ROLE_LOOP(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	domains := []string{"a", "b", "c", "*"}
	wakes := []schemas.Wake{"", schemas.WakeAlways, schemas.WakeNamed, schemas.WakeNever}
	ends := map[Action]int{}
	for range 20_000 {
		var members []*Member
		for i := range random.IntN(12) {
			m := member(fmt.Sprintf("r%d", i))
			for _, d := range domains {
				if random.IntN(4) == 0 {
					m.Domains = append(m.Domains, d)
				}
			}
			m.State = schemas.RoleStatuses()[random.IntN(len(schemas.RoleStatuses()))]
			m.Wake, m.OperatorIDs = wakes[random.IntN(len(wakes))], nil
			members = append(members, m)
		}
		w := NewWorld(workspace(), members)
		e := Event{Type: "thing.came", Domain: domains[random.IntN(3)], By: "someone", Depth: random.IntN(10)}
		if len(members) > 0 && random.IntN(2) == 0 && w.byID[members[0].RoleID] != nil {
			e.Names = members[0].RoleID
		}
		seen := map[string]bool{}
		list, err := New(nil, nil).route(access.Grant{}, w, e, func(m *Member, hop int, d Decision) (Decided, error) {
			require.Equal(t, len(seen), hop)
			require.NotEmpty(t, d.Reason)
			require.NotEmpty(t, d.Steps)
			if m != nil {
				require.False(t, seen[m.RoleID], "%s decides twice", m.RoleID)
				seen[m.RoleID] = true
			}
			return Decided{Decision: d}, nil
		})
		require.NoError(t, err)
		require.NotEmpty(t, list, "it is decided")
		require.LessOrEqual(t, len(list), maxHops+1)
		for i, d := range list {
			require.Equal(t, i < len(list)-1, d.Action == Forward && !d.Sandbox, "%v", d)
		}
		ends[list[len(list)-1].Action]++
	}
	require.Positive(t, ends[Ignore])
	require.Positive(t, ends[Escalate])
}

// A role in testing takes nothing away from an active one, and nothing follows from its decisions,
// no forwarding either (INV-ROLE-SANDBOX).
func TestTestingTakesNothingAway_INV_ROLE_SANDBOX(t *testing.T) {
	trial, active := member("a-trial", "x", "*"), member("b", "*")
	trial.State = schemas.RoleTesting
	w := NewWorld(workspace(), []*Member{trial, active, member("c", "y")})
	e := Event{Type: "thing.came", Domain: "x", By: "someone"}
	require.Equal(t, active, w.First(e), "the active one, though the other names the domain and comes first by its id")
	active.OperatorIDs = nil
	require.Equal(t, active, w.First(e), "though it has nothing to do for such events")
	active.State = schemas.RoleSuspended
	require.Equal(t, trial, NewWorld(workspace(), []*Member{trial, active}).First(e), "it tries what nobody takes")

	trial.Domains, e.Domain, e.Names = []string{"x"}, "y", "a-trial"
	list, err := New(nil, nil).route(access.Grant{}, w, e, func(_ *Member, _ int, d Decision) (Decided, error) {
		return Decided{Decision: d}, nil
	})
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, []any{Forward, "c", true}, []any{list[0].Action, list[0].Target, list[0].Sandbox})
}
