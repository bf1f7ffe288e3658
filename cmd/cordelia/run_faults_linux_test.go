package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
)

// clientFaults are what goes wrong with a client in any role; ofExecutors is what one does
// that works in a worktree. The names are the replayer's.
var (
	clientFaults = []string{"hangs before a word", "hangs at the beginning", "hangs in the middle",
		"hangs after its answer", "prose", "asks the user", "refuses", "wrong type", "limit", "crashes", "is killed",
		"garbage", "two answers", "leaves a child"}
	ofExecutors = []string{"claims without calls", "writes outside", "plants a repository", "nests a repository",
		"links outside", "deletes its worktree", "fills the disk"}
	seatRoles = []string{"R1", "R2", "R3", "R4a", "R4b"}
)

// ends are those that a fault leads to which happens once: most are made good.
func ends(role, kind string) int {
	if kind == "refuses" && role != "R3" && role != "R4a" {
		return int(exitAbandoned) // the same question would be refused again
	}
	return 0
}

// A client that fails once, in whatever way and role, costs no work: the task is accepted, or
// it is abandoned and says why. Nothing hangs, nothing is left over, nothing outside changes.
func TestFaultsOfClients(t *testing.T) {
	type trial struct{ role, kind string }
	var all []trial
	for i, kind := range clientFaults {
		for j, role := range seatRoles {
			if soak.Count(t, 0, 1) > 0 || j == i%len(seatRoles) { // each once, in make soak each everywhere
				all = append(all, trial{role, kind})
			}
		}
	}
	for _, kind := range ofExecutors {
		all = append(all, trial{"R3", kind})
	}
	for _, tt := range all {
		t.Run(tt.kind+" "+tt.role, func(t *testing.T) {
			t.Parallel()
			play := twoParts()
			play.Faults = []replayFault{{Role: tt.role, Kind: tt.kind, Unless: "what_was_wrong", Times: 1}}
			h := newTheater(t, play)
			before := h.git("status", "--porcelain") + h.git("rev-parse", "HEAD")
			out, code := h.did("run", "--yes", "--patience", "4s", "--max-time", "3m", wish)
			require.Equal(t, ends(tt.role, tt.kind), code, out)
			if tt.role != "R3" { // whose HOME is gone; what it did is in the output, or undone
				require.FileExists(t, filepath.Join(h.dir, ".replayed.0.0"), "the fault happened")
			}
			require.Equal(t, before, h.git("status", "--porcelain")+h.git("rev-parse", "HEAD"))
			if code == 0 {
				h.accepted(h.taskIn(out))
				return
			}
			require.Empty(t, h.processes())
			require.Contains(t, out, "refused")
		})
	}
}

// An executor that changes what judges it passes by no code: the judge is told, and the
// attempt after it leaves the check alone.
func TestAnExecutorThatEditsItsCheck(t *testing.T) {
	t.Parallel()
	play := twoParts()
	for part := range play.Work { // the next attempt goes on from this one
		play.Work[part] = append([]string{"printf 'sh keep.sh && test -s notes.txt\\n' > check.sh"}, play.Work[part]...)
	}
	play.Faults = []replayFault{{Role: "R3", Kind: "edits what judges it",
		Unless: "what_was_wrong"},
		{Role: "R4a", Kind: "sees an edited check"}}
	h := newTheater(t, play)
	out, code := h.did("run", "--yes", wish)
	require.Zero(t, code, out)
	h.accepted(h.taskIn(out))
	require.Equal(t, 4, strings.Count(out, "R3  claude-code  starting"), "each part had a second attempt")
	require.Equal(t, "sh keep.sh && test -s notes.txt", h.git("show", "cordelia/"+h.taskIn(out)+":check.sh"))
}

// Killed at any moment, a run is taken up again, ends as it should, and does nothing twice.
func TestRunSurvivesManyKills(t *testing.T) {
	play := twoParts()
	play.Pause = 100
	h := newTheater(t, play)
	task, args, kills := "", []string{"run", "--yes", wish}, soak.Count(t, 3, 50)
	random := rand.New(rand.NewPCG(7, uint64(time.Now().UnixNano())))
	for range kills {
		log, err := os.Create(filepath.Join(h.dir, "log"))
		require.NoError(t, err)
		cmd := h.cordelia(args...)
		cmd.Stdout, cmd.Stderr = log, log
		require.NoError(t, cmd.Start())
		soak.Strike(random, 1500*time.Millisecond)
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it may have ended
		cmd.Wait()                                      //nolint:errcheck // killed
		raw, err := os.ReadFile(log.Name())
		require.NoError(t, err)
		require.NoError(t, log.Close())
		if m := branchWord.FindStringSubmatch(string(raw)); m != nil {
			task, args = m[1], []string{"run", "--resume", m[1]}
		}
		require.Eventually(t, func() bool { return len(h.processes()) == 0 }, 30*time.Second, 20*time.Millisecond,
			"nothing outlives the runner")
	}
	out, code := h.did(args...)
	if task == "" {
		task = h.taskIn(out)
	}
	require.Zero(t, code, out)
	h.accepted(task)
	merges := strings.Count(h.git("log", "--format=%s", "main..cordelia/"+task), "keep the rows in keep.sh\n")
	t.Logf("%d kills of the runner; accepted", kills)
	require.LessOrEqual(t, merges, 2, "a commit and at most a merge of it")
}
