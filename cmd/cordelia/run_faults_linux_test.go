package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
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
		"hangs after its answer", "says nothing", "prose", "asks the user", "refuses", "wrong type",
		"error beside an answer", "limit", "crashes", "is killed", "breaks off", "garbage", "two answers", "leaves a child"}
	ofExecutors = []string{"claims without calls", "writes outside", "plants a repository", "nests a repository",
		"links outside", "deletes its worktree", "fills the disk"}
	seatRoles = []string{"R1", "R2", "R3", "R4a", "R4b"}
	// answered are those in which a client answers all the same; of the others a call that
	// failed, or was postponed, is on record.
	answered = []string{"hangs after its answer", "two answers", "leaves a child", "wrong type"}
	// saidOf is what the user is told of work that the node refuses.
	saidOf = map[string]string{"plants a repository": "its .git is not the file that was there",
		"nests a repository": "there is a nested repository: lib", "links outside": "a symbolic link is new or changed: link",
		"deletes its worktree": "the worktree is refused"}
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
			require.Contains(t, out, saidOf[tt.kind])
			if !slices.Contains(answered, tt.kind) && !slices.Contains(ofExecutors, tt.kind) {
				require.Positive(t, h.failedCalls(tt.role), out)
			}
			if code == 0 {
				h.accepted(h.taskIn(out))
				return
			}
			require.Empty(t, h.processes())
			require.Contains(t, out, "refused")
		})
	}
}

// failedCalls is how many calls of a role are on record that did not answer.
func (h *theater) failedCalls(role string) int {
	h.Helper()
	out, code := h.did("cost", "--by", "role", "--json")
	require.Zero(h, code, out)
	var told struct {
		Costs []struct {
			Key    string
			Failed int
		}
	}
	require.NoError(h, json.Unmarshal([]byte(out), &told), out)
	for _, c := range told.Costs {
		if c.Key == role {
			return c.Failed
		}
	}
	return 0
}

// An executor that fills the disk on which all lies costs no work: the node refuses what it can
// neither commit nor record, and goes on once there is space again.
func TestAFullDiskCostsNoWork(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=48m"); err != nil {
		t.Skip("needs the right to mount a tmpfs")
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(disk, syscall.MNT_DETACH)) })
	t.Setenv("TMPDIR", disk)
	play := twoParts()
	play.Faults = []replayFault{{Role: "R3", Kind: "fills the whole disk"}}
	t.Run("on it", func(t *testing.T) { // its folder goes before the disk
		h := newTheater(t, play)
		raw, err := json.Marshal(twoParts())
		require.NoError(t, err)
		later := filepath.Join(h.dir, "bin", "later.json")
		require.NoError(t, os.WriteFile(later, raw, 0o600))
		var out bytes.Buffer
		cmd := h.cordelia("run", "--yes", "--parallel", "1", wish)
		cmd.Stdout, cmd.Stderr = &out, &out
		require.NoError(t, cmd.Start())
		require.Eventually(t, func() bool {
			var s syscall.Statfs_t
			return syscall.Statfs(disk, &s) == nil && s.Bavail == 0
		}, 2*time.Minute, 5*time.Millisecond, "the disk is never full")
		require.NoError(t, os.Rename(later, filepath.Join(h.dir, "bin", "play.json")))
		require.NoError(t, cmd.Wait(), out.String())
		t.Log(out.String())
		h.accepted(h.taskIn(out.String()))
	})
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

// Killed at any moment, a run is taken up again, ends as it should, and does nothing twice. A
// kill counts if it hit: after a task that ended before it another one is begun.
func TestRunSurvivesManyKills(t *testing.T) {
	play := twoParts()
	play.Pause = 100
	h := newTheater(t, play)
	begin := []string{"run", "--yes", wish}
	task, args, kills := "", begin, soak.Count(t, 3, 50)
	random := rand.New(rand.NewPCG(7, uint64(time.Now().UnixNano())))
	tasks := 0
	ended := func(out string) {
		if task == "" {
			task = h.taskIn(out)
		}
		h.accepted(task)
		once := strings.Count(h.git("log", "--format=%s", "main..cordelia/"+task), "keep the rows in keep.sh\n")
		require.LessOrEqual(t, once, 2, "a commit and at most a merge of it")
		task, args = "", begin
		tasks++
	}
	for hit := 0; hit < kills; {
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
		require.Eventually(t, func() bool { return len(h.processes()) == 0 }, 30*time.Second, 20*time.Millisecond,
			"nothing outlives the runner")
		if m := branchWord.FindStringSubmatch(string(raw)); m != nil {
			task, args = m[1], []string{"run", "--resume", m[1]}
		}
		if cmd.ProcessState.Exited() {
			require.Zero(t, cmd.ProcessState.ExitCode(), "%s", raw)
			ended(string(raw))
			continue
		}
		hit++
	}
	out, code := h.did(args...)
	require.Zero(t, code, out)
	ended(out)
	t.Logf("%d kills of the runner; %d tasks accepted", kills, tasks)
}
