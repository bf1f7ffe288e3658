//go:build unix

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// An item whose deadline is over says so before a process ends it.
func TestAnOverdueItemSaysSo(t *testing.T) {
	s := newStage(t, "ann")
	s.run(`cordelia task submit --items '[{"intent":"soon","within_seconds":1}]' | sed -n 's/  ready$//p' >item; sleep 1.2`)
	require.Contains(t, s.run("cordelia task list"), "ready, overdue")
	shown := s.run("cordelia task show $(cat item)")
	require.Regexp(t, `state +ready, overdue`, shown)
	require.Regexp(t, `deadline +\S`, shown)
}
