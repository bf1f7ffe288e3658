package machinecheck

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// command is a check that runs this binary as a child.
func command(t *testing.T, words ...string) schemas.Check {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return schemas.Check{Kind: schemas.CheckCommand, Command: append([]string{self, "child"}, words...)}
}

// allowed is an Env with commands, in one folder.
func allowed(t *testing.T) Env {
	t.Helper()
	return Env{Roots: []string{t.TempDir()}, Commands: true, Timeout: time.Hour}
}

func TestCommands(t *testing.T) {
	env := allowed(t)
	for _, tt := range []struct {
		code, want int
		ok         bool
	}{{0, 0, true}, {3, 0, false}, {0, 3, false}, {3, 3, true}} {
		c := command(t, "exit", fmt.Sprint(tt.code))
		c.Exit = tt.want
		ok, e, err := Run(t.Context(), env, c, time.Now())
		require.NoError(t, err)
		require.Equal(t, tt.ok, ok, "%+v", tt)
		require.Equal(t, tt.code, e.Exit)
		require.Equal(t, "done\n", e.Head)
		require.Equal(t, "check_command", e.Tool)
		require.Equal(t, c.String(), e.Input)
	}
}

func TestCommandsAreTheOperatorsToAllow(t *testing.T) {
	made := filepath.Join(t.TempDir(), "made")
	c := schemas.Check{Kind: schemas.CheckCommand, Command: []string{"touch", made}}
	for _, env := range []Env{{}, {Roots: []string{t.TempDir()}}, {Commands: true}} {
		ok, e, err := Run(t.Context(), env, c, time.Time{})
		require.ErrorIs(t, err, ErrOff)
		require.False(t, ok)
		require.Empty(t, e)
	}
	met, err := Holds(t.Context(), []string{t.TempDir()}, c, time.Now())
	require.ErrorIs(t, err, ErrOff, "a prediction runs nothing, whatever is allowed")
	require.False(t, met)
	require.NoFileExists(t, made)
}

func TestWhatCannotBeStartedFails(t *testing.T) {
	env := allowed(t)
	require.NoError(t, os.WriteFile(filepath.Join(env.Roots[0], "plain"), []byte("x"), 0o600))
	for words, exit := range map[string]int{"no-such-program-3f": exitMissing, "./gone": exitMissing,
		"./plain": exitNoStart} {
		ok, e, err := Run(t.Context(), env, schemas.Check{Kind: schemas.CheckCommand, Command: []string{words}},
			time.Time{})
		require.NoError(t, err, words)
		require.False(t, ok)
		require.Equal(t, exit, e.Exit, words)
		require.NotContains(t, e.Head, env.Roots[0])
	}
	c := command(t, "exit", "0")
	c.Dir = "gone"
	ok, e, err := Run(t.Context(), env, c, time.Time{})
	require.NoError(t, err)
	require.False(t, ok)
	require.Contains(t, e.Head, "no such folder")
	env.Roots = []string{filepath.Join(env.Roots[0], "gone")}
	_, _, err = Run(t.Context(), env, command(t, "exit", "0"), time.Time{})
	require.Error(t, err, "a folder of the operator's that is not there is no failure of the task")
}

// A command sees its folder, a home that is gone afterwards, no input, and nothing
// of the node's environment.
func TestTheSurroundingsOfACommand(t *testing.T) {
	t.Setenv("CORDELIA_TEST_SECRET", "hush-51b0c3")
	env := allowed(t)
	env.Roots = append([]string{t.TempDir()}, env.Roots...)
	require.NoError(t, os.MkdirAll(filepath.Join(env.Roots[1], "a", "b"), 0o700))
	c := command(t, "surroundings")
	c.Dir = "a/b"
	_, e, err := Run(t.Context(), env, c, time.Time{})
	require.NoError(t, err)
	require.Zero(t, e.Exit)
	seen := map[string]string{}
	for line := range strings.Lines(e.Head) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		seen[name] = value
	}
	dir, err := filepath.EvalSymlinks(filepath.Join(env.Roots[1], "a", "b"))
	require.NoError(t, err)
	require.Contains(t, seen, "in "+dir)
	require.Contains(t, seen, "read 0", "there is no input")
	require.Contains(t, seen, "said on the other")
	require.NotContains(t, e.Head, "hush")
	require.Equal(t, os.Getenv("PATH"), seen["PATH"])
	require.Equal(t, filepath.Join(seen["HOME"], "tmp"), seen["TMPDIR"])
	require.NotEqual(t, os.Getenv("HOME"), seen["HOME"])
	require.NoDirExists(t, seen["HOME"], "not even what it made unwritable stays")
}

func TestACommandThatNeverEndsIsEnded(t *testing.T) {
	env := allowed(t)
	env.Timeout = 200 * time.Millisecond
	ok, e, err := Run(t.Context(), env, command(t, "stubborn"), time.Time{})
	require.ErrorIs(t, err, ErrLate, "that says nothing about the task")
	require.False(t, ok)
	require.Equal(t, ended, e.Exit)
	require.Contains(t, e.Head, ErrLate.Error(), "what it printed is kept")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = Run(ctx, allowed(t), command(t, "stubborn"), time.Time{})
	require.ErrorIs(t, err, context.Canceled, "that says nothing about the task")
}

// Whatever a command prints, what is kept is bounded, and it may not go on for ever.
func TestAnOutputIsBounded(t *testing.T) {
	const much = 100 << 20
	env := allowed(t)
	ok, e, err := Run(t.Context(), env, command(t, "print", fmt.Sprint(much)), time.Time{})
	require.NoError(t, err)
	require.False(t, ok, "beyond the limit it does not pass, however it would have ended")
	require.Equal(t, ended, e.Exit)
	require.Contains(t, e.Tail, errLong.Error())
	require.LessOrEqual(t, len(e.Head)+len(e.Tail), 2*schemas.EvidenceEnd)

	env.MaxOutput = much
	ok, e, err = Run(t.Context(), env, command(t, "print", fmt.Sprint(much)), time.Time{})
	require.NoError(t, err)
	require.True(t, ok, "as much as is allowed")
	require.True(t, strings.HasPrefix(e.Head, "line 0\nline 1\n"))
	require.Contains(t, e.Tail, "\nline ")
	require.Len(t, e.Head+e.Tail, 2*schemas.EvidenceEnd)
	env.MaxOutput--
	ok, _, err = Run(t.Context(), env, command(t, "print", fmt.Sprint(much)), time.Time{})
	require.NoError(t, err)
	require.False(t, ok)
}

// In whatever pieces an output comes, its evidence is that of the whole.
func TestBothEndsAreThoseOfTheWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	alphabet := []string{"a", "ü", "日", "😀", "\xff", "\xe2\x82", "\n"}
	long := 0
	for range 400 {
		var whole strings.Builder
		var e ends
		for size := rng.IntN(4 * schemas.EvidenceEnd); whole.Len() < size; {
			piece := strings.Repeat(alphabet[rng.IntN(len(alphabet))], rng.IntN(1500))
			whole.WriteString(piece)
			n, err := e.Write([]byte(piece))
			require.NoError(t, err)
			require.Equal(t, len(piece), n)
			require.LessOrEqual(t, len(e.head)+len(e.tail), 2*keep)
		}
		if whole.Len() > 2*keep {
			long++
		}
		want := schemas.NewEvidence("t", "i", 0, string([]rune(whole.String())))
		got := schemas.NewEvidence("t", "i", 0, e.String())
		require.Equal(t, want, got)
		require.True(t, utf8.ValidString(got.Head) && utf8.ValidString(got.Tail))
	}
	require.Greater(t, long, 100, "or nothing was left out")
}
