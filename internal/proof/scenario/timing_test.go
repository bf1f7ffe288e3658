package scenario

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
	"cordelia/ops"
	"cordelia/schemas"
)

// slowNobody lets agents of a home be refused as often as a test asks.
func slowNobody(t *testing.T, home string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(home, 0o700))
	settings := []byte(`{"refused_per_minute": 1000000, "failed_per_minute": 1000000}`)
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.json"), settings, 0o600))
}

// INV-NO-ORACLE over stdio: an agent asks for what is hidden from it and for what does not
// exist, in random order. The answers are the same, word for word. So should the
// times be; the test prints by how much they differ, and demands nothing of them. SECURITY.md names
// the figures of a run with CORDELIA_SOAK=10.
func TestTimingOfHidden(t *testing.T) {
	n := newNode(t)
	slowNobody(t, n.Home)
	parent := open(t, n, "")
	must(t, parent, "memory_group", `{"action": "create", "group": "vault"}`)
	must(t, parent, "memory_group", `{"action": "create", "group": "plaza"}`)
	must(t, parent, "swarm_create",
		`{"goal": "g", "strategy": "broadcast", "swarm_id": "swarm-vault", "agents": [{"slot": "hand"}]}`)
	written := must(t, parent, "memory_write_warm",
		`{"type": "learning", "group": "vault", "data": {"type": "insight", "content": "The code of the lighthouse"}}`)
	item := at[string](t, written, "id")
	submitted := must(t, parent, "task_submit", `{"group": "vault", "items": [{"intent": "count the boats"}]}`)
	task := at[string](t, submitted, "task_id")
	for name, group := range map[string]string{"victim": "vault", "mallory": "plaza"} {
		must(t, parent, "agent_register", fmt.Sprintf(`{"agent_type": "autonomous", "display_name": "A", "name": %q,
			"groups": [%q], "capabilities": {
			"memory_read": {"layers": ["l1", "l2"], "groups": ["*"], "visibility": ["private", "group"]},
			"memory_write": {"layers": ["l1", "l2"], "groups": ["*"], "visibility": ["private", "group"]},
			"tools": %s, "max_parallel_ops": 8, "ttl_seconds": 86400, "autonomous": true}}`, name, group, compact(ops.Names())))
	}
	mallory := open(t, n, "mallory")

	id, other := schemas.NewID(), schemas.NewID()
	for _, tt := range []struct{ tool, args, hidden, absent string }{
		{"memory_read_warm", `{"ids": ["%s"]}`, other, id}, // neither exists: what chance alone shows
		{"memory_read_warm", `{"ids": ["%s"]}`, item, id},
		{"task_status", `{"task_id": "%s"}`, task, id},
		{"swarm_status", `{"swarm_id": "%s"}`, "swarm-vault", "swarm-voult"},
		{"swarm_disband", `{"swarm_id": "%s"}`, "swarm-vault", "swarm-voult"},
		{"task_submit", `{"intent": "x", "group": "%s"}`, "swarm-vault", "swarm-voult"},
		{"memory_read_hot", `{"entity": "%s"}`, "victim", "victor"},
		{"agent_list", `{"agent": "%s"}`, "victim", "victor"},
		{"memory_search", `{"query": "lighthouse", "group": "%s"}`, "vault", "voult"},
		{"memory_group", `{"action": "read", "group": "%s"}`, "vault", "voult"},
	} {
		ask := func(ref string) (answer string, took time.Duration) {
			began := time.Now()
			a, err := mallory.Call(t.Context(), tt.tool, fmt.Appendf(nil, tt.args, ref))
			took = time.Since(began)
			require.NoError(t, err)
			return a.Code + strings.ReplaceAll(string(a.Raw), ref, "REF"), took
		}
		want, _ := ask(tt.absent)
		require.False(t, strings.HasPrefix(want, "protocol"), "%s is no tool of the caller: %s", tt.tool, want)
		var took [2][]float64
		random := rand.New(rand.NewPCG(1, 2))
		for range soak.Count(t, 20, 1000) {
			first := random.IntN(2)
			for _, which := range []int{first, 1 - first} {
				answer, d := ask([]string{tt.hidden, tt.absent}[which])
				require.Equal(t, want, answer, "%s %s", tt.tool, tt.args)
				took[which] = append(took[which], float64(d.Nanoseconds())/1e3)
			}
		}
		hidden, absent := trimmed(took[0]), trimmed(took[1])
		more := hidden.mean - absent.mean
		t.Logf("%s %s: %d pairs, hidden %.0f µs, absent %.0f µs, difference %+.1f µs, z %+.1f", tt.tool, tt.args,
			len(took[0]), hidden.mean, absent.mean, more, more/math.Hypot(hidden.err, absent.err))
	}
}

type estimate struct{ mean, err float64 }

// trimmed is the mean of the faster nine tenths, and its standard error. The others
// measure what else the machine did.
func trimmed(values []float64) estimate {
	slices.Sort(values)
	values = values[:len(values)*9/10]
	sum, squares := 0.0, 0.0
	for _, v := range values {
		sum += v
	}
	mean := sum / float64(len(values))
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	n := float64(len(values))
	return estimate{mean, math.Sqrt(squares / (n - 1) / n)}
}
