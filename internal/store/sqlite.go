package store

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"cordelia/internal/store/lock"
	"cordelia/internal/store/migrate"
	"cordelia/internal/store/notify"
	"cordelia/schemas"
)

// cacheKiB is how many KiB of pages a connection keeps, filled as needed. Each takes twice its size:
// the allocator has no size between 4 KB and 8. On 100,000 items twice or half as many make no search
// and no write faster or slower, and twice as many take 12 MB more of a busy process.
const cacheKiB = 2048

// minSQLite is the first release without the WAL-reset corruption bug.
var minSQLite = [3]int{3, 51, 3}

// file is the engine SQLite: one file that the user's processes share.
type file struct {
	path    string
	wait    time.Duration
	poll    time.Duration
	clocked Clock
	use     *os.File // shared lock: the file is not to be replaced
	rw, ro  *sql.DB
	write   *lock.Write
	living  lock.Processes
	commits int // since the last look whether a checkpoint is due
}

// sqliteDialect is SQLite's way to say it.
var sqliteDialect = dialect{
	begin:   []string{"BEGIN IMMEDIATE"},
	read:    "BEGIN",
	data:    "PRAGMA data_version",
	shrink:  "PRAGMA shrink_memory",
	tables:  `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?`,
	act:     actByTable,
	load:    loadRows,
	version: (*conn).dataVersion,
	later:   context.Background(),
}

// newFile makes the folder, the file and the locks beside it.
func newFile(_ context.Context, o Options) (engine, error) {
	if err := ChooseLocks(); err != nil {
		return nil, err
	}
	path, err := place(o.Path)
	if err != nil {
		return nil, err
	}
	f := &file{path: path, wait: o.Wait, poll: o.pollEvery, clocked: o.Clock, living: lock.Processes{Dir: path + ".alive"}}
	if err := f.open(o); err != nil {
		f.close() //nolint:errcheck // the first error tells
		return nil, err
	}
	return f, nil
}

func (f *file) open(o Options) error {
	var err error
	use := useShared
	if o.Alone {
		use = func(path string) (*os.File, error) { return useAlone(path, "cordelia migrate") }
	}
	if f.use, err = use(f.path); err != nil {
		return err
	}
	if err := createPrivate(f.path); err != nil {
		return classify(err)
	}
	if f.rw, err = sql.Open("sqlite", dsn(f.path, false, o)); err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	if f.ro, err = sql.Open("sqlite", dsn(f.path, true, o)); err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	f.ro.SetMaxOpenConns(maxReaders + 1) // and one that polls
	f.write, err = lock.OpenWrite(f.path + ".lock")
	return err
}

func (f *file) close() error {
	var errs []error
	for _, db := range []*sql.DB{f.ro, f.rw} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	f.living.Close()
	if f.use != nil {
		errs = append(errs, f.use.Close())
	}
	return errors.Join(errs...)
}

func (f *file) reader(ctx context.Context) (*conn, error) { return newConn(ctx, f.ro, &sqliteDialect) }

func (f *file) lock() writeLock { return f.write }

func (f *file) process() (string, error) { return f.living.Own() }

func (f *file) ended(process string) bool { return f.living.Ended(process) }

func (f *file) schema(c *conn) (int, error) { return migrate.Version(c.c) }

func (f *file) migrations() ([]migrate.Migration, error) { return migrations() }

// bells is what the folder of a database's sockets is called, after the database's name.
const bells = ".bells"

func (f *file) notifier() notifier {
	return notify.New(f.path+bells, f.poll, func() (notify.Versions, error) { return openVersions(f) })
}

func (f *file) clock() Clock { return f.clocked }

// place makes the folder for a database file and gives the file's one true
// path: locks and sockets beside it must be the same under every name it has.
func place(file string) (string, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return "", fmt.Errorf("database path: %w", err)
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", schemas.Errorf(schemas.CodeUnavailable, "the folder %s cannot be made", dir).
			Try("choose another with --home").Because(err)
	}
	resolved, err := filepath.EvalSymlinks(path)
	if errors.Is(err, os.ErrNotExist) {
		if dir, err = filepath.EvalSymlinks(dir); err == nil {
			resolved = filepath.Join(dir, filepath.Base(path))
		}
	}
	if err != nil {
		return "", fmt.Errorf("database path: %w", err)
	}
	if name, bad := NetworkFileSystem(filepath.Dir(resolved)); bad {
		return "", schemas.Errorf(schemas.CodeUnavailable,
			"%s is on a network file system (%s), where SQLite corrupts data", filepath.Dir(resolved), name).
			Try("choose a folder on a local disk with --home")
	}
	return resolved, nil
}

// ChooseLocks must run before the first open of a database in this process:
// with the default POSIX locks any open and close of the file elsewhere in the
// process would drop SQLite's lock. Open does it; who opens a database by other
// means calls it first.
func ChooseLocks() error {
	if _, err := sqlite.OFDLocking(true); err != nil &&
		!errors.Is(err, sqlite.ErrOFDLockingUnavailable) && !sqlite.OFDLockingEnabled() {
		return fmt.Errorf("file locking: %w", err)
	}
	return nil
}

// writer opens the writing connection. Of several processes that turn a new
// file into WAL mode at once SQLite refuses all but one, without waiting: those
// try again one after the other.
func (f *file) writer(ctx context.Context) (*conn, error) {
	c, err := newConn(ctx, f.rw, &sqliteDialect)
	if driverCode(err)&0xff != sqlite3.SQLITE_BUSY {
		return c, err
	}
	limited, cancel := context.WithTimeout(ctx, f.wait)
	defer cancel()
	release, err := lock.File(limited, f.path+".lock")
	if err != nil {
		return nil, err
	}
	defer release()
	for ; ; time.Sleep(5 * time.Millisecond) {
		c, err := newConn(ctx, f.rw, &sqliteDialect) // a newcomer may still be at its first try
		if driverCode(err)&0xff != sqlite3.SQLITE_BUSY || limited.Err() != nil {
			return c, err
		}
	}
}

// createPrivate makes an empty database file that only its owner can read;
// SQLite gives its side files the same mode, and would choose the umask's.
func createPrivate(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return schemas.Errorf(schemas.CodeUnavailable, "the database file cannot be made").
			Try("check the owner and mode of the home folder: cordelia doctor").Because(err)
	}
	return f.Close()
}

// sovereignty is the set of triggers of the writing connection that holds
// INV-SOVEREIGN.
//
//go:embed sovereignty.sql
var sovereignty string

// guard arms INV-SOVEREIGN on the writing connection.
func (f *file) guard(ctx context.Context, c *conn) error {
	for _, text := range []string{`CREATE TEMP TABLE acting (owner TEXT PRIMARY KEY) WITHOUT ROWID`, sovereignty} {
		if _, err := c.c.ExecContext(ctx, text); err != nil {
			return classify(fmt.Errorf("install sovereignty: %w", err))
		}
	}
	return nil
}

// actByTable lists the owners in temp.acting.
func actByTable(t *Tx, owners []schemas.EntityID) error {
	if len(t.acting) > 0 {
		if _, err := t.Exec(`DELETE FROM temp.acting`); err != nil {
			return err
		}
	}
	for _, o := range owners {
		if _, err := t.Exec(`INSERT OR IGNORE INTO temp.acting(owner) VALUES (?)`, o); err != nil {
			return err
		}
	}
	return nil
}

// inspect checks what the DSN asked for against what SQLite does.
func (f *file) inspect(c *conn) error {
	var version, mode string
	if err := c.c.QueryRowContext(context.Background(),
		"SELECT sqlite_version(), (SELECT journal_mode FROM pragma_journal_mode)").Scan(&version, &mode); err != nil {
		return fmt.Errorf("inspect database: %w", err)
	}
	var v [3]int
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &v[0], &v[1], &v[2]); err != nil {
		return fmt.Errorf("sqlite version %q: %w", version, err)
	}
	for i := range v {
		if v[i] != minSQLite[i] {
			if v[i] < minSQLite[i] {
				return fmt.Errorf("sqlite %s is older than %v, which fixed a corruption bug", version, minSQLite)
			}
			break
		}
	}
	if mode != "wal" {
		return schemas.Errorf(schemas.CodeUnavailable, "the database cannot use a write-ahead log (journal mode is %s)",
			mode).
			Try("choose a folder on a local disk with --home")
	}
	return nil
}

// Pages of the log: from how many that the database lacks a process copies them after
// its commit, and from how many in all SQLite does within the commit, so that the log
// ends. A process looks after every few writes, of which one has some 20 pages.
const (
	maxQueued       = 1000
	maxWALFrames    = 4000
	checkpointEvery = 8
)

// sharing: SQLite has one writer.
func (f *file) sharing() bool { return false }

// committed copies the log into the database when enough of it waits. SQLite would
// do that within a commit, for milliseconds in which no other process can write and
// the caller waits; here all are answered and others write meanwhile. A failure
// loses nothing: SQLite keeps the log, and the next checkpoint copies it.
func (f *file) committed(c *conn, writes int) {
	if f.commits += writes; f.commits < checkpointEvery {
		return
	}
	f.commits = 0
	queued, err := uncopied(c)
	if err == nil && queued >= maxQueued {
		err = c.exec("PRAGMA wal_checkpoint(PASSIVE)") // at once if another process is at it
	}
	if err != nil {
		slog.Warn("checkpoint", "err", err)
	}
}

// uncopied is how many pages of the log the database lacks.
func uncopied(c *conn) (int, error) {
	s, err := c.prepare("PRAGMA wal_checkpoint(NOOP)")
	if err != nil {
		return 0, err
	}
	var busy, logged, copied int
	err = s.QueryRowContext(context.Background()).Scan(&busy, &logged, &copied)
	return logged - copied, err
}
