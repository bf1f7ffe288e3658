package store

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"cordelia/internal/store/lock"
	"cordelia/internal/store/migrate"
	"cordelia/internal/store/notify"
	"cordelia/schemas"
)

// Durability is when SQLite answers a commit: the value of PRAGMA synchronous.
type Durability string

const (
	// Full acknowledges after the data reached the disk. The default.
	Full Durability = "FULL"
	// Relaxed acknowledges after the data reached the operating system: killed
	// processes lose nothing, a power cut may lose the last commits.
	Relaxed Durability = "NORMAL"
)

// Options of Open.
type Options struct {
	Path       string     // database file; its folder is created 0700
	Durability Durability // default Full
	Clock      Clock      // default SystemClock

	// Wait bounds how long a write waits for other processes; default 10 s.
	Wait time.Duration

	pollEvery time.Duration // tests slow the poll down, so that only sockets wake
}

const (
	maxReaders = 4
	cacheKiB   = 4096 // per connection, filled as needed
	waitOthers = 10 * time.Second
)

// minSQLite is the first release without the WAL-reset corruption bug.
var minSQLite = [3]int{3, 51, 3}

// Store is an open database.
type Store struct {
	path    string
	clock   Clock
	use     *os.File // shared lock: the file is not to be replaced
	rw, ro  *sql.DB
	writer  *writer
	readers chan *conn    // open and free
	places  chan struct{} // for more of them, maxReaders in all
	news    notifier
	living  lock.Processes

	closing sync.Once
	quit    chan struct{}
}

// Open opens the database at o.Path, creating and migrating it as needed.
// Errors: CodeUnavailable when the file system cannot hold it safely or a newer
// binary has written it.
func Open(ctx context.Context, o Options) (*Store, error) {
	o = o.withDefaults()
	if err := ChooseLocks(); err != nil {
		return nil, err
	}
	path, err := place(o.Path)
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, clock: o.Clock, readers: make(chan *conn, maxReaders),
		places: make(chan struct{}, maxReaders), living: lock.Processes{Dir: path + ".alive"},
		quit: make(chan struct{})}
	for range maxReaders {
		s.places <- struct{}{}
	}
	if err := s.open(ctx, o); err != nil {
		s.Close() //nolint:errcheck // the first error tells
		return nil, err
	}
	return s, nil
}

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

func (o Options) withDefaults() Options {
	if o.Durability == "" {
		o.Durability = Full
	}
	if o.Clock == nil {
		o.Clock = SystemClock{}
	}
	if o.Wait == 0 {
		o.Wait = waitOthers
	}
	if o.pollEvery == 0 {
		o.pollEvery = notify.PollEvery
	}
	return o
}

func (s *Store) open(ctx context.Context, o Options) error {
	var err error
	if s.use, err = useShared(s.path); err != nil {
		return err
	}
	if err := createPrivate(s.path); err != nil {
		return classify(err)
	}
	if s.rw, err = sql.Open("sqlite", dsn(s.path, false, o)); err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	if s.ro, err = sql.Open("sqlite", dsn(s.path, true, o)); err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	s.ro.SetMaxOpenConns(maxReaders + 1) // and one that polls
	write, err := lock.OpenWrite(s.path + ".lock")
	if err != nil {
		return err
	}
	w := &writer{store: s, lock: write, wait: o.Wait, jobs: make(chan *job, maxBatch), quit: s.quit,
		ended: make(chan struct{})}
	ready := s.current(ctx)
	if !ready {
		if w.conn, err = s.connect(ctx, o.Wait); err != nil {
			write.Close() //nolint:errcheck // nothing was written
			return classify(fmt.Errorf("open database: %w", err))
		}
	}
	s.writer = w
	go w.run()
	if !ready {
		if err := s.prepare(ctx); err != nil {
			return err
		}
	}
	s.news = notify.New(s.path+".bells", o.pollEvery, s.versions)
	return nil
}

// current reports whether the file is as this binary leaves it, so that nothing
// must be written to open it. Most processes start on such a file, and clients
// wait for them: the writing connection, with its own copy of the schema, then
// comes with the first write.
func (s *Store) current(ctx context.Context) bool {
	c, err := s.reader(ctx)
	if err != nil {
		return false // the writing connection finds out why
	}
	defer func() { s.readers <- c }()
	have, err := migrate.Version(c.c)
	return err == nil && have == SchemaVersion() && inspect(c) == nil
}

// prepare makes the file what this binary needs.
func (s *Store) prepare(ctx context.Context) error {
	if err := inspect(s.writer.conn); err != nil {
		return classify(err)
	}
	if err := s.migrate(ctx); err != nil {
		return err
	}
	return guardOwners(ctx, s.writer.conn)
}

// connect opens the writing connection. Of several processes that turn a new
// file into WAL mode at once SQLite refuses all but one, without waiting: those
// try again one after the other.
func (s *Store) connect(ctx context.Context, wait time.Duration) (*conn, error) {
	c, err := newConn(ctx, s.rw)
	if driverCode(err)&0xff != sqlite3.SQLITE_BUSY {
		return c, err
	}
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	release, err := lock.File(limited, s.path+".lock")
	if err != nil {
		return nil, err
	}
	defer release()
	for ; ; time.Sleep(5 * time.Millisecond) {
		c, err := newConn(ctx, s.rw) // a newcomer may still be at its first try
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

// guardOwners arms INV-SOVEREIGN on the writing connection c.
func guardOwners(ctx context.Context, c *conn) error {
	for _, text := range []string{`CREATE TEMP TABLE acting (owner TEXT PRIMARY KEY) WITHOUT ROWID`, sovereignty} {
		if _, err := c.c.ExecContext(ctx, text); err != nil {
			return classify(fmt.Errorf("install sovereignty: %w", err))
		}
	}
	return nil
}

// inspect checks what the DSN asked for against what SQLite does.
func inspect(c *conn) error {
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

// Path is the database file.
func (s *Store) Path() string { return s.path }

// Clock is the clock transactions read.
func (s *Store) Clock() Clock { return s.clock }

// Close finishes accepted writes and running reads and closes the database.
// Safe to call twice; not from inside a transaction.
func (s *Store) Close() error {
	var err error
	s.closing.Do(func() { err = s.close() })
	return err
}

func (s *Store) close() error {
	var errs []error
	close(s.quit)
	waiting := s.writer != nil && !s.writer.end()
	if s.news != nil {
		s.news.Close()
	}
	for range maxReaders {
		select {
		case c := <-s.readers:
			errs = append(errs, c.close())
		case <-s.places:
		}
	}
	if s.ro != nil {
		errs = append(errs, s.ro.Close())
	}
	if s.writer != nil {
		if s.writer.conn != nil {
			errs = append(errs, s.writer.conn.close())
		}
		if !waiting { // or the lock is freed with the process
			errs = append(errs, s.writer.lock.Close())
		}
	}
	if s.rw != nil {
		errs = append(errs, s.rw.Close())
	}
	s.living.Close()
	if s.use != nil {
		errs = append(errs, s.use.Close())
	}
	return errors.Join(errs...)
}
