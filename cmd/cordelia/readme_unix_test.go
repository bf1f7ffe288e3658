//go:build unix

package main

import (
	"bytes"
	"cordelia/cmd/cordelia/cli"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tour gives the lines of shell between two marks of a page; one that ends in a
// backslash, or within quotes, goes on in the next.
func tour(t *testing.T, page, name string) (list []string) {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(page)))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(readme), "<!-- "+name+":begin -->")
	require.True(t, found)
	text, _, found := strings.Cut(rest, "<!-- "+name+":end -->")
	require.True(t, found)
	for _, block := range strings.Split(text, "```sh\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		list = append(list, shellLines(t, block)...)
	}
	return list
}

// shellLines gives the commands of a block of shell; one that ends in a backslash,
// or within quotes, goes on in the next line.
func shellLines(t *testing.T, block string) (list []string) {
	t.Helper()
	line := ""
	for part := range strings.SplitSeq(strings.TrimSpace(strings.ReplaceAll(block, "\\\n", "")), "\n") {
		if line += part; strings.Count(line, "'")%2 == 0 {
			list, line = append(list, line), ""
		}
	}
	require.Empty(t, line, "a quote is left open")
	return list
}

// newTourist gives what makes commands in a home that set-up just made.
func newTourist(t *testing.T) func(line string) *exec.Cmd {
	t.Helper()
	home := t.TempDir()
	env := append(os.Environ(), "HOME="+home, "CORDELIA_HOME=", "PATH="+binDir+":"+os.Getenv("PATH"))
	command := func(line string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
		cmd.Env, cmd.Dir = env, home
		return cmd
	}
	out, code := outcome(t, command("cordelia setup"))
	require.Zero(t, code, out)
	return command
}

// outcome runs a command and gives all it printed, and its exit code.
func outcome(t *testing.T, cmd *exec.Cmd) (string, int) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		require.NoError(t, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// The README's tour works as it stands there.
func TestTheTourOfTheReadme(t *testing.T) {
	command := newTourist(t)
	said, refused := "", 0
	for _, line := range tour(t, "README.md", "tour") {
		out, code := outcome(t, command(line))
		if strings.Contains(line, "# refused") {
			refused++
			require.Equal(t, cli.ExitDenied, code, "%s\n%s", line, out)
		} else {
			require.Zero(t, code, "%s\n%s", line, out)
		}
		said += out
	}
	require.Equal(t, 1, refused)
	require.Contains(t, said, "The importer drops rows without a date", "the search found what the worker wrote")
	require.Contains(t, said, "memory.written", "the agent heard of it")
}

// What follows the tour in the README works behind it, and no step is refused: a worker is
// registered, claims, reports, writes, is found and judged.
func TestTheWorkOfTheReadme(t *testing.T) {
	command := newTourist(t)
	out, code := outcome(t, command("cordelia memory group create findings --as claude-code"))
	require.Zero(t, code, out)
	item, id, said := "", "", ""
	for _, line := range tour(t, "README.md", "work") {
		line = strings.NewReplacer(" ITEM ", " "+item+" ", " ID ", " "+id+" ").Replace(line)
		out, code := outcome(t, command(line))
		require.Zero(t, code, "%s\n%s", line, out)
		if m := printedID.FindStringSubmatch(out); m != nil && m[1] == "" {
			item = m[2]
		}
		if strings.HasPrefix(line, "cordelia memory write") {
			id = regexp.MustCompile(`(?m)^[0-9a-f-]{8,36}$`).FindString(out)
		}
		said += out
	}
	require.Contains(t, said, "The build is slow because nothing is cached")
	require.Contains(t, said, "1 done")
}

// printedID finds the ids that the tour of the pipeline refers to.
var printedID = regexp.MustCompile(`(?m)^(?:(Task)|item) +([0-9a-f-]{8,36})`)

// The tour of the pipeline works in two terminals, with the ids put in that
// were printed before, and the second sees how it ends.
func TestThePipelineOfTheDocs(t *testing.T) {
	command := newTourist(t)
	ids := map[string]string{}
	var second *exec.Cmd
	var seen bytes.Buffer
	for _, line := range tour(t, "docs/tasks.md", "pipeline") {
		for word, id := range ids {
			line = strings.ReplaceAll(line, word, id)
		}
		if strings.Contains(line, "second terminal") {
			second = command("exec " + line)
			second.Stdout, second.Stderr = &seen, &seen
			require.NoError(t, second.Start())
			continue
		}
		out, code := outcome(t, command(line))
		require.Zero(t, code, "%s\n%s", line, out)
		for _, found := range printedID.FindAllStringSubmatch(out, -1) {
			if found[1] != "" {
				ids["TASK"] = found[2]
			} else {
				ids["ITEM"] = found[2]
			}
		}
	}
	require.NotNil(t, second)
	require.NoError(t, second.Wait(), seen.String())
	require.Contains(t, seen.String(), "fail: it says hello")
	require.Contains(t, seen.String(), "the task is accepted")
}
