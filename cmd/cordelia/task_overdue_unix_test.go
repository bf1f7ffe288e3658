//go:build unix

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An item whose deadline is over says so until a process ends it, which a slow machine's second command may find done.
func TestAnOverdueItemSaysSo(t *testing.T) {
	s := newStage(t, "ann")
	s.run(`cordelia task submit --items '[{"intent":"soon","within_seconds":1}]' | sed -n 's/  ready$//p' >item; sleep 1.2`)
	require.Regexp(t, `ready, overdue|failed`, s.run("cordelia task list"))
	shown := s.run("cordelia task show $(cat item)")
	require.Regexp(t, `state +(ready, overdue|failed)`, shown)
	require.Regexp(t, `deadline +\S`, shown)
}
