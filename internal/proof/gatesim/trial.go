package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// trial is one task with one fault.
type trial struct {
	fault   fault
	checked int // criteria before this one have a machine check
	seed    uint64
	unmet   [criteria]bool
	other   int // the criterion that the first attempt fails on, for a separate artefact
	scores  scores
}

// verdict is what became of a trial: whether each gate let it through.
type verdict struct {
	ours     bool
	held     bool // this gate leaves it to a person
	holistic map[string]bool
	machine  bool // an unmet criterion has a machine check
}

func newTrial(f fault, checked int, seed uint64) *trial {
	t := &trial{fault: f, checked: checked, seed: seed}
	lots := rand.New(rand.NewPCG(seed, 1))
	order := lots.Perm(criteria)
	for _, c := range order[:f.unmet] {
		t.unmet[c] = true
	}
	t.other = order[criteria-1]
	var looks [attempts][criteria]sight
	for a := range looks {
		for c := range looks[a] {
			looks[a][c] = t.looks(c, a)
		}
	}
	t.scores = read(looks, rand.New(rand.NewPCG(seed, 2)))
	return t
}

// faulty reports whether the criterion is one that must keep the attempt from being
// accepted.
func (t *trial) faulty(c, attempt int) bool {
	if t.fault.left == earlier && attempt == 0 {
		return c == t.other
	}
	return t.unmet[c]
}

func (t *trial) looks(c, attempt int) sight {
	switch {
	case !t.faulty(c, attempt):
		return met
	case t.fault.left == earlier && attempt == 0:
		return shown
	}
	return t.fault.looks
}

// machine reports whether a machine check looks at something that is unmet, in every
// attempt.
func (t *trial) machine() bool {
	return slices.Contains(t.unmet[:t.checked], true) && (t.fault.left != earlier || t.other < t.checked)
}

// expected is the right result of a check of the criterion.
func (t *trial) expected(c, attempt int) bool { return !t.faulty(c, attempt) }

// pause is longer than the slack that the freshness of files has.
const pause = 80 * time.Millisecond

// prepare is what lies there before a task begins.
func (t *trial) prepare(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for c := range t.checked {
		if t.unmet[c] && (t.fault.left == old || t.fault.left == restamped) {
			if err := write(folder, c, time.Now().Add(-time.Hour)); err != nil {
				return err
			}
		}
	}
	return nil
}

// execute leaves the files of an attempt. Called while the executor has its lease.
func (t *trial) execute(folder string, attempt int) error {
	for c := range t.checked {
		var err error
		switch faulty := t.faulty(c, attempt); {
		case !faulty:
			err = write(folder, c, time.Time{})
		case t.fault.left == restamped:
			now := time.Now()
			err = os.Chtimes(filepath.Join(folder, file(c)), now, now)
		case attempt == 0 && t.fault.left == earlier, t.fault.left == absent && c%2 == 0:
			err = os.WriteFile(filepath.Join(folder, file(c)), []byte("nothing was measured\n"), 0o600)
			if c%3 == 0 { // its check asks for a file with any content
				err = os.Remove(filepath.Join(folder, file(c)))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func file(c int) string { return fmt.Sprintf("c%d.json", c) }

// write makes the right artefact, with the time given, or the present one if that is zero.
func write(folder string, c int, at time.Time) error {
	path := filepath.Join(folder, file(c))
	if err := os.WriteFile(path, []byte(`{"metres": 12}`+"\n"), 0o600); err != nil || at.IsZero() {
		return err
	}
	return os.Chtimes(path, at, at)
}

// checkOf is the machine check of a criterion: each kind of file check in turn.
func checkOf(folder string, c int) args {
	path := folder + "/" + file(c)
	switch c % 3 {
	case 0:
		return args{"kind": "file", "path": path}
	case 1:
		return args{"kind": "regex", "path": path, "pattern": `"metres": \d+`}
	}
	return args{"kind": "json_path", "path": path, "json_path": "$.metres", "equals": 12}
}

func criterion(c int) string { return fmt.Sprintf("span %d was measured at both ends", c) }
