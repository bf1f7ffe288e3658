package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// log is an annotated run that failed.
type log struct {
	System  string `json:"system"`
	Steps   int    `json:"steps"`
	Mistake int    `json:"mistake_step"`
	Ledger  []struct {
		Step     int  `json:"step"`
		Progress bool `json:"progress"`
		Loop     bool `json:"loop"`
	} `json:"ledger"`
	Events []struct {
		Step int    `json:"step"`
		Kind string `json:"kind"`
	} `json:"events"`
	Actions []action `json:"actions"`
}

// action is what an agent did in a step.
type action struct {
	Step  int    `json:"step"`
	Agent string `json:"agent"`
	Kind  string `json:"kind"`
	OK    *bool  `json:"ok"`
	Err   string `json:"err"`
	Sig   string `json:"sig"`
}

// failed reports a call that did not work as a call.
func (a action) failed() bool { return a.OK != nil && !*a.OK }

// trajectory is a run of a task with tools, and whether it solved it.
type trajectory struct {
	Task   int      `json:"task"`
	Reward float64  `json:"reward"`
	Tools  []string `json:"tools"`
	Sigs   []string `json:"sigs"`
	Errors []int    `json:"errors_at"`
}

// read gives the rows of a file of JSON lines.
func read[T any](folder, name string) (rows []T, err error) {
	f, err := os.Open(filepath.Join(folder, name))
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return nil, fmt.Errorf("%s, row %d: %w", name, len(rows)+1, err)
		}
		rows = append(rows, row)
	}
	return rows, lines.Err()
}
