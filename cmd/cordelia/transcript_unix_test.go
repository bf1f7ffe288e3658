//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"cordelia/cmd/cordelia/cli"
	"cordelia/internal/drive"
	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

// binDir holds the program under test, as a command that does not wait for the
// disk: the store's own tests look at that.
var binDir string

const relaxed = "#!/bin/sh\nexec \"${0%/*}/program\" --durability relaxed \"$@\"\n"

func TestMain(m *testing.M) {
	// What is started here ends with its terminal, also where nohup started the tests.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "cordelia-cli-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
		binDir = dir
		if err := drive.Build(filepath.Join(dir, "program")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if err := os.WriteFile(filepath.Join(dir, "cordelia"), []byte(relaxed), 0o755); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// stage is a folder to run commands in, with a home of its own.
type stage struct {
	*testing.T
	dir     string
	numbers map[string]int // of ids, which differ from run to run
	count   map[string]int
}

const testPassphrase = "correct horse"

// newStage makes a stage: home is "none", "ann" (a person and her agent) or
// "locked" (the same, her key with a passphrase, which is in the file pass).
func newStage(t *testing.T, home string) *stage {
	s := &stage{T: t, dir: t.TempDir(), numbers: map[string]int{}, count: map[string]int{}}
	if home == "none" {
		return s
	}
	var passphrase []byte
	if home == "locked" {
		passphrase = []byte(testPassphrase)
		require.NoError(t, os.WriteFile(filepath.Join(s.dir, "pass"), append([]byte(testPassphrase), '\n'), 0o600))
	}
	n, err := ops.Open(t.Context(), node.Config{Home: node.Home(s.home()), Durability: store.Relaxed})
	require.NoError(t, err)
	_, err = n.Establish(t.Context(), "ann", passphrase, nil)
	require.NoError(t, errors.Join(err, n.Close()))
	return s
}

func (s *stage) home() string { return filepath.Join(s.dir, "home") }

// command is a shell line in the stage.
func (s *stage) command(line string) *exec.Cmd {
	cmd := exec.CommandContext(s.Context(), "sh", "-c", line)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + binDir + ":" + os.Getenv("PATH"), "HOME=" + s.dir, "CORDELIA_HOME=" + s.home(),
		"TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal to ask at
	return cmd
}

// run gives what a shell line printed, as a transcript shows it.
func (s *stage) run(line string) string {
	cmd := s.command(line)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	var exit *exec.ExitError
	require.True(s, err == nil || errors.As(err, &exit), "%v", err)
	var b strings.Builder
	for _, l := range lines(s.steady(out.String())) {
		b.WriteString(l + "\n")
	}
	for _, l := range lines(s.steady(complaint.String())) {
		b.WriteString("! " + l + "\n")
	}
	if exit != nil {
		fmt.Fprintf(&b, "[exit %d]\n", exit.ExitCode())
	}
	return b.String()
}

func lines(text string) []string {
	if text = strings.TrimSuffix(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// varies is what differs from run to run, and the word that stands for it.
var varies = []struct {
	word string
	text *regexp.Regexp
}{
	{"time", regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| UTC)?|\d{4}-\d\d-\d\d \d\d:\d\d UTC|\d{8}[Tt]\d{6}\.\d+[Zz]`)},
	{"day", regexp.MustCompile(`([A-Z][a-z]+day, )?\d{4}-\d\d-\d\d`)},
	{"uuid", regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)},
	{"hash", regexp.MustCompile(`\b[0-9a-f]{64}\b`)},
	{"short", regexp.MustCompile(`\b[0-9a-f]{12}\b`)}, // of a hash
	{"id", regexp.MustCompile(`\b[0-9a-f]{8}\b`)},     // of a uuid
	{"token", regexp.MustCompile(`cdl1_[\w-]+`)},
	{"sealed", regexp.MustCompile(`[A-Za-z0-9+/]{174}==`)},
	{"signature", regexp.MustCompile(`[A-Za-z0-9+/]{86}==`)},
	{"key", regexp.MustCompile(`[A-Za-z0-9+/]{43}=`)},
	{"cursor", regexp.MustCompile(`(--cursor |--ack |"cursor": ")[\w-]+`)},
	{"size", regexp.MustCompile(`\d+(\.\d+)? [KM]iB|"bytes": \d+`)},
	{"session", regexp.MustCompile(`terminal-\d+`)},
}

var blanks = regexp.MustCompile(`(\S) {2,}`)

// steady replaces what varies. Ids keep a number of their own, so that a
// transcript still shows which is which; the layout of tables has its own test.
func (s *stage) steady(text string) string {
	text = strings.ReplaceAll(text, s.dir, "DIR")
	for _, v := range varies {
		text = v.text.ReplaceAllStringFunc(text, func(found string) string {
			switch v.word {
			case "hash", "uuid", "short", "id":
				return fmt.Sprintf("<%s %d>", v.word, s.number(found, v.word))
			}
			return "<" + v.word + ">"
		})
	}
	return blanks.ReplaceAllString(text, "$1  ")
}

// number tells ids apart, in the order they were first seen. The short form of
// one has its number.
func (s *stage) number(id, word string) int {
	kind := word
	switch word {
	case "hash", "short":
		kind, id = "hash", id[:12]
	case "uuid", "id":
		kind, id = "uuid", schemas.ShortID(id)
	}
	if s.numbers[id] == 0 {
		s.count[kind]++
		s.numbers[id] = s.count[kind]
	}
	return s.numbers[id]
}

// TestTranscripts runs the commands of each transcript in testdata/cli and
// compares what they print with what it says they do. A transcript begins with
// the kind of home; "% " begins a remark, "$ " a command for the shell, "! " a
// line of stderr.
func TestTranscripts(t *testing.T) {
	paths, err := filepath.Glob("testdata/cli/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(path)
			require.NoError(t, err)
			var s *stage
			var got strings.Builder
			for _, l := range lines(string(raw)) {
				switch {
				case strings.HasPrefix(l, "home "):
					s = newStage(t, strings.TrimPrefix(l, "home "))
					got.WriteString(l + "\n")
				case strings.HasPrefix(l, "% "):
					got.WriteString("\n" + l + "\n")
				case strings.HasPrefix(l, "$ "):
					got.WriteString("\n" + l + "\n" + s.run(strings.TrimPrefix(l, "$ ")))
				}
			}
			if os.Getenv("UPDATE_GOLDEN") == "1" {
				require.NoError(t, os.WriteFile(path, []byte(got.String()), 0o644))
			}
			require.Equal(t, string(raw), got.String(),
				"run UPDATE_GOLDEN=1 go test ./cmd/cordelia -run %s and read the change", strings.TrimPrefix(t.Name(), "Test"))
		})
	}
}

// Every command is shown to work and to fail in some transcript, and says in
// its help what it does.
func TestEveryCommandIsShown(t *testing.T) {
	works, fails := map[string]bool{}, map[string]bool{}
	paths, err := filepath.Glob("testdata/cli/*.txt")
	require.NoError(t, err)
	root := rootCommand((&cli.App{Out: os.Stdout, ErrOut: os.Stderr, In: os.Stdin}), nil)
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, part := range strings.Split(string(raw), "\n$ ")[1:] {
			line, output, _ := strings.Cut(part, "\n")
			_, words, ok := strings.Cut(line, "cordelia ")
			if !ok {
				continue
			}
			cmd, _, err := root.Find(strings.Fields(words))
			if err != nil {
				continue
			}
			if strings.Contains(output, "\n[exit ") || strings.HasPrefix(output, "[exit ") {
				fails[cmd.CommandPath()] = true
			} else {
				works[cmd.CommandPath()] = true
			}
		}
	}
	elsewhere := map[string]bool{"mcp": true, "hook": true, // it never fails
		"console": true,                 // console's tests, and internal/proof/e2e in a browser
		"run":     true, "worker": true, // tests with a scripted client, and internal/proof/e2e with real ones
		"migrate": true, // internal/proof/scenario, with a server
		"serve":   true, "setup": true, "uninstall": true, "doctor": true, "version": true}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			if cmd == root && elsewhere[c.Name()] {
				continue
			}
			require.NotEmpty(t, c.Short, c.CommandPath())
			if c.HasSubCommands() {
				walk(c)
				continue
			}
			require.NotEmpty(t, c.Example, c.CommandPath())
			asksAClient := slices.Contains([]string{"cordelia demo run", "cordelia proof live"}, // which tests play
				c.CommandPath()) // with a scripted one
			needsAPackage := c.CommandPath() == "cordelia embeddings install" // of 26 MB, which no test has
			require.True(t, works[c.CommandPath()] || c.Name() == "tail" || asksAClient || needsAPackage,
				"%s: no transcript shows it working", c.CommandPath())
			require.True(t, fails[c.CommandPath()], "%s: no transcript shows it failing", c.CommandPath())
		}
	}
	walk(root)
}

// Tail prints what happens after it began, and an interrupt ends it well.
func TestEventsTail(t *testing.T) {
	for name, flags := range map[string]string{"own": "", "of an agent": "--as claude-code"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "ann")
			// What a reader does itself is no news to it: the node makes an agent active.
			begin := func(agent string) {
				as := " --as claude-code"
				if name == "own" {
					as = ""
				}
				s.run("cordelia agent register --type swarm-worker --name " + agent + as)
				s.run("cordelia memory search x --as " + agent)
			}
			cmd := s.command("exec cordelia events tail --json " + flags)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			events := bufio.NewScanner(out)
			heard := func(what string) {
				for events.Scan() {
					if strings.Contains(events.Text(), what) {
						return
					}
				}
				t.Errorf("the tail ended before %s", what)
			}
			for _, agent := range []string{"scout", "second"} {
				begin(agent)
				heard(`"new_status":"active"`)
			}
			require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
			require.NoError(t, cmd.Wait())
			unread := s.run("cordelia events poll " + flags)
			if name == "own" {
				require.Contains(t, unread, "No unread events.")
			} else {
				require.Contains(t, unread, "new_status=active", "a watcher takes nothing from the agent")
			}
		})
	}
}
