package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// terminal makes a terminal: what is written to keys is typed, what the program
// prints is read from there, too.
func terminal(t *testing.T) (keys, screen *os.File) {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	screen, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	return keys, screen
}

// newRover is a stage with an autonomous agent, and its chain in a file.
func newRover(t *testing.T) *stage {
	s := newStage(t, "ann")
	s.run("cordelia memory group create lab --as claude-code")
	rights := `{"layers": ["l1", "l2"], "groups": ["lab"], "visibility": ["group"]}`
	s.run(`cordelia agent register --type autonomous --name rover --group lab --as claude-code --capabilities '{"tools": ["reintegrate", "memory_session"], "memory_read": ` +
		rights + `, "memory_write": ` + rights + `, "max_parallel_ops": 2, "ttl_seconds": 3600, "autonomous": true}'`)
	s.run(`cordelia memory session start --as rover --json | sed -n 's/^  "chain_hash": "\(.*\)",$/\1/p' >chain`)
	return s
}

// review is what a person sees who types keys at a terminal.
func (s *stage) review(typed string) string {
	s.T.Helper()
	keys, screen := terminal(s.T)
	defer keys.Close()
	cmd := s.command("exec cordelia review")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	require.NoError(s.T, cmd.Start())
	require.NoError(s.T, screen.Close())
	_, err := keys.WriteString(typed)
	require.NoError(s.T, err)
	var shown bytes.Buffer
	_, _ = shown.ReadFrom(keys) // ends with an error when the program has
	require.NoError(s.T, cmd.Wait())
	return shown.String()
}

// At a terminal each thing that waits is shown with its difference in colours and
// asked about, and what is answered happens.
func TestReviewAsksAtATerminal(t *testing.T) {
	s := newRover(t)
	one := func(text string) string {
		return `{"type": "learning", "group": "lab", "data": {"type": "insight", "content": "` + text + `"}}`
	}
	require.Contains(t, s.run(
		`cordelia review return --as rover --session-count 0 --chain-hash $(cat chain) --memories '[`+
			one("First well")+`, `+one("Second well")+`, `+one("Third well")+`, `+one("Fourth well")+`]'`),
		"4 memories wait")

	text := s.review("a\nwhat\ns\nr\nq\n")
	require.Contains(t, text, "approve, reject, skip or quit?")
	require.Contains(t, text, "\x1b[32m+ content: First well\x1b[0m")
	require.Contains(t, text, "Fourth well", "it was shown, and not decided")

	list := s.run("cordelia review list")
	require.NotContains(t, list, "First well")
	require.Contains(t, list, "Second well")
	require.NotContains(t, list, "Third well")
	require.Contains(t, list, "Fourth well")
	found := s.run("cordelia memory search well --as claude-code")
	require.Contains(t, found, "First well")
	require.NotContains(t, found, "Third well")
}

// What did not fit into an answer is asked about as well.
func TestReviewAsksAboutAllThatWaits(t *testing.T) {
	s := newRover(t)
	var all []string
	for i := range 20 {
		wide := strings.Repeat("<", 150)
		all = append(all, fmt.Sprintf(
			`{"type": "learning", "group": "lab", "data": {"type": "insight", "content": "%d %s\\n%s %d"}}`, i, wide,
			wide, i))
	}
	s.run(`cordelia review return --as rover --session-count 0 --chain-hash $(cat chain) --memories '[` +
		strings.Join(all, ", ") + `]'`)
	require.Contains(t, s.run("cordelia review list --json"), "left_out")
	text := s.review(strings.Repeat("s\n", 25))
	require.Equal(t, 20, strings.Count(text, "approve, reject, skip or quit?"))
}
