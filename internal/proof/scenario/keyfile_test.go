package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
)

// Two processes of one agent repeat a call with one idempotency key at the same time: both
// get the recorded answer, and the key files are there (INV-ONCE).
func TestTwoProcessesRegisterOnce_INV_ONCE(t *testing.T) {
	n := newNode(t)
	both := [2]*Process{open(t, n, ""), open(t, n, "")}
	race := func(tool, args string) (a [2]Answer) {
		t.Helper()
		start, done := make(chan struct{}), make(chan error, 2)
		for i, p := range both {
			go func() {
				<-start
				var err error
				a[i], err = p.Call(t.Context(), tool, []byte(args))
				done <- err
			}()
		}
		close(start)
		require.NoError(t, <-done)
		require.NoError(t, <-done)
		for _, answer := range a {
			require.Empty(t, answer.Code, answer.Text)
			require.NotContains(t, answer.Text, "could not be stored")
		}
		return a
	}
	rounds := soak.Count(t, 12, 100)
	for i := range rounds {
		a := race("agent_register", fmt.Sprintf(
			`{"agent_type": "swarm-worker", "display_name": "w", "name": "w%d", "idempotency_key": "r%d"}`, i, i))
		id := at[string](t, a[0], "agent_id")
		require.Equal(t, id, at[string](t, a[1], "agent_id"))
		for _, answer := range a {
			require.True(t, at[bool](t, answer, "key_on_this_machine"), answer.Text)
		}
		require.FileExists(t, filepath.Join(n.Home, "keys", "agents", id+".key"))
		a = race("swarm_create", fmt.Sprintf(
			`{"goal": "Race %d", "strategy": "broadcast", "agents": [{"slot": "s", "count": 3}], "idempotency_key": "s%d"}`, i, i))
		require.Equal(t, at[string](t, a[0], "swarm_id"), at[string](t, a[1], "swarm_id"))
		for j := range 3 {
			agent := at[string](t, a[1], fmt.Sprintf("agents.%d.agent_id", j))
			require.FileExists(t, filepath.Join(n.Home, "keys", "agents", agent+".key"))
		}
	}
	strays, err := filepath.Glob(filepath.Join(n.Home, "keys", "agents", "*.unwrapped"))
	require.NoError(t, err)
	require.Empty(t, strays)
	t.Logf("%d registrations and %d swarms, each asked for by two processes at once: both were answered alike, and "+
		"every key file is there", rounds, rounds)
}

// A process that is killed between the registration and the key file leaves the same
// state as this test: the agent is there, and its file is not. The repeated call writes
// the file, from another process of the parent; the agent's own process then starts.
func TestRepeatedRegistrationWritesTheKeyFile(t *testing.T) {
	n := newNode(t)
	lead := open(t, n, "")
	register := `{"agent_type": "swarm-worker", "display_name": "w", "name": "w", "idempotency_key": "once"}`
	swarm := `{"goal": "Dig", "strategy": "broadcast", "agents": [{"slot": "s", "count": 2}], "idempotency_key": "swarm"}`
	ids := []string{at[string](t, must(t, lead, "agent_register", register), "agent_id")}
	made := must(t, lead, "swarm_create", swarm)
	for i := range 2 {
		ids = append(ids, at[string](t, made, fmt.Sprintf("agents.%d.agent_id", i)))
	}
	require.NoError(t, lead.Close())
	for _, id := range ids {
		require.NoError(t, os.Remove(filepath.Join(n.Home, "keys", "agents", id+".key")))
	}

	again := open(t, n, "")
	require.True(t, at[bool](t, must(t, again, "agent_register", register), "key_on_this_machine"))
	require.NotContains(t, must(t, again, "swarm_create", swarm).Text, "could not be stored")
	for _, id := range ids {
		info, err := os.Stat(filepath.Join(n.Home, "keys", "agents", id+".key"))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	require.NoError(t, open(t, n, "w").Close())
}
