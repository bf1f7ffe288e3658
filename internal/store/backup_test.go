package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// errEpoch stands for a caller's own check.
var errEpoch = errors.New("no epoch")

func checkEpoch(tx *Tx) error {
	var v int
	if err := tx.QueryRow(`SELECT value FROM counters WHERE name = 'epoch'`).Scan(&v); err != nil {
		return errors.Join(errEpoch, err)
	}
	return nil
}

// Backups under load hold everything acknowledged before they began.
func TestBackupUnderLoad(t *testing.T) {
	s := open(t)
	dir := t.TempDir()
	acks := make(chan string, 1<<16)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; put(ctx, s, fmt.Sprint(i), strings.Repeat("x", 2000)) == nil; i++ {
			acks <- fmt.Sprint(i)
		}
	}()
	var acked []string
	for i := range 5 {
		for range 20 {
			acked = append(acked, <-acks)
		}
		report, err := s.Backup(t.Context(), filepath.Join(dir, fmt.Sprint(i)), checkEpoch)
		require.NoError(t, err)
		require.Equal(t, SchemaVersion(), report.Schema)
		require.Positive(t, report.Bytes)
		have, err := readNames(t.Context(), report.Path)
		require.NoError(t, err)
		for _, name := range acked {
			require.True(t, have[name], name)
		}
	}
	stop()
	<-ended
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// What a killed backup left behind goes with the next one; a copy that is being
// made stays.
func TestBackupTidiesUp(t *testing.T) {
	dir := t.TempDir()
	dead, alive, other := filepath.Join(dir, tempBackup+"DEAD"), filepath.Join(dir,
		tempBackup+"ALIVE"), filepath.Join(dir, "notes")
	for _, path := range []string{dead, alive, other} {
		require.NoError(t, os.WriteFile(path, []byte("half"), 0o600))
	}
	long := time.Now().Add(-2 * abandonedAfter)
	require.NoError(t, os.Chtimes(dead, long, long))
	require.NoError(t, os.Chtimes(other, long, long))
	_, err := open(t).Backup(t.Context(), filepath.Join(dir, "b.db"), nil)
	require.NoError(t, err)
	require.NoFileExists(t, dead)
	require.FileExists(t, alive)
	require.FileExists(t, other)
}

func TestBackupRefuses(t *testing.T) {
	s := open(t)
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	require.NoError(t, os.WriteFile(taken, []byte("precious"), 0o600))
	_, err := s.Backup(t.Context(), taken, nil)
	require.ErrorIs(t, err, &schemas.Error{Code: schemas.CodeConflict})
	data, err := os.ReadFile(taken)
	require.NoError(t, err)
	require.Equal(t, "precious", string(data))

	_, err = s.Backup(t.Context(), filepath.Join(dir, "absent", "b"), nil)
	require.ErrorIs(t, err, schemas.ErrUnavailable)

	_, err = s.Backup(t.Context(), filepath.Join(dir, "b"), func(*Tx) error { return errEpoch })
	require.ErrorIs(t, err, errEpoch)
	require.NoFileExists(t, filepath.Join(dir, "b"), "what does not verify does not appear")

	// The name is taken while the copy is being checked.
	_, err = s.Backup(t.Context(), filepath.Join(dir, "b"), func(*Tx) error {
		return os.WriteFile(filepath.Join(dir, "b"), []byte("faster"), 0o600)
	})
	require.ErrorIs(t, err, &schemas.Error{Code: schemas.CodeConflict})
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 2)
}

func TestVerifyLiveLooksTwice(t *testing.T) {
	s := open(t)
	for name, c := range map[string]struct {
		fails []error // of each look
		want  error
	}{
		"whole":         {[]error{nil}, nil},
		"damaged, once": {[]error{schemas.ErrUnavailable, nil}, nil},
		"damaged":       {[]error{schemas.ErrUnavailable, schemas.ErrUnavailable}, schemas.ErrUnavailable},
		"refused":       {[]error{schemas.ErrDenied}, schemas.ErrDenied},
	} {
		t.Run(name, func(t *testing.T) {
			looks := 0
			_, err := VerifyLive(t.Context(), s.Path(), func(*Tx) error {
				looks++
				return c.fails[looks-1]
			})
			require.ErrorIs(t, err, c.want)
			require.Len(t, c.fails, looks)
		})
	}
}

// What is put from the log into the file during a look is no damage, however often it happens: the
// second look keeps to its snapshot.
func TestVerifyLiveOfAFileThatIsWritten(t *testing.T) {
	s := open(t)
	made := 0
	add := func(rows int) {
		require.NoError(t, s.Write(t.Context(), func(tx *Tx) error {
			_, err := tx.Exec(`INSERT INTO node(name, value) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
				WHERE i < ?1) SELECT ?2 + i, hex(randomblob(200)) FROM n`, rows, made)
			return err
		}))
		made += rows
		c, err := connect(t.Context(), fileURI(s.Path(), nil))
		require.NoError(t, err)
		require.NoError(t, c.exec(`PRAGMA wal_checkpoint(TRUNCATE)`))
		require.NoError(t, c.closeAll())
	}
	add(30_000) // more than a connection keeps of the file
	looks := 0
	_, err := VerifyLive(t.Context(), s.Path(), func(tx *Tx) error {
		looks++
		count := func() (n int) {
			if err := tx.QueryRow(`SELECT sum(length(value)) FROM node`).Scan(&n); err != nil {
				return 0
			}
			return n
		}
		before := count()
		add(2000)
		if after := count(); after != before {
			return schemas.ErrUnavailable
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 2, looks, "the first look has no locks")
}

func TestVerifyFile(t *testing.T) {
	s := open(t)
	require.NoError(t, s.Write(t.Context(), func(tx *Tx) error { // many pages to damage
		_, err := tx.Exec(`INSERT INTO node(name, value) 
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
			WHERE i < 500) SELECT i, hex(randomblob(200)) FROM n`)
		return err
	}))
	good, err := s.Backup(t.Context(), filepath.Join(t.TempDir(), "b"), nil)
	require.NoError(t, err)
	whole, err := os.ReadFile(good.Path)
	require.NoError(t, err)
	damage := func(change func([]byte) []byte) string {
		path := filepath.Join(t.TempDir(), "damaged")
		require.NoError(t, os.WriteFile(path, change(append([]byte(nil), whole...)), 0o600))
		return path
	}
	newer := damage(func(b []byte) []byte { return b })
	c, err := connect(t.Context(), fileURI(newer, nil))
	require.NoError(t, err)
	require.NoError(t, c.exec(`INSERT INTO schema_version(version, name, at) VALUES (9999, 'later', 0)`))
	require.NoError(t, c.exec(`CREATE TRIGGER later AFTER INSERT ON node BEGIN SELECT 1; END`))
	require.NoError(t, c.closeAll())
	orphan := damage(func(b []byte) []byte { return b })
	c, err = connect(t.Context(), fileURI(orphan, nil))
	require.NoError(t, err)
	require.NoError(t, c.exec(`INSERT INTO subscriptions(entity_id, type) VALUES ('nobody', 'x')`))
	require.NoError(t, c.closeAll())
	for name, test := range map[string]struct {
		path string
		code schemas.Code
	}{
		"absent": {good.Path + "x", schemas.CodeNotFound},
		"empty":  {damage(func([]byte) []byte { return nil }), schemas.CodeUnavailable},
		"other": {damage(func([]byte) []byte { return []byte(strings.Repeat("no database ", 500)) }),
			schemas.CodeUnavailable},
		"cut":        {damage(func(b []byte) []byte { return b[:len(b)/2] }), schemas.CodeUnavailable},
		"wiped page": {damage(func(b []byte) []byte { clear(b[len(b)-8192:]); return b }), schemas.CodeUnavailable},
		"newer":      {newer, schemas.CodeUnavailable},
		"orphan row": {orphan, schemas.CodeUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := VerifyFile(t.Context(), test.path, nil)
			require.Error(t, err)
			require.Equal(t, test.code, schemas.CodeOf(err), "%v", err)
			require.Equal(t, name == "newer", strings.Contains(err.Error(), "install the newer program"), "%v", err)
		})
	}
	before, err := os.ReadDir(filepath.Dir(good.Path))
	require.NoError(t, err)
	require.Len(t, before, 1, "verifying leaves no side files")
}

// oldAndNew makes a target that holds 'old', part of it still in the log of a
// killed process, and a backup that holds 'new'.
func oldAndNew(t *testing.T) (backup, target string) {
	t.Helper()
	s := open(t)
	require.NoError(t, put(t.Context(), s, "new", ""))
	report, err := s.Backup(t.Context(), filepath.Join(t.TempDir(), "backup"), nil)
	require.NoError(t, err)
	target = filepath.Join(t.TempDir(), "n.db")
	c := spawn(t, "hold", target)
	require.Equal(t, "holding", c.hear())
	c.say("end")
	require.Equal(t, "done <nil>", c.hear())
	require.NoError(t, c.cmd.Wait())
	c = spawn(t, "write", target)
	c.say("go")
	c.hear()
	require.NoError(t, c.cmd.Process.Kill())
	for range c.lines {
	}
	c.cmd.Wait() //nolint:errcheck // killed
	fi, err := os.Stat(target + "-wal")
	require.NoError(t, err)
	require.Positive(t, fi.Size())
	return report.Path, target
}

func raiseEpoch(ctx context.Context, s *Store) error {
	return s.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(`UPDATE counters SET value = value + 100 WHERE name = 'epoch'`)
		return err
	})
}

func epoch(t *testing.T, s *Store) (v int) {
	t.Helper()
	require.NoError(t, s.Read(t.Context(), func(tx *Tx) error {
		return tx.QueryRow(`SELECT value FROM counters WHERE name = 'epoch'`).Scan(&v)
	}))
	return v
}

func TestRestore(t *testing.T) {
	backup, target := oldAndNew(t)
	o := RestoreOptions{Backup: backup, Target: target, Verify: checkEpoch, Prepare: raiseEpoch}

	old := openAt(t, target)
	had := names(t, old)
	require.True(t, had["held"])
	_, err := Restore(t.Context(), o)
	require.ErrorIs(t, err, schemas.ErrBusy)
	require.ErrorContains(t, err, "other cordelia processes")
	require.NoError(t, old.Close())

	dry := o
	dry.DryRun = true
	report, err := Restore(t.Context(), dry)
	require.NoError(t, err)
	require.True(t, report.DryRun)
	require.Contains(t, report.Kept, target+".before-restore-")
	require.NoFileExists(t, report.Kept)
	s, err := Open(t.Context(), Options{Path: target})
	require.NoError(t, err)
	require.Equal(t, had, names(t, s))
	require.NoError(t, s.Close())

	dry.Target = filepath.Join(t.TempDir(), "home", "n.db")
	report, err = Restore(t.Context(), dry)
	require.NoError(t, err)
	require.NotZero(t, report.Backup)
	require.NoDirExists(t, filepath.Dir(dry.Target), "a look makes nothing")

	failing := o
	failing.Prepare = func(context.Context, *Store) error { return errEpoch }
	_, err = Restore(t.Context(), failing)
	require.ErrorIs(t, err, errEpoch)
	require.NoFileExists(t, target+".restoring")

	report, err = Restore(t.Context(), o)
	require.NoError(t, err)
	s = openAt(t, target)
	require.Equal(t, map[string]bool{"new": true}, names(t, s))
	require.Equal(t, 101, epoch(t, s))
	kept, err := readNames(t.Context(), report.Kept)
	require.NoError(t, err)
	require.Equal(t, had, kept)
	require.NoFileExists(t, target+".restoring")

	_, err = Restore(t.Context(), RestoreOptions{Backup: target, Target: target})
	require.ErrorIs(t, err, schemas.ErrInvalid)
}

func TestRestoreToNothingAndOverDamage(t *testing.T) {
	s := open(t)
	require.NoError(t, put(t.Context(), s, "new", ""))
	report, err := s.Backup(t.Context(), filepath.Join(t.TempDir(), "backup"), nil)
	require.NoError(t, err)

	target := filepath.Join(t.TempDir(), "home", "n.db")
	restored, err := Restore(t.Context(), RestoreOptions{Backup: report.Path, Target: target})
	require.NoError(t, err)
	require.Empty(t, restored.Kept)

	// A log that fits any file: SQLite would replay it into the new one.
	_, target = oldAndNew(t)
	log, err := os.ReadFile(target + "-wal")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(target, []byte(strings.Repeat("damage", 2000)), 0o600))
	restored, err = Restore(t.Context(), RestoreOptions{Backup: report.Path, Target: target})
	require.NoError(t, err)
	kept, err := os.ReadFile(restored.Kept)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("damage", 2000), string(kept))
	kept, err = os.ReadFile(restored.Kept + "-wal")
	require.NoError(t, err)
	require.Equal(t, log, kept)
	require.Equal(t, map[string]bool{"new": true}, names(t, openAt(t, target)))
}

// playRestore kills itself at the step it is told.
func playRestore(ctx context.Context, target string, in *bufio.Reader) error {
	backup, err := in.ReadString('\n')
	if err != nil {
		return err
	}
	step, err := in.ReadString('\n')
	if err != nil {
		return err
	}
	_, err = Restore(ctx, RestoreOptions{
		Backup: strings.TrimSpace(backup), Target: target, Prepare: raiseEpoch,
		step: func(name string) {
			if name != strings.TrimSpace(step) {
				return
			}
			fmt.Println("reached")
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			panic(err)
		},
	})
	return err
}

// A restore killed anywhere leaves the old database or the new one, and can be
// repeated.
func TestRestoreKilled(t *testing.T) {
	replaced := map[string]bool{
		"before build": false, "before prepare": false, "in prepare": false, "before keep": false, "kept": false,
		"before replace": false, "replaced": true, "end": true,
	}
	seen := map[string]bool{}
	backup, target := oldAndNew(t)
	_, err := Restore(t.Context(), RestoreOptions{
		Backup: backup, Target: filepath.Join(t.TempDir(), "n.db"), Prepare: raiseEpoch,
		step: func(name string) { seen[name] = true },
	})
	require.NoError(t, err)
	for name := range seen {
		require.Contains(t, replaced, name, "a step this test does not walk")
	}
	template := filepath.Dir(target)
	for step, isNew := range replaced {
		t.Run(step, func(t *testing.T) {
			target := filepath.Join(t.TempDir(), "n.db")
			for _, side := range []string{"", "-wal"} {
				require.NoError(t, copyFile(filepath.Join(template, "n.db"+side), target+side))
			}
			c := spawn(t, "restore", target)
			c.say(backup)
			c.say(step)
			require.Equal(t, "reached", c.hear())
			require.Error(t, c.cmd.Wait())

			s, err := Open(t.Context(), Options{Path: target})
			require.NoError(t, err)
			have := names(t, s)
			if isNew {
				require.Equal(t, map[string]bool{"new": true}, have)
				require.Equal(t, 101, epoch(t, s))
			} else {
				require.True(t, have["held"], "%v", have)
				require.Greater(t, len(have), 1, "what was in the log is there")
				require.Equal(t, 1, epoch(t, s))
			}
			require.NoError(t, s.Close())
			requireSound(t, target)

			_, err = Restore(t.Context(), RestoreOptions{Backup: backup, Target: target, Prepare: raiseEpoch})
			require.NoError(t, err)
			s = openAt(t, target)
			require.Equal(t, map[string]bool{"new": true}, names(t, s))
			require.Equal(t, 101, epoch(t, s))
			left, err := filepath.Glob(target + ".restoring*")
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}
