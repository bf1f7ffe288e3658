// Command replayer stands in for Claude Code in tests: a scripted program without a model.
// It reads a brief on stdin as the client does and replays the lines that the client prints
// for such a turn, recorded of version 2.1.329, with the answer of the role in them. What an
// executor is scripted to do it really does, with bash, in its folder.
//
// CLAUDE_REPLAY names the script, a JSON file. A fault of the script replaces what the client
// would do in one role: those in which a real client cannot be brought by its endpoint.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// script is what the program plays.
type script struct {
	Plan   json.RawMessage     `json:"plan"`   // what R2 answers
	Work   map[string][]string `json:"work"`   // commands of R3, by words that its brief holds
	Faults []fault             `json:"faults"` // the first that fits happens
	Pause  int                 `json:"pause"`  // milliseconds before each answer
}

// fault is what goes wrong in a role.
type fault struct {
	Role   string `json:"role"`
	Kind   string `json:"kind"`
	Unless string `json:"unless"` // words of a brief that it spares
	Times  int    `json:"times"`  // how often, 0 = always; counted in HOME, so behind the shield by attempt
}

func main() {
	if err := play(); err != nil {
		fmt.Fprintln(os.Stderr, "replayer:", err)
		os.Exit(9)
	}
}

func play() error {
	for _, arg := range os.Args[1:] {
		if arg == "--version" {
			fmt.Println("2.1.329 (replayer)")
			return nil
		}
	}
	path := os.Getenv("CLAUDE_REPLAY")
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var s script
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	prompt, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	t := &turn{script: s, role: roleOf(string(prompt)), prompt: string(prompt)}
	for i, f := range s.Faults {
		if f.Role == t.role && (f.Unless == "" || !strings.Contains(t.prompt, f.Unless)) && f.due(i) {
			return t.fail(f.Kind)
		}
	}
	t.begin()
	return t.work()
}

// due reports whether a fault happens once more.
func (f fault) due(n int) bool {
	if f.Times == 0 {
		return true
	}
	for i := range f.Times {
		mark := filepath.Join(os.Getenv("HOME"), fmt.Sprintf(".replayed.%d.%d", n, i))
		file, err := os.OpenFile(mark, os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			file.Close() //nolint:errcheck // nothing was written
			return true
		}
	}
	return false
}

// roleOf is the role whose brief a prompt is.
func roleOf(prompt string) string {
	for _, one := range [][2]string{{"R4b", "Meta-validator (R4b)"}, {"R4a", "Validator (R4a)"}, {"R3", "Executor (R3)"},
		{"R2", "Planner (R2)"}, {"R1", "Perceiver (R1)"}} {
		if strings.Contains(prompt, one[1]) {
			return one[0]
		}
	}
	return ""
}
