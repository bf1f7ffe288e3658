//go:build unix

package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A watch without a name shows each change of what runs, and ends when nothing does.
func TestWatchWithoutAName(t *testing.T) {
	command := newTourist(t)
	run := func(line string) string {
		t.Helper()
		out, code := outcome(t, command(line))
		require.Zero(t, code, "%s\n%s", line, out)
		return out
	}
	run("cordelia agent register --type swarm-worker --name scout")
	run(`cordelia task submit "Count the sheep"`)
	var said, seen bytes.Buffer
	hear, speak := newLines(&said)
	read, write := newLines(&seen)
	watch := command("exec cordelia task watch")
	watch.Stdout, watch.Stderr = write, speak
	require.NoError(t, watch.Start())
	require.Contains(t, hear(t), "nobody holds work yet, and 1 item waits for an agent")
	item := printedID.FindStringSubmatch(run("cordelia task claim --as scout"))[2]
	require.Contains(t, read(t), item+"  held by scout  Count the sheep")
	run("cordelia task report " + item + " done --fence 1 --as scout")
	require.Contains(t, read(t), item+"  done  Count the sheep")
	require.NoError(t, watch.Wait(), "it ends with what it watches")
}

// newLines is a writer whose lines a test reads one after the other.
func newLines(all *bytes.Buffer) (read func(*testing.T) string, write *lineWriter) {
	w := &lineWriter{all: all, lines: make(chan string, 100)}
	return func(t *testing.T) string {
		t.Helper()
		select {
		case l := <-w.lines:
			return l
		case <-time.After(time.Minute):
			require.FailNow(t, "no line came", all.String())
			return ""
		}
	}, w
}

type lineWriter struct {
	all, rest *bytes.Buffer
	lines     chan string
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.all.Write(p)
	if w.rest == nil {
		w.rest = &bytes.Buffer{}
	}
	w.rest.Write(p)
	for {
		l, err := w.rest.ReadString('\n')
		if err != nil {
			w.rest.WriteString(l)
			return len(p), nil
		}
		w.lines <- l
	}
}
