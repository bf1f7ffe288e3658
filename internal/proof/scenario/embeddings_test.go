package scenario

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/embedding/embeddingtest"
)

// Two processes embed for one store; both are killed while the model thinks.
// What they had in hand is embedded by those that come after, each text is
// stored once, and the key is nowhere but in the request.
func TestEmbeddingsSurviveAKill(t *testing.T) {
	const secret, items = "sk-scenario-7c01d9", 40
	n := newNode(t)
	n.Env = append(n.Env, "EMBED_KEY="+secret)
	server := embeddingtest.New(t, 64, map[string]string{"flivverette": "car"})
	require.NoError(t, os.MkdirAll(n.Home, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(n.Home, "config.json"),
		[]byte(`{"embeddings":{"url":"`+server.URL+`","model":"stand-in","key_env":"EMBED_KEY","timeout":"10s"}}`),
		0o600))
	server.Hold()
	lead := open(t, n, "")
	must(t, lead, "memory_group", `{"action": "create", "group": "ledger"}`)
	must(t, lead, "agent_register", `{"agent_type": "swarm-worker", "display_name": "w", "name": "w", "groups": ["ledger"]}`)
	for i := range items {
		must(t, lead, "memory_write_warm",
			fmt.Sprintf(`{"type":"learning","group":"ledger","data":{"type":"insight","content":"the flivverette number%d"}}`, i))
	}
	open(t, n, "w")
	<-server.Arrived()
	n.Kill()
	require.Zero(t, count(t, openDB(t, n), `SELECT count(*) FROM embeddings`))
	require.NotZero(t, count(t, openDB(t, n), `SELECT count(*) FROM embedding_queue WHERE claim <> ''`))
	server.Release()
	require.NoError(t, n.MoveClock(10*time.Minute))

	lead = open(t, n, "")
	worker := open(t, n, "w")
	db := openDB(t, n)
	for count(t, db, `SELECT count(*) FROM embeddings`) < items {
		select {
		case <-t.Context().Done():
			t.Fatal("not all was embedded")
		case <-time.After(20 * time.Millisecond):
		}
	}
	require.Equal(t, items, count(t, db, `SELECT count(DISTINCT seq) FROM embeddings`))
	for _, c := range []*Process{lead, worker} {
		a := must(t, c, "memory_search", `{"query": "car"}`)
		require.Equal(t, "meaning", at[string](t, a, "results.0.why"), "%s", a.Text)
		require.NotContains(t, a.Text, secret)
	}
	server.Fail(401)
	a := must(t, lead, "memory_search", `{"query": "another car"}`)
	require.Equal(t, "down", at[string](t, a, "meaning"))
	_, doctor, _, err := n.Run(t.Context(), "doctor", "--verbose")
	require.NoError(t, err)
	out, errOut, _, err := n.Run(t.Context(), "memory", "search", "a third car", "--as", "claude-code", "--verbose")
	require.NoError(t, err)
	for _, printed := range []string{doctor, out, errOut, lead.Stderr(), worker.Stderr(), a.Text} {
		require.NotContains(t, printed, secret)
	}
	require.Contains(t, lead.Stderr(), "refused the key")
	files, err := filepath.Glob(filepath.Join(n.Home, "*"))
	require.NoError(t, err)
	for _, f := range files {
		if raw, err := os.ReadFile(f); err == nil {
			require.False(t, bytes.Contains(raw, []byte(secret)), f)
		}
	}
}
