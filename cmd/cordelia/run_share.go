package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	runner "cordelia/run"
	"cordelia/schemas"
)

// sharedFile is where a run tells other terminals of its user what its seats do now. It is
// for the eye alone: nothing is decided by it, and it goes with the run.
const sharedFile = "seats.json"

// Pace of what is shared.
const (
	shareEvery = 500 * time.Millisecond
	shareFresh = 5 * time.Second // a file that is older is of a run that was killed
)

// shareSeats writes what the seats of a run do now.
func shareSeats(folder string, list []runner.SeatState) error {
	raw, err := json.Marshal(list)
	if err != nil {
		return err
	}
	next := filepath.Join(folder, sharedFile+".next")
	if err := os.WriteFile(next, raw, 0o600); err != nil {
		return err
	}
	return os.Rename(next, filepath.Join(folder, sharedFile))
}

// sharedSeats reads what the seats of a task do now, nil if no run fills them.
func sharedSeats(task string) []runner.SeatState {
	folder, err := runFolder(task)
	if err != nil {
		return nil
	}
	path := filepath.Join(folder, sharedFile)
	info, err := os.Stat(path)
	if err != nil || time.Since(info.ModTime()) > shareFresh {
		return nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	list := []runner.SeatState{}
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// runsFolder is where the worktrees of all runs are made.
func runsFolder() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", schemas.Errorf(schemas.CodeUnavailable, "there is no folder for worktrees").Try("set HOME").
			Because(err)
	}
	return filepath.Join(cache, "cordelia", "runs"), nil
}

// runFolder is where the worktrees of a task are made.
func runFolder(task string) (string, error) {
	runs, err := runsFolder()
	return filepath.Join(runs, schemas.ShortID(task)), err
}
