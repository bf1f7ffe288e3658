package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"cordelia/internal/store/notify"
	"cordelia/schemas"
)

// RestoreOptions of Restore.
type RestoreOptions struct {
	Backup string // file to restore; it is only read
	Target string // database file to replace or create
	DryRun bool   // check and report only
	Clock  Clock  // default SystemClock; names the kept file

	// Verify looks into the backup, like VerifyFile's.
	Verify func(*Tx) error
	// Prepare changes the new database before another process can open it: a backup must not
	// bring back rights that were revoked since. It should make one Write.
	Prepare func(context.Context, *Store) error

	step func(name string) // tests end the process between the steps
}

// RestoreReport says what Restore did, or with DryRun would do.
type RestoreReport struct {
	Backup Report `json:"backup"`
	Target string `json:"target"`
	Kept   string `json:"kept,omitempty"` // where the replaced database is now; empty if there was none
	DryRun bool   `json:"dry_run,omitempty"`
}

// Restore puts the backup in the target's place. The new file is made and
// prepared beside it and takes its name in one step, so that a kill at any
// point leaves the old database or the new one. The old one is kept as
// <target>.before-restore-<time>.
//
// Errors: CodeBusy when a process has the target open; CodeUnavailable when the
// backup or the disk is not sound; Verify's and Prepare's own. The target is
// unchanged unless the error comes from the disk after the last step.
func Restore(ctx context.Context, o RestoreOptions) (RestoreReport, error) {
	if o.Clock == nil {
		o.Clock = SystemClock{}
	}
	// there is no database yet, and a dry run makes no folder
	if _, err := os.Stat(o.Target); o.DryRun && errors.Is(err, os.ErrNotExist) {
		backup, err := VerifyFile(ctx, o.Backup, o.Verify)
		return RestoreReport{Backup: backup, Target: o.Target, DryRun: true}, err
	}
	target, err := place(o.Target)
	if err != nil {
		return RestoreReport{}, err
	}
	report := RestoreReport{Target: target, DryRun: o.DryRun}
	if report.Backup, err = VerifyFile(ctx, o.Backup, o.Verify); err != nil {
		return report, err
	}
	if same(o.Backup, target) {
		return report, schemas.Invalidf("the backup is the database itself").Try(
			"name a file that cordelia backup wrote")
	}
	use, err := useAlone(target, "cordelia restore FILE")
	if err != nil {
		return report, err
	}
	defer use.Close() //nolint:errcheck // only a lock
	if _, err := os.Stat(target); err == nil {
		report.Kept = target + ".before-restore-" + o.Clock.Now().UTC().Format("20060102T150405.000000Z")
	}
	if o.DryRun {
		return report, nil
	}
	r := restore{RestoreOptions: o, target: target, fresh: target + ".restoring", kept: report.Kept}
	if err := r.run(ctx); err != nil {
		return report, err
	}
	return report, nil
}

type restore struct {
	RestoreOptions
	target, fresh, kept string
}

func (r restore) run(ctx context.Context) error {
	Discard(r.fresh) // of a killed attempt: we are alone
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{{"build", r.build}, {"prepare", r.prepare}, {"keep", r.keep}, {"replace", r.replace}} {
		r.reached("before " + step.name)
		if err := step.do(ctx); err != nil {
			Discard(r.fresh)
			return err
		}
	}
	r.reached("end")
	return nil
}

func (r restore) reached(name string) {
	if r.step != nil {
		r.step(name)
	}
}

// build copies the backup to the fresh file.
func (r restore) build(ctx context.Context) error {
	from, err := filepath.Abs(r.Backup)
	if err != nil {
		return restoreFailed(err)
	}
	c, err := connect(ctx, readOnlyURI(from))
	if err != nil {
		return restoreFailed(err)
	}
	return restoreFailed(errors.Join(c.copyTo(ctx, r.fresh), c.closeAll()))
}

// prepare migrates the fresh file, lets the caller change it, and makes it
// whole on the disk without side files.
func (r restore) prepare(ctx context.Context) error {
	s, err := Open(ctx, Options{Path: r.fresh, Clock: r.Clock})
	if err != nil {
		return err
	}
	r.reached("in prepare")
	if r.Prepare != nil {
		err = r.Prepare(ctx, s)
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	if err := emptyLog(r.fresh); err != nil {
		return err
	}
	if _, err := VerifyFile(ctx, r.fresh, r.Verify); err != nil {
		return err
	}
	return restoreFailed(syncFile(r.fresh))
}

// keep leaves the old database under a second name, byte for byte, and makes
// sure that its log cannot be taken for the new one's.
func (r restore) keep(ctx context.Context) error {
	if r.kept == "" {
		r.discardLog(r.target)
		return nil
	}
	var err error
	logged := emptyLog(r.target) != nil
	if logged { // before anything opens it: opening changes it
		err = errors.Join(copyFile(r.target, r.kept), copyFile(r.target+"-wal", r.kept+"-wal"))
	} else if err = os.Link(r.target, r.kept); err != nil {
		err = copyFile(r.target, r.kept) // no hard links here
	}
	if err == nil {
		err = syncDir(filepath.Dir(r.target))
	}
	if err != nil {
		return restoreFailed(err)
	}
	r.reached("kept")
	if logged {
		// If it is too damaged for that, only the kept copy has the log from here on.
		if err := r.foldLog(ctx); err != nil {
			slog.Warn("restore: the replaced database is damaged", "err", err, "kept", r.kept)
		}
	}
	r.discardLog(r.target)
	return nil
}

// foldLog moves the old database's log into its file.
func (r restore) foldLog(ctx context.Context) error {
	c, err := connect(ctx, dsn(r.target, false, Options{}.withDefaults()))
	if err != nil {
		return err
	}
	_, err = c.c.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	if err = errors.Join(err, c.closeAll()); err != nil {
		return err
	}
	return emptyLog(r.target)
}

// replace gives the fresh file the target's name.
func (r restore) replace(context.Context) error {
	if err := os.Rename(r.fresh, r.target); err != nil {
		return restoreFailed(err)
	}
	r.reached("replaced")
	Discard(r.fresh) // the side files
	return restoreFailed(syncDir(filepath.Dir(r.target)))
}

// Discard removes a database file that no process uses, and the files that belong to it.
func Discard(path string) {
	for _, side := range []string{"-wal", "-shm", "", ".lock", ".inuse", ".alive"} {
		os.RemoveAll(path + side) //nolint:errcheck // what stays is overwritten or found
	}
	notify.Discard(path + bells)
}

func (r restore) discardLog(path string) {
	os.Remove(path + "-wal") //nolint:errcheck // mostly absent
	os.Remove(path + "-shm") //nolint:errcheck // mostly absent
}

// emptyLog refuses a database whose content is not all in its file.
func emptyLog(path string) error {
	if fi, err := os.Stat(path + "-wal"); err == nil && fi.Size() > 0 {
		return restoreFailed(fmt.Errorf("%s-wal is not empty", path))
	}
	return nil
}

func restoreFailed(err error) error {
	if err == nil {
		return nil
	}
	if known := classify(err); schemas.CodeOf(known) != schemas.CodeInternal {
		return known
	}
	return schemas.Errorf(schemas.CodeUnavailable, "the restore could not write its files").
		Try("free some space and check the folder's owner, then repeat: cordelia restore FILE").Because(err)
}

func same(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// copyFile copies onto the disk.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // read only
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}
