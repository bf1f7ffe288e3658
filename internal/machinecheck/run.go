package machinecheck

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"cordelia/schemas"
)

// Defaults of Env.
const (
	DefaultTimeout   = 2 * time.Minute
	DefaultMaxOutput = 16 << 20 // bytes
)

const (
	// fineStamp is how far the clock that stamps files may be behind the one a
	// program reads: a tick of the kernel, at most 10 ms, with some room.
	fineStamp = 50 * time.Millisecond
	// wholeStamp is for files stamped with whole seconds: FAT keeps even ones.
	wholeStamp = 2 * time.Second
	// ahead is how far a stamp may lie in the future.
	ahead = time.Minute
	// maxHash is how much of a file is hashed, in bytes.
	maxHash = 64 << 20
)

// Env is what the operator allows checks. The zero value allows those of the date.
type Env struct {
	Roots     []string         // absolute folders in which files are looked at and commands run
	Commands  bool             // run commands, too
	Timeout   time.Duration    // of a command; 0 = DefaultTimeout
	MaxOutput int64            // bytes a command may print; 0 = DefaultMaxOutput
	Now       func() time.Time // for the date; nil = time.Now
	Before    []string         // SHA-256, in hex, of files that do not pass: they were there before
}

// Kinds lists the checks that can be made in e.
func (e Env) Kinds() []schemas.CheckKind {
	return slices.DeleteFunc(schemas.CheckKinds(), func(k schemas.CheckKind) bool {
		return k != schemas.CheckDate && (len(e.Roots) == 0 || k == schemas.CheckCommand && !e.Commands)
	})
}

// Run makes a check of an attempt that began at since. A file that was not written since then
// does not pass, with any content; the zero time lets any pass. The evidence names the check as
// its tool, and gives of a file its size, hash and time, so that one from another attempt is
// recognised; of a command its exit code and both ends of what it printed. What cannot be found
// out is an error, ErrOff where it is the operator's choice; a file or program that is not
// there is a check that fails.
func Run(ctx context.Context, env Env, c schemas.Check, since time.Time) (ok bool, e schemas.Evidence, err error) {
	switch c.Kind {
	case schemas.CheckDate:
		now := time.Now
		if env.Now != nil {
			now = env.Now
		}
		today := now().UTC()
		ok, err = Holds(ctx, nil, c, today)
		return ok, evidence(c, exitOf(ok), "today is "+today.Format(time.DateOnly)), err
	case schemas.CheckCommand:
		return env.command(ctx, c)
	}
	a, err := env.find(ctx, c, since)
	if err != nil {
		return false, schemas.Evidence{}, err
	}
	return a.exit() == schemas.CheckHolds, evidence(c, a.exit(), a.String()), nil
}

func evidence(c schemas.Check, exit int, output string) schemas.Evidence {
	return schemas.NewEvidence(schemas.CheckTool(c.Kind), c.String(), exit, output)
}

func exitOf(ok bool) int {
	if ok {
		return schemas.CheckHolds
	}
	return schemas.CheckFails
}

// artefact is a file as a check found it.
type artefact struct {
	there, met bool
	size       int64
	written    time.Time
	changed    time.Time // it or its times, zero where the system does not tell
	sum        []byte
	before     bool // a file like it was there before
	since, now time.Time
}

// find looks for the file that is as c says, and fresh; else it gives the one that
// came nearest.
func (env Env) find(ctx context.Context, c schemas.Check, since time.Time) (best artefact, err error) {
	err = each(env.Roots, c.Path, func(f *os.File, info fs.FileInfo) (done bool, err error) {
		hash := sha256.New()
		r := io.TeeReader(io.LimitReader(f, maxHash), hash)
		a := artefact{there: true, size: info.Size(), written: info.ModTime(), changed: changed(info), since: since,
			now: time.Now()}
		if a.met, err = meets(ctx, c, r); err != nil {
			return false, err
		}
		if _, err = io.Copy(io.Discard, r); err != nil {
			return false, fmt.Errorf("a file cannot be checked: %w", err)
		}
		a.sum = hash.Sum(nil)
		a.before = slices.Contains(env.Before, hex.EncodeToString(a.sum))
		if !best.there || a.exit() == schemas.CheckHolds || a.met && !best.met {
			best = a
		}
		return a.exit() == schemas.CheckHolds, ctx.Err()
	})
	return best, err
}

func (a artefact) exit() int {
	switch {
	case !a.met:
		return schemas.CheckFails
	case !a.fresh() || a.before:
		return schemas.CheckStale
	}
	return schemas.CheckHolds
}

// Sums gives the SHA-256, in hex, of each file at a path below the folders of env.
func Sums(ctx context.Context, env Env, path string) (list []string, err error) {
	err = each(env.Roots, path, func(f *os.File, _ fs.FileInfo) (bool, error) {
		hash := sha256.New()
		if _, err := io.Copy(hash, io.LimitReader(f, maxHash)); err != nil {
			return false, fmt.Errorf("a file cannot be read: %w", err)
		}
		list = append(list, hex.EncodeToString(hash.Sum(nil)))
		return false, ctx.Err()
	})
	return list, err
}

// fresh reports whether the file was written since the attempt began, and not in
// the future: that stamp would be fresh for every attempt to come (INV-FRESH). The time it
// was written can be set; the time of its last change cannot, but touching the file moves it,
// too. So what is in it counts beside: a file that is as it was before does not pass.
func (a artefact) fresh() bool {
	slack := fineStamp
	if a.written.Nanosecond() == 0 {
		slack = wholeStamp
	}
	return a.since.IsZero() || !a.written.Before(a.since.Add(-slack)) && !a.written.After(a.now.Add(ahead)) &&
		!a.untouched()
}

// untouched reports whether nothing changed the file since the attempt began, not even its
// times.
func (a artefact) untouched() bool {
	slack := fineStamp
	if a.changed.Nanosecond() == 0 {
		slack = wholeStamp
	}
	return !a.changed.IsZero() && a.changed.Before(a.since.Add(-slack))
}

func (a artefact) String() string {
	if !a.there {
		return "there is no such file"
	}
	stamp := func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
	of := ""
	if a.size > maxHash {
		of = fmt.Sprintf(" of its first %d bytes", maxHash)
	}
	text := fmt.Sprintf("%d bytes, SHA-256%s %x, written %s", a.size, of, a.sum, stamp(a.written))
	switch {
	case !a.met:
		return text + "; it is not as the check says"
	case !a.fresh() && a.untouched():
		return text + ", last changed " + stamp(a.changed) + ", before the attempt began, " + stamp(a.since) + ": stale"
	case !a.fresh() && a.written.After(a.since):
		return text + ", which is to come: stale"
	case a.fresh() && a.before:
		return text + ", as it was before the task's executors began: stale"
	case !a.fresh():
		return text + ", before the attempt began, " + stamp(a.since) + ": stale"
	}
	return text
}
