//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
	"cordelia/memory/embedding"
)

// onBoth makes the workspace of what compares the engines, with the command built.
func onBoth(t testing.TB) *bench {
	storetest.Server(t) // or it is skipped
	t.Chdir(filepath.Join("..", "..", ".."))
	require.NoError(t, store.ChooseLocks())
	b := &bench{cache: filepath.Join(".cache", "bench")}
	done, err := b.workspace()
	require.NoError(t, err)
	t.Cleanup(done)
	b.binary = filepath.Join(b.folder, "bin", "cordelia")
	require.NoError(t, compile(b.binary, "cordelia/cmd/cordelia"))
	return b
}

// BenchmarkEngines compares a search on the two engines: the same notes, each with its vector, are
// in both, and each question is asked of one right after the other. docs/scale.md has the goal.
//
//	go test -run '^$' -bench Engines -benchtime 1x -timeout 1h -v ./internal/proof/bench
//
// BENCH_ITEMS=5000 makes it 5000 notes instead of 100,000. Stores are kept in .cache/bench.
func BenchmarkEngines(b *testing.B) {
	w, items := onBoth(b), 100_000
	if given := os.Getenv("BENCH_ITEMS"); given != "" {
		var err error
		items, err = strconv.Atoi(given)
		require.NoError(b, err)
	}
	var asked [2]*client
	for i, name := range engines {
		n, err := w.proseStore(items, name)
		require.NoError(b, err)
		if name == "postgres" {
			moveToServer(b, n)
		}
		asked[i], err = n.open("")
		require.NoError(b, err)
		b.Cleanup(asked[i].kill)
	}
	b.Run("search", func(b *testing.B) { benchSearch(b, asked) })
}

var engines = [2]string{"sqlite", "postgres"}

// moveToServer moves a node's state into a new database.
func moveToServer(b *testing.B, n *node) {
	address := storetest.Empty(b, storetest.Server(b), b.Name())
	cmd := exec.Command(n.binary, "migrate", "--to", address)
	cmd.Env = append(os.Environ(), n.env()...)
	out, err := cmd.CombinedOutput()
	require.NoError(b, err, string(out))
	storetest.Admin(b, address, "VACUUM ANALYZE") // the server does so by itself within minutes
	n.server = address
}

// benchSearch asks both engines the same questions. The first ones warm caches.
func benchSearch(b *testing.B, asked [2]*client) {
	texts, err := newProse(190)
	require.NoError(b, err)
	var took [2]latencies
	differ := 0
	for q := range questions + 10*questions*b.N {
		args := map[string]any{"query": texts.question()}
		var found [2]string
		for turn := range engines {
			at := (q + turn) % len(engines) // either goes first as often
			var answer struct{ Results []struct{ ID string } }
			d, err := asked[at].call("memory_search", args, &answer)
			require.NoError(b, err)
			require.NotEmpty(b, answer.Results, args)
			found[at] = fmt.Sprint(answer.Results)
			if q >= questions {
				took[at] = append(took[at], d)
			}
		}
		if found[0] != found[1] {
			differ++
		}
	}
	for i, name := range engines {
		b.ReportMetric(took[i].at(0.5), name+"-p50-ms")
		b.ReportMetric(took[i].at(0.99), name+"-p99-ms")
	}
	b.ReportMetric(took[1].at(0.5)/took[0].at(0.5), "ratio")
	b.ReportMetric(float64(differ), "answers-that-differ")
	b.ReportMetric(0, "ns/op") // of no use here
}

// What is asked of our own notes is found on both engines alike: in other words, in German, and
// by date.
func TestRecallIsEqualOnBothEngines(t *testing.T) {
	if os.Getenv(storetest.Engine) == "" {
		t.Skip("make test-postgres runs it")
	}
	b, notes := onBoth(t), ownNotes(t)
	var shares [2]float64
	var found [2][]outcome
	for i, name := range engines {
		n := &node{binary: b.binary, home: filepath.Join(b.folder, name)}
		o := store.Options{Path: n.database()}
		if name == "postgres" {
			n.server = storetest.Database(t, storetest.Server(t), t.Name())
			o = store.Options{URL: n.server}
		}
		told, err := writeTurns(n, "own", notes, "", apart)
		require.NoError(t, err)
		require.Zero(t, told.duplicates)
		awaitVectorsOf(t, n, o)
		if n.server != "" {
			storetest.Admin(t, n.server, "ANALYZE") // as the server does within minutes: plans are slow before
		}
		found[i], err = asked(n, "own", notes, told, apart)
		require.NoError(t, err)
		shares[i] = scoreOf(found[i]).R10
	}
	t.Logf("%d questions: in the first ten: %.1f %% in a file, %.1f %% in PostgreSQL", len(notes.Questions),
		shares[0], shares[1])
	require.Greater(t, shares[0], 40.0)
	require.InDelta(t, shares[0], shares[1], 1)
	for i, o := range found[0] {
		require.Equal(t, o.Found[:min(10, len(o.Found))], found[1][i].Found[:min(10, len(found[1][i].Found))], o.Question)
	}
}

// ownNotes are the sets of notes and questions by which package memory measures recall, in one.
func ownNotes(t *testing.T) (c conversation) {
	for _, set := range []string{"asked", "german", "dated"} {
		raw, err := os.ReadFile(filepath.Join("memory", "testdata", "recall", set+".txt"))
		require.NoError(t, err)
		for line := range strings.Lines(string(raw)) {
			l := strings.Split(strings.TrimSpace(line), "|")
			said := turn{ID: fmt.Sprint("D1:", len(c.Turns)), Text: l[0], Session: fmt.Sprint("session ", len(c.Turns)),
				When: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
			if set == "dated" { // who, when, what
				said.Text = l[0] + ": " + l[2]
				said.When, err = time.Parse(time.DateOnly, l[1])
				require.NoError(t, err)
			}
			c.Turns = append(c.Turns, said)
			c.Questions = append(c.Questions, question{Text: l[len(l)-1], Gold: []string{said.ID}})
		}
	}
	return c
}

// awaitVectorsOf has a session make the vectors that are missing.
func awaitVectorsOf(t *testing.T, n *node, o store.Options) {
	c, err := n.open("")
	require.NoError(t, err)
	defer c.kill()
	s, err := store.Open(t.Context(), o)
	require.NoError(t, err)
	defer s.Close() //nolint:errcheck // only read
	require.Eventually(t, func() bool {
		var state embedding.State
		err := s.Read(t.Context(), func(tx *store.Tx) (err error) { state, err = embedding.Inspect(tx); return err })
		return err == nil && state.Model != "" && state.Waiting == 0
	}, time.Minute, 50*time.Millisecond)
}
