package node_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/events"
	"cordelia/internal/keys"
	"cordelia/internal/store"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

// homestead is a home with its person's key: the real thing, on a disk.
type homestead struct {
	*testing.T
	home node.Home
}

func newHomestead(t *testing.T) homestead {
	h := homestead{T: t, home: node.Home(filepath.Join(t.TempDir(), "home"))}
	h.open(func(n *ops.Service, _ *node.Keyring, _ ops.Caller) {}, "ann")
	return h
}

// open runs f in a node of the home, as a process of its own would.
func (h homestead) open(f func(n *ops.Service, r *node.Keyring, ann ops.Caller), establish ...string) {
	h.Helper()
	n, err := ops.Open(h.Context(), node.Config{Home: h.home, Durability: store.Relaxed})
	require.NoError(h, err)
	defer func() { require.NoError(h, n.Close()) }()
	for _, person := range establish {
		_, err := n.Establish(h.Context(), person, nil, nil)
		require.NoError(h, err)
	}
	r := n.Keyring(nil)
	defer r.Close()
	ann, err := n.Person(h.Context(), r, "test")
	require.NoError(h, err)
	f(n, r, ann)
}

// folder is a folder of the home's machine.
func (h homestead) folder(name string) string {
	h.Helper()
	dir := filepath.Join(filepath.Dir(string(h.home)), name)
	require.NoError(h, os.MkdirAll(dir, 0o755))
	return dir
}

func (h homestead) call(n *ops.Service, who ops.Caller, tool, args string) map[string]any {
	h.Helper()
	answer, err := ops.Find(tool).Call(h.Context(), n, who, json.RawMessage(args))
	require.NoError(h, err)
	raw, err := json.Marshal(answer)
	require.NoError(h, err)
	var out map[string]any
	require.NoError(h, json.Unmarshal(raw, &out))
	return out
}

// worker registers an agent and gives its id.
func (h homestead) worker(n *ops.Service, parent ops.Caller, name string) schemas.EntityID {
	h.Helper()
	out := h.call(n, parent, "agent_register", `{"agent_type":"swarm-worker","display_name":"x","name":"`+name+`"}`)
	return schemas.EntityID(out["agent_id"].(string))
}

func (h homestead) backup(name string) string {
	h.Helper()
	path := filepath.Join(filepath.Dir(string(h.home)), name)
	h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
		report, err := n.Backup(h.Context(), ann.Principal, r, path)
		require.NoError(h, err)
		require.Empty(h, report.Unopened)
	})
	return path
}

func (h homestead) restore(backup string) node.RestoreReport {
	h.Helper()
	report, err := node.Restore(h.Context(), h.home, node.RestoreOptions{Backup: backup})
	require.NoError(h, err)
	return report
}

func (h homestead) record(n *ops.Service, id schemas.EntityID) agents.Record {
	h.Helper()
	r, err := n.Record(h.Context(), id)
	require.NoError(h, err)
	return r
}

// INV-RESTORE: what was taken away since the backup stays away, whatever it was.
func TestRestore_INV_RESTORE(t *testing.T) {
	h := newHomestead(t)
	var cut, narrowed, gone, member schemas.EntityID
	var token string
	h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
		cut, narrowed = h.worker(n, ann, "cut"), h.worker(n, ann, "narrowed")
		gone, member = h.worker(n, ann, "gone"), h.worker(n, ann, "member")
		h.call(n, ann, "memory_group", `{"action":"create","group":"team"}`)
		for _, name := range []string{"member", "narrowed"} {
			h.call(n, ann, "memory_group", `{"action":"add","group":"team","entity":"`+name+`","role":"admin"}`)
		}
		for _, name := range []string{"unbound", "kept"} {
			_, err := n.Bind(t.Context(), ann.Principal, h.folder(name), "team")
			require.NoError(t, err)
		}
		file, err := n.OpenIdentity(t.Context(), "cut")
		require.NoError(t, err)
		issued, err := n.OwnToken(t.Context(), file)
		require.NoError(t, err)
		token = issued.Token.Reveal()
	})
	backup := h.backup("b.db")
	var epoch int64
	h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
		h.call(n, ann, "agent_deactivate", `{"agent":"cut"}`)
		_, err := n.Unbind(t.Context(), ann.Principal, h.folder("unbound"))
		require.NoError(t, err)
		h.call(n, ann, "memory_group", `{"action":"create","group":"later"}`)
		_, err = n.Bind(t.Context(), ann.Principal, h.folder("of a group that is lost"), "later")
		require.NoError(t, err)
		h.call(n, ann, "agent_capabilities", `{"agent":"narrowed","capabilities":{"tools":["events_poll"]}}`)
		h.call(n, ann, "memory_group", `{"action":"remove","group":"team","entity":"member"}`)
		h.call(n, ann, "memory_group", `{"action":"add","group":"team","entity":"narrowed","role":"viewer"}`)
		h.call(n, ann, "memory_group", `{"action":"update","group":"team","emcon":true}`)
		h.call(n, ann, "agent_deactivate", `{"agent":"gone"}`)
		require.NoError(t, n.Routine(t.Context(), "lifecycle", func(g access.Grant) error {
			_, _, err := n.MoveAgent(g, string(gone), schemas.GraceOver, "")
			return err
		}))
		_, err = n.RotateKey(t.Context(), ann.Principal, r, "member", "compromised")
		require.NoError(t, err)
		require.NoError(t, n.Store.Read(t.Context(), func(tx *store.Tx) (err error) {
			epoch, err = access.Epoch(tx)
			return err
		}))
	})

	report := h.restore(backup)
	require.Equal(t, node.CarriedOver, report.Present)
	require.Len(t, report.Carried, 4)
	h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
		require.Equal(t, schemas.Deactivated, h.record(n, cut).Status)
		bound, err := n.Bindings(t.Context(), ann.Principal)
		require.NoError(t, err)
		require.Len(t, bound, 1)
		require.Contains(t, bound[0].Dir, "kept")
		require.Equal(t, schemas.Removed, h.record(n, gone).Status)
		require.Equal(t, []string{"events_poll"}, h.record(n, narrowed).Capabilities.Tools)
		require.EqualValues(t, 2, h.record(n, member).Key.KeySeq)
		_, err = n.Authenticate(t.Context(), token)
		require.ErrorIs(t, err, schemas.ErrUnauthenticated)
		require.NoError(t, n.Store.Read(t.Context(), func(tx *store.Tx) error {
			now, err := access.Epoch(tx)
			require.NoError(t, err)
			require.Greater(t, now, epoch)
			var owner, member string
			require.NoError(t, tx.QueryRow(`SELECT group_concat(entity_id) FROM members WHERE role = 'owner'`).
				Scan(&owner))
			require.NoError(t, tx.QueryRow(`SELECT group_concat(entity_id || ' ' || role) FROM members
				WHERE role <> 'owner'`).Scan(&member))
			require.Equal(t, []string{"ann", string(narrowed) + " viewer"}, []string{owner, member})
			var emcon int
			require.NoError(t, tx.QueryRow(`SELECT emcon FROM groups WHERE id = 'team'`).Scan(&emcon))
			require.Equal(t, 1, emcon)
			var contexts int
			require.NoError(t, tx.QueryRow(`SELECT count(*) FROM l1 WHERE entity_id = ?`, gone).Scan(&contexts))
			require.Zero(t, contexts, "what is removed has no context")
			_, _, err = events.VerifyAudit(tx)
			return err
		}))
		// What stays can be used: the rotated key opens, the cut agent comes back.
		_, err = r.Open(t.Context(), member)
		require.NoError(t, err)
		h.call(n, ann, "agent_lifecycle", `{"agent":"cut","action":"reactivate"}`)
	})
}

// A person's suspension stays theirs where the backup has one of the node's, which ends by itself.
func TestARestoreKeepsWhoSuspended_INV_RESTORE(t *testing.T) {
	h := newHomestead(t)
	var cut, rotated schemas.EntityID
	byNode := func(n *ops.Service, id schemas.EntityID) {
		require.NoError(t, n.Routine(t.Context(), "lifecycle", func(g access.Grant) error {
			_, _, err := n.MoveAgent(g, string(id), schemas.RateLimit, "too many refusals")
			return err
		}))
	}
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		cut, rotated = h.worker(n, ann, "cut"), h.worker(n, ann, "rotated")
		for _, id := range []schemas.EntityID{cut, rotated} {
			h.call(n, ann, "agent_lifecycle", `{"agent":"`+string(id)+`","action":"activate"}`)
			byNode(n, id)
		}
	})
	before := h.backup("before.db")
	h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
		_, err := n.RotateKey(t.Context(), ann.Principal, r, "rotated", "compromised")
		require.NoError(t, err)
	})
	after := h.backup("after.db")
	require.NoError(t, os.Remove(h.home.Database())) // so that the other backup has the later key
	_, err := node.Restore(t.Context(), h.home, node.RestoreOptions{Backup: before, AcceptBackup: true})
	require.NoError(t, err)
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		h.call(n, ann, "agent_lifecycle", `{"agent":"cut","action":"resume"}`)
		h.call(n, ann, "agent_lifecycle", `{"agent":"cut","action":"suspend","reason":"it leaks"}`)
	})
	h.restore(after)
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		r := h.record(n, cut)
		require.Equal(t, []any{schemas.Suspended, schemas.EntityID("ann"), "it leaks"},
			[]any{r.Status, r.StatusBy, r.StatusReason})
		r = h.record(n, rotated)
		require.Equal(t, []any{schemas.Suspended, schemas.EntityID("ann")}, []any{r.Status, r.StatusBy}, r.StatusReason)
	})
}

// An agent of an abandoned branch comes back without rights, and not by the
// node's own cool-down.
func TestRestoreOfAnotherBranch(t *testing.T) {
	h := newHomestead(t)
	before := h.backup("before.db")
	var stray schemas.EntityID
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) { stray = h.worker(n, ann, "stray") })
	branch := h.backup("branch.db")
	require.Len(t, h.restore(before).Lost, 1)
	report := h.restore(branch)
	require.Len(t, report.Suspended, 1)
	require.Less(t, report.ForkAt, report.AuditEntries)
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		r := h.record(n, stray)
		require.Equal(t, schemas.Suspended, r.Status)
		require.Equal(t, schemas.EntityID("ann"), r.StatusBy)
	})
}

func TestRestoreRefuses(t *testing.T) {
	h := newHomestead(t)
	backup := h.backup("b.db")
	other := newHomestead(t)
	restore := func(home node.Home, accept bool) (node.RestoreReport, error) {
		return node.Restore(t.Context(), home, node.RestoreOptions{Backup: backup, AcceptBackup: accept, DryRun: true})
	}
	t.Run("another node's database", func(t *testing.T) {
		report, err := restore(other.home, false)
		require.ErrorIs(t, err, schemas.ErrDenied)
		require.Equal(t, node.Unrelated, report.Present)
		_, err = restore(other.home, true)
		require.ErrorIs(t, err, schemas.ErrDenied, "the key of this home does not fit")
		require.ErrorContains(t, err, "--key")
	})
	t.Run("without the person's key", func(t *testing.T) {
		key := h.home.HumanKey()
		require.NoError(t, os.Rename(key, key+".away"))
		_, err := restore(h.home, true)
		require.ErrorIs(t, err, schemas.ErrDenied)
		require.NoError(t, os.Rename(key+".away", key))
	})
	t.Run("while the database is used", func(t *testing.T) {
		h.open(func(*ops.Service, *node.Keyring, ops.Caller) {
			report, err := restore(h.home, false)
			require.NoError(t, err, "a dry run changes nothing")
			require.Equal(t, node.CarriedOver, report.Present)
			require.True(t, report.DryRun)
			require.Len(t, report.Notes, 1, "what stands in the way of the restore")
			_, err = node.Restore(t.Context(), h.home, node.RestoreOptions{Backup: backup})
			require.ErrorIs(t, err, schemas.ErrBusy)
			require.ErrorContains(t, err, "cordelia restore FILE")
		})
	})
	t.Run("a backup whose audit record was changed", func(t *testing.T) {
		h.open(func(n *ops.Service, _ *node.Keyring, _ ops.Caller) {
			require.NoError(t, n.Store.Write(t.Context(), func(tx *store.Tx) error {
				_, err := tx.Exec(`UPDATE audit_details SET detail = '{}' WHERE seq = 1`)
				return err
			}))
		})
		h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
			path := backup + ".forged"
			_, err := n.Backup(t.Context(), ann.Principal, r, path)
			require.ErrorIs(t, err, schemas.ErrUnavailable)
			require.NoFileExists(t, path)
		})
	})
}

// A rotation killed after any of its steps is finished by the next attempt, with
// the same key. After the transaction any process of the person finishes it.
func TestRotateKeyResumes(t *testing.T) {
	for name, killed := range map[string]bool{"before the transaction": false, "after the transaction": true} {
		t.Run(name, func(t *testing.T) {
			h := newHomestead(t)
			var child schemas.EntityID
			var want []byte
			path := h.home.HumanKey()
			h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
				child = h.worker(n, ann, "child")
				pending, err := r.Pending(path+node.NextKey, h.record(n, "ann"))
				require.NoError(t, err)
				want = pending.Identity.PublicKey()
				if killed { // what stands where the old key goes ends the call after its transaction
					inTheWay := keys.OldFile(path, 1)
					require.NoError(t, os.Mkdir(inTheWay, 0o700))
					_, err := n.RotateKey(t.Context(), ann.Principal, r, "ann", "")
					require.ErrorIs(t, err, schemas.ErrConflict)
					require.NoError(t, os.Remove(inTheWay))
				}
			})
			h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) { // as its person
				out, err := n.RotateKey(t.Context(), ann.Principal, r, "ann", "")
				require.NoError(t, err)
				require.EqualValues(t, 2, out.KeySeq)
				require.FileExists(t, out.Kept)
				require.NoFileExists(t, path+node.NextKey)
				f, err := keys.LoadFile(path, nil)
				require.NoError(t, err)
				require.Equal(t, want, f.Identity.PublicKey())
				identity, err := node.OpenSealed(f.Identity, h.record(n, child))
				require.NoError(t, err, "children are sealed to the new key")
				identity.Erase()
			})
		})
	}
}

// A child registered while the keys were being sealed anew stops the rotation:
// its key would stay sealed to the old one.
func TestReplaceSealedNoticesNewChildren(t *testing.T) {
	h := newHomestead(t)
	h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
		h.worker(n, ann, "late")
		err := n.Routine(t.Context(), "key_rotate", func(g access.Grant) error {
			return node.ReplaceSealed(g, agents.Record{ID: "ann", Name: "ann"}, nil, nil)
		})
		require.ErrorIs(t, err, schemas.ErrConflict)
	})
}

// Keys are a person's to rotate; an agent cannot, not even its own children's.
func TestRotateKeyRefusesAgents(t *testing.T) {
	h := newHomestead(t)
	h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
		file, err := n.OpenIdentity(t.Context(), "")
		require.NoError(t, err)
		lead, err := n.Caller(t.Context(), file, "test")
		require.NoError(t, err)
		h.worker(n, lead, "child")
		_, err = n.RotateKey(t.Context(), lead.Principal, r, "child", "compromised")
		require.ErrorIs(t, err, schemas.ErrDenied)
	})
}

// A blob put in the place of an agent's sealed key does not become its key.
func TestUnwrapRefusesAnothersKey(t *testing.T) {
	h := newHomestead(t)
	h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
		victim, other := h.worker(n, ann, "victim"), h.worker(n, ann, "other")
		require.NoError(t, os.RemoveAll(n.Home.AgentKeys()))
		require.NoError(t, n.Store.Write(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(node.UpdateSealed, h.record(n, other).SealedKey, victim)
			return err
		}))
		_, err := n.UnwrapKey(context.Background(), r, victim)
		require.ErrorIs(t, err, schemas.ErrConflict)
		_, err = os.Stat(n.Home.AgentKey(victim))
		require.True(t, errors.Is(err, os.ErrNotExist))
	})
}
