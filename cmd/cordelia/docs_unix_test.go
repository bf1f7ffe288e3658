//go:build unix

package main

import (
	"cordelia/cmd/cordelia/cli"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// notRun marks a block of shell that no test runs, and says why.
var notRun = regexp.MustCompile(`^<!-- not run: .+ -->$`)

// shellOf gives the commands of a page, in their order, without the blocks that are
// marked as not run.
func shellOf(t *testing.T, page string) (list []string) {
	t.Helper()
	raw, err := os.ReadFile(page)
	require.NoError(t, err)
	before := ""
	block := []string(nil)
	inside, run := "", false
	for line := range strings.SplitSeq(string(raw), "\n") {
		fence, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case isFence && inside == "":
			inside, block, run = "```"+fence, nil, !notRun.MatchString(before)
			require.NotContains(t, []string{"bash", "shell", "console"}, fence, "%s: shell is marked sh", page)
		case isFence:
			if inside == "```sh" && run {
				list = append(list, shellLines(t, strings.Join(block, "\n"))...)
			}
			inside = ""
		case inside != "":
			block = append(block, line)
		}
		if strings.TrimSpace(line) != "" {
			before = strings.TrimSpace(line)
		}
	}
	require.Empty(t, inside, "%s: a block is left open", page)
	return list
}

// What docs tell people to type works: the blocks of shell on a page run one after
// the other, in a home that set-up just made, with the ids put in that were printed
// before. A line works unless it says "# refused" or "# exit N"; variables last to the
// end of the page.
func TestShellOfDocs(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	require.NoError(t, err)
	ran := 0
	for _, page := range append(pages, filepath.Join("..", "..", "SECURITY.md")) {
		lines := shellOf(t, page)
		if len(lines) == 0 {
			continue
		}
		ran += len(lines)
		if filepath.Base(page) == "tour.md" { // it goes on where the README's ends
			lines = append(tour(t, "README.md", "tour"), lines...)
		}
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			runPage(t, lines)
		})
	}
	require.Greater(t, ran, 40, "pages have lost their marks")
}

func runPage(t *testing.T, lines []string) {
	command := newTourist(t)
	ids := map[string]string{}
	for _, line := range lines {
		for word, id := range ids {
			line = strings.ReplaceAll(line, word, id)
		}
		want := 0
		if strings.Contains(line, "# refused") {
			want = cli.ExitDenied
		} else if _, code, ok := strings.Cut(line, "# exit "); ok {
			want = int(code[0] - '0')
		}
		out, code := outcome(t, command("set -a; [ ! -f .kept ] || . ./.kept\n"+line+
			"\ncode=$?; export -p >.kept; exit $code"))
		require.Equal(t, want, code, "%s\n%s", line, out)
		t.Logf("$ %s\n%s", line, out)
		for _, found := range printedID.FindAllStringSubmatch(out, -1) {
			if found[1] != "" {
				ids["TASK"] = found[2]
			} else {
				ids["ITEM"] = found[2]
			}
		}
	}
}

// The page about moving works between two homes: the folder that it has people carry over
// is all that comes along.
func TestMoveToAnotherMachine(t *testing.T) {
	lines := shellOf(t, filepath.Join("..", "..", "docs", "move.md"))
	last := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "cordelia restore") })
	require.Positive(t, last)
	old := newTourist(t)
	must := func(command func(string) *exec.Cmd, line string) string {
		out, code := outcome(t, command(line))
		require.Zero(t, code, "%s\n%s", line, out)
		return out
	}
	for _, line := range []string{"cordelia memory group create team",
		"cordelia agent register --type swarm-worker --name scout --group team",
		"cordelia memory write 'Gannets dive from thirty metres' --as scout --group team",
		"cordelia role example triager | cordelia role apply -"} {
		must(old, line)
	}
	for _, line := range lines[:last] {
		must(old, line)
	}
	home := t.TempDir()
	there := func(line string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Env, cmd.Dir = append(os.Environ(), "HOME="+home, "CORDELIA_HOME=",
			"PATH="+binDir+":"+os.Getenv("PATH")), home
		return cmd
	}
	require.NoError(t, os.CopyFS(filepath.Join(home, "move"), os.DirFS(filepath.Join(old("").Dir, "move"))))
	require.NoError(t, os.Chmod(filepath.Join(home, "move", "human.key"), 0o600)) // CopyFS widens it
	require.NoError(t, os.Chmod(filepath.Join(home, "move"), 0o700))
	for _, line := range lines[last:] {
		must(there, line)
	}
	require.Contains(t, must(there, "cordelia memory search 'where do gannets dive from'"),
		"Gannets dive from thirty metres")
	require.Regexp(t, `triager +active`, must(there, "cordelia role list"))
	require.Equal(t, must(old, "cat ~/.cordelia/hooks/*"), must(there, "cat ~/.cordelia/hooks/*"))
	must(there, "cordelia key unwrap scout")
	must(there, "cordelia memory write 'Puffins do not' --as scout --group team")
}

// The marks and fences must be able to be told apart.
func TestShellOfAPage(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(page,
		[]byte("# T\n```sh\na \\\n  b\nc '1\n2'\n```\n<!-- not run: no such program "+
			"-->\n\n```sh\nd\n```\n```json\n{}\n```\ntext\n```sh\ne\n```\n"), 0o600))
	require.Equal(t, []string{"a   b", "c '12'", "e"}, shellOf(t, page))
}
