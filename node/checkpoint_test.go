package node_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

func (h homestead) verified(folders ...string) events.Verified {
	h.Helper()
	files, err := node.CheckpointFiles(append([]string{h.home.Checkpoints()}, folders...)...)
	require.NoError(h, err)
	v, err := node.VerifyAuditFile(h.Context(), h.home.Database(), "", files, false)
	require.NoError(h, err)
	return v
}

// Whatever a node goes through in its life, its record verifies against every
// checkpoint it ever signed: work, restarts, backups, restores upon restores, and a
// new key of the node.
func TestRecordVerifiesAfterAnyLife(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			h := newHomestead(t)
			random := rand.New(rand.NewPCG(seed, 7))
			backups := []string{h.backup("first.db")}
			restores := 0
			for step := range 24 {
				switch random.IntN(6) {
				case 0:
					backups = append(backups, h.backup(fmt.Sprintf("%d.db", step)))
				case 1:
					h.restore(backups[random.IntN(len(backups))])
					restores++
				case 2:
					require.NoError(t, os.Rename(h.home.NodeKey(), filepath.Join(t.TempDir(), "old.key")))
					h.open(func(*ops.Service, *node.Keyring, ops.Caller) {})
				default:
					h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
						h.call(n, ann, "memory_write_warm",
							`{"type":"learning","data":{"type":"insight","content":"Steps differ"}}`)
						_, err := n.Checkpoint(t.Context(), ann.Principal)
						require.NoError(t, err)
					})
				}
				v := h.verified()
				require.True(t, v.Sound(), "step %d: %v", step, v.Damage)
				require.Equal(t, v.Checkpoints, v.Holding+v.Left)
			}
			require.Positive(t, restores)
			require.Positive(t, h.verified().Left)
		})
	}
}

// A restore that was killed before it signed what it restored, and is done again, leaves two
// branches, and the longer of them was signed: no checkpoint is taken for one of a forged record.
func TestARestoreAfterAKilledOneVerifies(t *testing.T) {
	h := newHomestead(t)
	backup := h.backup("b.db")
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		for range 20 { // more entries than a restore makes
			h.call(n, ann, "memory_write_warm", `{"type":"learning","data":{"type":"insight","content":"Long"}}`)
		}
		_, err := n.Checkpoint(t.Context(), ann.Principal)
		require.NoError(t, err)
	})
	signed := h.home.Checkpoints()
	require.NoError(t, os.Rename(signed, signed+".away"))
	require.NoError(t, os.WriteFile(signed, nil, 0o600)) // no folder: nothing can be signed
	require.Contains(t, fmt.Sprint(h.restore(backup).Notes), "no checkpoint yet")
	require.NoError(t, os.Remove(signed))
	require.NoError(t, os.Rename(signed+".away", signed))

	require.Empty(t, h.restore(backup).Notes)
	v := h.verified()
	require.True(t, v.Sound(), "%v", v.Damage)
	require.Equal(t, v.Checkpoints, v.Holding+v.Left)
	require.Contains(t, fmt.Sprint(v.Notes), "tells of an earlier restore", "a person is to recognise each")
}

// What a node signs reaches every folder it is told of, and shows there what a
// rolled back home hides.
func TestCheckpointsElsewhereShowARollback(t *testing.T) {
	h := newHomestead(t)
	share := h.folder("share")
	open := func(f func(n *ops.Service, ann ops.Caller)) {
		n, err := ops.Open(t.Context(), node.Config{Home: h.home, CheckpointDirs: []string{share}})
		require.NoError(t, err)
		defer func() { require.NoError(t, n.Close()) }()
		r := n.Keyring(nil)
		defer r.Close()
		ann, err := n.Person(t.Context(), r, "test")
		require.NoError(t, err)
		f(n, ann)
	}
	open(func(n *ops.Service, ann ops.Caller) {
		_, err := n.Checkpoint(t.Context(), ann.Principal)
		require.NoError(t, err)
	})
	old := h.folder("old")
	require.NoError(t, os.CopyFS(filepath.Join(old, "home"), os.DirFS(string(h.home))))
	open(func(n *ops.Service, ann ops.Caller) {
		h.worker(n, ann, "scout")
		_, err := n.Checkpoint(t.Context(), ann.Principal)
		require.NoError(t, err)
	})
	require.True(t, h.verified(share).Sound())

	require.NoError(t, os.RemoveAll(string(h.home)))
	require.NoError(t, os.Rename(filepath.Join(old, "home"), string(h.home)))
	require.True(t, h.verified().Sound(), "alone, the older copy is whole")
	v := h.verified(share)
	kinds := []events.Tampering{}
	for _, d := range v.Damage {
		kinds = append(kinds, d.Kind)
	}
	require.ElementsMatch(t, []events.Tampering{events.Missing, events.Truncated}, kinds, "%v", v.Damage)
}

// A folder that was named, or mounted again, after the newest checkpoint was signed
// gets it when one is asked for, though there is nothing new to sign; and one that
// holds newer ones than the home gets nothing.
func TestCheckpointsReachAFolderLater(t *testing.T) {
	h := newHomestead(t)
	share := h.folder("share")
	checkpoint := func(dirs ...string) node.Checkpointed {
		n, err := ops.Open(t.Context(), node.Config{Home: h.home, CheckpointDirs: dirs})
		require.NoError(t, err)
		defer func() { require.NoError(t, n.Close()) }()
		r := n.Keyring(nil)
		defer r.Close()
		ann, err := n.Person(t.Context(), r, "test")
		require.NoError(t, err)
		c, err := n.Checkpoint(t.Context(), ann.Principal)
		require.NoError(t, err)
		return c
	}
	copies := func() string {
		files, err := filepath.Glob(filepath.Join(share, "*"))
		require.NoError(t, err)
		text := ""
		for _, file := range files {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			text += string(raw)
		}
		return text
	}
	first := checkpoint()
	require.Empty(t, copies())
	again := checkpoint(share)
	require.False(t, again.New)
	require.Equal(t, first.Text, again.Text)
	require.Contains(t, copies(), first.Text)
	held := copies()
	require.False(t, checkpoint(share).New)
	require.Equal(t, held, copies(), "the second time nothing is missing")

	old := h.folder("old")
	require.NoError(t, os.CopyFS(filepath.Join(old, "home"), os.DirFS(string(h.home))))
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) { h.worker(n, ann, "scout") })
	checkpoint(share)
	require.NoError(t, os.RemoveAll(string(h.home)))
	require.NoError(t, os.Rename(filepath.Join(old, "home"), string(h.home)))
	require.NoError(t, filepath.WalkDir(string(h.home), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(path, map[bool]os.FileMode{true: 0o700, false: 0o600}[d.IsDir()]) // the copy forgot modes
	}))
	held = copies()
	require.False(t, checkpoint(share).New)
	require.Equal(t, held, copies(), "a home that went back adds nothing, so it shows")
}

func TestAuditReportTellsWhatIsNotable(t *testing.T) {
	h := newHomestead(t)
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		id := h.worker(n, ann, "scout")
		h.call(n, ann, "agent_deactivate", `{"agent":"scout"}`)
		r, err := n.AuditReport(t.Context(), ann.Principal, schemas.AuditQuery{})
		require.NoError(t, err)
		require.Len(t, r.Notable, 1)
		require.Contains(t, r.Notable[0].What, string(id)+" is deactivated")
		total := 0
		for _, a := range r.Actors {
			total += a.N
		}
		require.Equal(t, r.Events, total)

		list, _, err := n.AuditTail(t.Context(), ann.Principal,
			events.AuditFilter{Actor: "ann", Action: "agent_deactivate"}, 0,
			50)
		require.NoError(t, err)
		require.NotEmpty(t, list)
		for _, e := range list {
			require.Equal(t, "agent_deactivate", e.Action)
		}
		none, next, err := n.AuditTail(t.Context(), ann.Principal, events.AuditFilter{Action: "nothing like it"}, 0, 50)
		require.NoError(t, err)
		require.Empty(t, none)
		require.GreaterOrEqual(t, next, list[len(list)-1].Seq,
			"who follows goes on from the newest entry, matched or not")
		_, _, err = n.AuditTail(t.Context(), ops.Caller{}.Principal, events.AuditFilter{}, 0, 50)
		require.Error(t, err, "nobody in particular reads the record")
	})
}

// What a killed process left uncovered the next one covers, though it writes nothing
// itself: soon after its start, or at its end if that comes first.
func TestWhatIsUncoveredIsSignedByWhoeverIsThere(t *testing.T) {
	for name, wait := range map[string]bool{"running": true, "ending": false} {
		t.Run(name, func(t *testing.T) {
			h := newHomestead(t)
			h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
				_, err := n.Checkpoint(t.Context(), ann.Principal)
				require.NoError(t, err)
				h.call(n, ann, "memory_write_warm",
					`{"type":"learning","data":{"type":"insight","content":"Steps differ"}}`)
			})
			before := h.verified()
			require.Less(t, before.Covered, before.Entries)
			n, err := ops.Open(t.Context(), node.Config{Home: h.home, Durability: store.Relaxed, Clock: later{}})
			require.NoError(t, err)
			if wait {
				require.Eventually(t, func() bool { return h.verified().Covered == before.Entries }, 20*time.Second,
					20*time.Millisecond)
			}
			require.NoError(t, n.Close())
			v := h.verified()
			require.True(t, v.Sound())
			require.Equal(t, v.Entries, v.Covered)
		})
	}
}

// later is the machine's clock when a checkpoint of now is due for renewal.
type later struct{}

func (later) Now() time.Time { return time.Now().Add(node.CheckpointAfter + time.Second) }

// A home whose path holds characters of patterns finds its agents' keys and its checkpoints.
func TestAHomeWithThePathOfAPattern(t *testing.T) {
	h := homestead{T: t, home: node.Home(filepath.Join(t.TempDir(), "[a-z]", "home"))}
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		h.worker(n, ann, "scout")
		f, err := n.OpenIdentity(t.Context(), "scout")
		require.NoError(t, err)
		f.Identity.Erase()
		_, err = n.Checkpoint(t.Context(), ann.Principal)
		require.NoError(t, err)
	}, "ann")
	files, err := node.CheckpointFiles(h.home.Checkpoints())
	require.NoError(t, err)
	require.NotEmpty(t, files)
}
