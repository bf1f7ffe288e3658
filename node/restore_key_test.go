package node_test

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/keys"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

// tree lists the files below a folder with their sizes and times.
func tree(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			files[path] = info.ModTime().String()
		}
		return nil
	}))
	return files
}

// INV-RESTORE: a restore that would leave a home which no key opens writes nothing.
func TestRestoreWithAnothersKeyWritesNothing_INV_RESTORE(t *testing.T) {
	h := newHomestead(t)
	backup := h.backup("move.db")
	for name, home := range map[string]node.Home{
		"a home with another person's key": newHomestead(t).home,
		"a home that is not there":         node.Home(filepath.Join(t.TempDir(), "none")),
	} {
		t.Run(name, func(t *testing.T) {
			before := tree(t, string(home))
			for _, o := range []node.RestoreOptions{
				{Backup: backup}, {Backup: backup, AcceptBackup: true},
				{Backup: backup, AcceptBackup: true, DryRun: true},
				{Backup: backup, AcceptBackup: true, Key: newHomestead(t).home.HumanKey()},
				{Backup: backup, AcceptBackup: true, Key: h.home.DefaultAgentKey()},
				{Backup: backup, AcceptBackup: true, Key: filepath.Join(t.TempDir(), "no.key")},
			} {
				report, err := node.Restore(t.Context(), home, o)
				require.Error(t, err)
				require.Empty(t, report.HumanKey)
				require.Equal(t, before, tree(t, string(home)))
			}
			require.Equal(t, len(before) > 0, node.IsFolder(string(home)), "no folder is made either")
			_, err := node.Restore(t.Context(), home, node.RestoreOptions{Backup: backup})
			require.ErrorContains(t, err, "cordelia restore --dry-run ")
			require.Equal(t, len(before) == 0, strings.Contains(err.Error(), "--dry-run --key FILE --accept-state"),
				"the hint works in a home without a key")
		})
	}
}

// A move to another machine: the backup and the person's key make a home that opens, with
// the agent of the clients, whether or not set-up was there first.
func TestRestoreOnANewMachine(t *testing.T) {
	h := newHomestead(t)
	var item string
	var scout schemas.EntityID
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		scout = h.worker(n, ann, "scout")
		item = h.call(n, ann, "memory_write_warm",
			`{"type":"learning","data":{"type":"insight","content":"Gannets dive from thirty metres"}}`)["id"].(string)
	})
	backup := h.backup("move.db")
	key := filepath.Join(t.TempDir(), "human.key")
	_, err := keys.InstallFile(h.home.HumanKey(), key, "")
	require.NoError(t, err)
	lead, err := keys.ReadHeader(h.home.DefaultAgentKey())
	require.NoError(t, err)

	for name, there := range map[string]homestead{
		"without a home": {T: t, home: node.Home(filepath.Join(t.TempDir(), "home"))},
		"after set-up":   newHomestead(t),
	} {
		t.Run(name, func(t *testing.T) {
			there.T = t
			o := node.RestoreOptions{Backup: backup, Key: key, AcceptBackup: true, DryRun: true}
			before := tree(t, string(there.home))
			report, err := node.Restore(t.Context(), there.home, o)
			require.NoError(t, err)
			require.Equal(t, there.home.HumanKey(), report.HumanKey, "a dry run tells of the key, too")
			require.Len(t, report.KeysKept, min(len(before), 1))
			require.Equal(t, before, tree(t, string(there.home)))
			o.DryRun = false
			report, err = node.Restore(t.Context(), there.home, o)
			require.NoError(t, err)
			require.Empty(t, report.Notes)
			require.Equal(t, there.home.HumanKey(), report.HumanKey)
			require.Equal(t, there.home.DefaultAgentKey(), report.AgentKey)
			left := there.verified().Forks[0].Left
			require.Equal(t, name == "without a home", left == "there was no database before, so no entries were left", left)
			for _, kept := range report.KeysKept {
				require.FileExists(t, kept)
			}
			now, err := keys.ReadHeader(there.home.DefaultAgentKey())
			require.NoError(t, err)
			require.Equal(t, lead, now)
			there.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
				out := there.call(n, ann, "memory_read_warm", `{"ids":["`+item+`"]}`)
				require.Len(t, out["items"], 1)
				f, err := n.OpenIdentity(t.Context(), "")
				require.NoError(t, err)
				_, err = n.Caller(t.Context(), f, "test")
				require.NoError(t, err)
				_, err = n.UnwrapKey(t.Context(), r, scout)
				require.NoError(t, err)
			})
			_, err = node.Restore(t.Context(), there.home, node.RestoreOptions{Backup: backup, Key: key})
			require.NoError(t, err, "repeated, as after a kill")
		})
	}
}

// A backup from before a rotation needs the key of that time: the refusal of another names it
// where it is kept, and says how it is called where it is not.
func TestARestoreNamesTheKeyOfTheBackupsTime(t *testing.T) {
	h := newHomestead(t)
	rotate := func() {
		h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
			_, err := n.RotateKey(t.Context(), ann.Principal, r, "ann", "")
			require.NoError(t, err)
		})
	}
	first := h.backup("first.db")
	rotate()
	second := h.backup("second.db")
	rotate()
	last := h.backup("last.db")
	key := h.home.HumanKey()
	old := func(seq uint32) string { return keys.OldFile(key, seq) }
	refusal := func(home node.Home, backup, with string) string {
		_, err := node.Restore(t.Context(), home, node.RestoreOptions{Backup: backup, Key: with, AcceptBackup: true})
		require.ErrorIs(t, err, schemas.ErrDenied)
		return err.Error()
	}
	none := func() node.Home { return node.Home(filepath.Join(t.TempDir(), "none")) }
	for _, c := range []struct{ backup, with, right string }{
		{first, key, old(1)}, {first, old(2), old(1)}, {second, key, old(2)}, {second, old(1), old(2)}, {last, old(1), key},
	} {
		text := refusal(none(), c.backup, c.with)
		require.Contains(t, text, "cordelia restore --accept-state-of-backup --key "+c.right+" "+c.backup)
		require.NotContains(t, text, "FILE")
		_, err := node.Restore(t.Context(), none(), node.RestoreOptions{Backup: c.backup, Key: c.right, AcceptBackup: true})
		require.NoError(t, err)
	}
	carried := filepath.Join(t.TempDir(), "carried.key")
	_, err := keys.InstallFile(key, carried, "")
	require.NoError(t, err)
	for _, text := range []string{refusal(none(), first, carried), refusal(none(), first, "")} {
		require.Contains(t, text, "before a cordelia key rotate needs the key of that time")
		require.Contains(t, text, "human.key.old-1")
	}
	lost := newHomestead(t).home // its database is gone, and its own key was replaced since
	for from, to := range map[string]string{key: lost.HumanKey(), old(1): keys.OldFile(lost.HumanKey(), 1)} {
		require.NoError(t, os.RemoveAll(to))
		_, err := keys.InstallFile(from, to, "")
		require.NoError(t, err)
	}
	require.NoError(t, os.Remove(lost.Database()))
	require.Contains(t, refusal(lost, first, ""), "--key "+keys.OldFile(lost.HumanKey(), 1)+" "+first)
}

// A backup from after a rotation restores over a state from before it: the rotation to its key is
// signed with the present one. A later key that is not is refused, even with its key file at hand.
func TestRestoreOfALaterKeyOfThePerson_INV_RESTORE(t *testing.T) {
	h := newHomestead(t)
	var scout schemas.EntityID
	h.open(func(n *ops.Service, _ *node.Keyring, ann ops.Caller) {
		scout = h.worker(n, ann, "scout")
		h.worker(n, ann, "tern")
	})
	before := h.backup("before.db")
	h.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
		_, err := n.RotateKey(t.Context(), ann.Principal, r, "ann", "")
		require.NoError(t, err)
	})
	after, forged := h.backup("after.db"), h.backup("forged.db")
	key, old := h.home.HumanKey(), keys.OldFile(h.home.HumanKey(), 1)
	eve, err := keys.NewIdentity(rand.Reader)
	require.NoError(t, err)
	theirs := filepath.Join(t.TempDir(), "eve.key")
	require.NoError(t, keys.CreateFile(theirs, keys.File{EntityID: "ann", Kind: keys.Human, KeySeq: 2,
		CreatedAt: time.Now(), Identity: eve}, nil))
	to := eve.Recipient(2)
	for _, change := range []string{
		"UPDATE entities SET public_key = x'%x', enc_public_key = x'%x', enc_binding = x'%x' WHERE id = 'ann'",
		"UPDATE entity_keys SET public_key = x'%x', enc_public_key = x'%x', enc_binding = x'%x' " +
			"WHERE entity_id = 'ann' AND seq = 2",
	} {
		alter(t, forged, fmt.Sprintf(change, to.PublicKey, to.EncPublicKey, to.Binding))
	}

	there := homestead{T: t, home: node.Home(filepath.Join(t.TempDir(), "home"))}
	_, err = node.Restore(t.Context(), there.home, node.RestoreOptions{Backup: before, Key: old, AcceptBackup: true})
	require.NoError(t, err)
	there.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
		_, err := n.RotateKey(t.Context(), ann.Principal, r, "tern", "")
		require.NoError(t, err)
	})
	for backup, with := range map[string]string{forged: theirs, after: old} {
		_, err = node.Restore(t.Context(), there.home, node.RestoreOptions{Backup: backup, Key: with, AcceptBackup: true})
		require.ErrorIs(t, err, schemas.ErrDenied)
		require.Equal(t, backup == forged, strings.Contains(err.Error(), "signed with the present one"), err.Error())
	}
	var notes []string
	for range 2 { // repeated, as after a kill
		report, err := node.Restore(t.Context(), there.home, node.RestoreOptions{Backup: after, Key: key})
		require.NoError(t, err)
		require.Equal(t, node.CarriedOver, report.Present)
		require.Empty(t, report.Suspended)
		notes = append(notes, report.Notes...)
	}
	require.Contains(t, strings.Join(notes, "\n"), "cordelia key rotate tern")
	there.open(func(n *ops.Service, r *node.Keyring, ann ops.Caller) {
		require.EqualValues(t, 2, there.record(n, "ann").Key.KeySeq)
		_, err := n.UnwrapKey(t.Context(), r, scout)
		require.NoError(t, err, "the agent's key is sealed to the later key")
		_, err = n.RotateKey(t.Context(), ann.Principal, r, "tern", "")
		require.NoError(t, err)
	})
	there.backup("sealed.db") // which opens each sealed key
}
