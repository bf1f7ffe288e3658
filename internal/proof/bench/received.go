//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"cordelia/internal/proof/e2e"
)

// claudeCode is where make e2e installs the client.
const claudeCode = ".cache/e2e/node_modules/@anthropic-ai/claude-code/bin/claude.exe"

// received measures how many bytes of results a model gets in a fixed session, from the
// real client.
func (b *bench) received() (section, error) {
	var s section
	program := os.Getenv("CORDELIA_CLAUDE")
	if program == "" {
		program = claudeCode
	}
	program, err := filepath.Abs(program)
	if err != nil {
		return s, err
	}
	if _, err := os.Stat(program); err != nil {
		return s, &skipped{"Claude Code is not installed: run make e2e once"}
	}
	folder := filepath.Join(b.folder, "received")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return s, err
	}
	results, err := e2e.Claude(context.Background(), program, b.binary, folder)
	if err != nil {
		return s, err
	}
	got := e2e.Received(results)
	s.Rows = append(s.Rows, row{What: fmt.Sprintf("results a model receives in %d calls", len(results)), Unit: "bytes",
		Ours: spreadOf([]float64{float64(got)})}.
		holding(fmt.Sprintf("≤ %d", e2e.MaxReceived), got <= e2e.MaxReceived))
	s.Notes = append(s.Notes, "The session calls each tool of the default list, reads a text of 600 characters "+
		"whole, gets 10 search hits and reads 20 unread events; each call is computed from the texts before it. The "+
		"client is Claude Code, headless.")
	return s, nil
}
