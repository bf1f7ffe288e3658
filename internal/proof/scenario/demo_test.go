package scenario

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/demo"
	"cordelia/internal/proof/soak"
)

// played is what cordelia demo --json prints.
type played struct {
	Held   bool
	Steps  []demo.Step
	TookMS int64 `json:"took_ms"`
	Home   string
	Try    []string
}

// newAudience is a node without a home, for who only looks on. Temporary folders come
// to lie in scratch, whose name is long and has another, as on a Mac.
func newAudience(t testing.TB) (n *Node, scratch string) {
	n = newNode(t)
	scratch = filepath.Join(t.TempDir(), "temporary items")
	require.NoError(t, os.Mkdir(scratch, 0o700))
	link := filepath.Join(t.TempDir(), "tmp")
	if os.Symlink(scratch, link) != nil { // Windows may refuse it
		link = scratch
	}
	n.Env = append(n.Env, "TMPDIR="+link, "TMP="+link)
	return n, scratch
}

// empty fails if anything is left in a folder.
func empty(t testing.TB, folder string) {
	t.Helper()
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, left)
}

// The demo shows what it promises, from the answers, and leaves nothing behind.
func TestDemo(t *testing.T) {
	t.Parallel()
	rounds, slowest := soak.Count(t, 1, 50), int64(0)
	claims := map[string]float64{}
	for range rounds {
		n, scratch := newAudience(t)
		out, errOut, code, err := n.Run(t.Context(), "demo", "--json", "--durability", "relaxed")
		require.NoError(t, err)
		require.Zero(t, code, "%s\n%s", out, errOut)
		var p played
		require.NoError(t, json.Unmarshal([]byte(out), &p))
		require.True(t, p.Held)
		requireStory(t, p.Steps)
		empty(t, scratch)
		require.NoDirExists(t, n.Home, "the user's home is not opened")
		require.Len(t, p.Try, 2)
		for _, line := range p.Try { // in a home of the test's own
			words := strings.Fields(line)
			require.Equal(t, binary, words[0])
			_, errOut, code, err := n.Run(t.Context(), words[1:]...)
			require.NoError(t, err)
			require.Zero(t, code, "%s: %s", line, errOut)
		}
		require.DirExists(t, n.Home)
		for name, taken := range p.Steps[1].Facts["by"].(object) {
			claims[name] += taken.(float64)
		}
		slowest = max(slowest, p.TookMS)
	}
	t.Logf("%d demos, all held, 0 files left; the slowest took %d ms; claims by worker: %v", rounds, slowest, claims)
}

// requireStory checks the facts of each step against what it is there to show.
func requireStory(t testing.TB, steps []demo.Step) {
	t.Helper()
	var names []string
	for _, s := range steps {
		names = append(names, s.Name)
		require.Empty(t, s.Error, s.Name)
		require.NotEmpty(t, s.Told, s.Name)
		require.NotEmpty(t, s.Shown, s.Name)
	}
	require.Equal(t, []string{"swarm", "race", "kill", "proof", "replan", "review", "trust", "takeover", "audit"},
		names)
	fact := func(step int, name string) any { return steps[step].Facts[name] }
	require.Less(t, fact(0, "tools_of_worker"), fact(0, "tools_of_lead"))
	require.Equal(t, []any{12., 12., 0., 12.}, []any{fact(1, "items"), fact(1, "claims"), fact(1, "twice"),
		fact(1, "done")})
	require.Equal(t, []any{"fail: the file lights.md is there", "fail: it names the three lights, from north to south"},
		fact(3, "criteria"))
	require.Equal(t, "break_symmetry", fact(4, "directive"))
	require.InDelta(t, 0.62, fact(4, "loss"), 0.05) // time adds to it
	require.Contains(t, fact(4, "refusal"), "guess")
	require.Equal(t, "accepted", fact(4, "state"))
	require.Equal(t, []any{2., 0., 1., 0.}, []any{fact(5, "waited"), fact(5, "found_before"), fact(5, "found_approved"),
		fact(5, "found_rejected")})
	require.Equal(t, []any{"medium", "low", "untrusted"}, fact(6, "tiers"))
	require.Equal(t, fact(2, "work_id"), fact(7, "work_id"))
	require.Greater(t, fact(7, "fence"), fact(2, "fence"))
	require.Contains(t, fact(7, "late"), "does not count")
	require.Equal(t, fact(8, "entry"), fact(8, "from"))
}

// saboteur hears the story and spoils it at a place.
type saboteur struct {
	at    string // the title of a step
	spoil func()
}

func (s *saboteur) Begin(_ int, title string) {
	if title == s.at {
		s.spoil()
	}
}
func (s *saboteur) Tell(demo.Line)            {}
func (s *saboteur) Wait(string) (done func()) { return func() {} }

// A step whose promise does not hold ends the story, and says so.
func TestDemoThatDoesNotHold(t *testing.T) {
	t.Parallel()
	for title, tt := range map[string]struct {
		spoil func(t *testing.T, person *Node)
		steps int
		want  string
	}{
		"Its workers race for the work": {func(t *testing.T, person *Node) {
			out, _, _, err := person.Run(t.Context(), "task", "list", "--json")
			require.NoError(t, err)
			var list struct {
				Items []struct {
					ID string `json:"work_id"`
				}
			}
			require.NoError(t, json.Unmarshal([]byte(out), &list))
			require.NotEmpty(t, list.Items)
			_, errOut, code, err := person.Run(t.Context(), "task", "cancel", list.Items[0].ID)
			require.NoError(t, err)
			require.Zero(t, code, errOut)
		}, 2, "11 claims"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			n, _ := newAudience(t)
			folder := t.TempDir()
			n.Home = filepath.Join(folder, "home")
			s := demo.Setting{Binary: binary, Folder: folder, Flags: []string{"--durability", "relaxed"},
				Teller: &saboteur{title, func() { tt.spoil(t, n) }}}
			steps, err := demo.Play(context.WithoutCancel(t.Context()), s, demo.Harbour())
			require.ErrorContains(t, err, title)
			require.ErrorContains(t, err, tt.want)
			require.Len(t, steps, tt.steps)
			require.NotEmpty(t, steps[tt.steps-1].Error)
			require.Empty(t, steps[tt.steps-1].Shown)
		})
	}
}
