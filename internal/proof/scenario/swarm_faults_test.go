package scenario

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
	"cordelia/internal/store"
)

// aSwarm is a manifest of three agents in two stages, a coordinator among them, with
// work for each.
const aSwarm = `{"goal": "Count the sheep", "strategy": "pipeline", "coordinator_slot": "shepherd", "agents": [
	{"slot": "shepherd", "work": ["Plan it"]}, {"slot": "counter", "work": ["Count left", "Count right"]}, {"slot": "writer", "work": ["Write it down"]}]}`

// rowsOf counts the rows of every table.
func rowsOf(t testing.TB, n *inside) map[string]int {
	db := openDB(t, n.outside())
	out := map[string]int{}
	for _, table := range texts(
		t, db, `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'
			AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'items_fts%' ORDER BY name`) {
		out[table] = count(t, db, fmt.Sprintf(`SELECT count(*) FROM %q`, table))
	}
	return out
}

// fault breaks the database at one point: on is INSERT ON or UPDATE ON a table, when
// a condition.
func (n *inside) fault(on, when string) (mend func()) {
	n.Helper()
	exec := func(query string) {
		require.NoError(n, n.Store.Write(context.Background(), func(tx *store.Tx) error {
			_, err := tx.Exec(query)
			return err
		}))
	}
	exec(fmt.Sprintf(`CREATE TRIGGER fault BEFORE %s WHEN %s BEGIN SELECT RAISE(ABORT, 'fault'); END`, on, when))
	return func() { exec(`DROP TRIGGER fault`) }
}

// INV-SWARM-WHOLE: whichever row cannot be written, of making a swarm or of ending one,
// everything is as it was before; without the fault the same call succeeds.
func TestSwarmFaults_INV_SWARM_WHOLE(t *testing.T) {
	n := newInside(t)
	parent := n.caller(lead)
	try := func(tool, args string) error {
		_, err := n.try(t.Context(), parent, tool, args)
		return err
	}
	id := at[string](t, n.must(parent, "swarm_create", aSwarm), "swarm_id")
	before := rowsOf(t, n) // what the first one needs besides is there
	n.must(parent, "swarm_create", aSwarm)
	made := rowsOf(t, n)
	ending := fmt.Sprintf(`{"swarm_id": %q}`, id)
	db := openDB(t, n.outside())

	points := 0
	walk := func(tool, args, on, when string) {
		t.Helper()
		was := fingerprint(t, db, nil)
		mend := n.fault(on, when)
		require.ErrorContains(t, try(tool, args), "fault", "%s when %s", on, when)
		mend()
		require.Equal(t, was, fingerprint(t, db, nil), "%s when %s", on, when)
		points++
	}
	each := 3 // every third row in make test
	if soak.Count(t, 1, 10) > 1 {
		each = 1
	}
	for _, table := range slices.Sorted(maps.Keys(made)) {
		for k := len(table) % each; k < made[table]-before[table]; k += each {
			base := count(t, db, fmt.Sprintf(`SELECT count(*) FROM %q`, table))
			walk("swarm_create", aSwarm, fmt.Sprintf("INSERT ON %q", table),
				fmt.Sprintf(`(SELECT count(*) FROM %q) = %d`, table, base+k))
		}
	}
	making := points
	for on, when := range map[string]string{
		"UPDATE ON entities":   `(SELECT count(*) FROM entities WHERE status = 'deactivated') = %d`,
		"UPDATE ON l1":         `(SELECT count(*) FROM l1 WHERE archived_at > 0) = %d`,
		"UPDATE ON groups":     `(SELECT count(*) FROM groups WHERE archived_at > 0) = %d`,
		"UPDATE ON work_items": `(SELECT count(*) FROM work_items WHERE state = 'cancelled') = %d`,
		"INSERT ON items":      `(SELECT count(*) FROM items) = %d`,
	} {
		for k := range 3 {
			if on == "INSERT ON items" { // what three agents and the swarm leave behind
				k++
			}
			walk("swarm_disband", ending, on, fmt.Sprintf(when, k))
		}
	}
	walk("swarm_disband", ending, "UPDATE ON swarms", "new.ended_at > 0")
	require.NoError(t, try("swarm_create", aSwarm))
	require.NoError(t, try("swarm_disband", ending))
	t.Logf("%d faults while making, %d while ending", making, points-making)
}

// unmade are the traces of swarms that are there in part.
var unmade = map[string]string{
	"swarms without their agents": `SELECT count(*) FROM swarms s WHERE (SELECT sum(made) FROM swarm_slots
		WHERE swarm_id = s.id)
		<> (SELECT count(*) FROM swarm_agents WHERE swarm_id = s.id)`,
	"agents without their group": `SELECT count(*) FROM swarm_agents a WHERE NOT EXISTS (SELECT 1 FROM members m
		WHERE m.entity_id = a.entity_id AND m.group_id = CASE a.cell WHEN '' THEN a.swarm_id ELSE a.cell END)`,
	"agents without their context": `SELECT count(*) FROM swarm_agents WHERE entity_id NOT IN (SELECT entity_id
		FROM l1)`,
	"agents without their trust": `SELECT count(*) FROM swarm_agents WHERE entity_id NOT IN (SELECT agent
		FROM trust_scores)`,
	"agents that are of no swarm": `SELECT count(*) FROM entities WHERE agent_type = 'swarm-worker'
		AND id NOT IN (SELECT entity_id FROM swarm_agents)`,
	"groups that are of no swarm": `SELECT count(*) FROM groups WHERE kind = 'swarm' AND id NOT IN (SELECT id
		FROM swarms) AND swarm_id NOT IN (SELECT id FROM swarms)`,
	"work that is not there as whole": `SELECT count(*) FROM (SELECT 1 FROM work_items GROUP BY task_id
		HAVING count(*) <> 4)`,
	"swarms that ended in part": `SELECT count(*) FROM swarms s JOIN swarm_agents a ON a.swarm_id = s.id
		JOIN entities e ON e.id = a.entity_id
		WHERE (s.ended_at > 0) <> (e.status = 'deactivated')`,
	"groups that closed in part": `SELECT count(*) FROM swarms s JOIN groups g ON s.id IN (g.id, g.swarm_id)
		WHERE (s.ended_at > 0) <> (g.archived_at > 0)`,
}

// INV-SWARM-WHOLE, through the whole binary: a process that makes swarms and ends them
// is killed at any moment; each is there as a whole, or ended as a whole.
func TestSwarmsOutliveKills_INV_SWARM_WHOLE(t *testing.T) {
	n := newNode(t)
	c := open(t, n, "")
	random := rand.New(rand.NewPCG(7, 8))
	kills := soak.Count(t, 6, 300)
	for range kills {
		a, err := c.Call(t.Context(), "swarm_create", []byte(aSwarm)) // the process is up, and has its caches
		require.NoError(t, err)
		require.Empty(t, a.Code, a.Text)
		tool, args := "swarm_create", aSwarm
		if random.IntN(2) == 0 {
			tool, args = "swarm_disband", fmt.Sprintf(`{"swarm_id": %q}`, at[string](t, a, "swarm_id"))
		}
		_, err = c.Begin(tool, []byte(args))
		require.NoError(t, err)
		soak.Strike(random, 60*time.Millisecond)
		c.Kill()
		c = open(t, n, "")
	}
	require.NoError(t, c.Close())
	var swarms, ended int
	_, entries := requireWhole(t, n.Database(), func(tx *store.Tx) error {
		for what, query := range unmade {
			var n int
			if err := tx.QueryRow(query).Scan(&n); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			if n > 0 {
				return fmt.Errorf("%d %s", n, what)
			}
		}
		return tx.QueryRow(`SELECT count(*), coalesce(sum(ended_at > 0), 0) FROM swarms`).Scan(&swarms, &ended)
	})
	require.GreaterOrEqual(t, swarms, kills)
	t.Logf("%d kills: %d swarms, %d of them ended; %d audit entries", kills, swarms, ended, entries)
}
