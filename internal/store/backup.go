package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"cordelia/internal/store/migrate"
	"cordelia/schemas"
)

// Report says what a verified database file holds.
type Report struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	Schema int    `json:"schema"` // version of the newest migration in it
}

// Backup writes a consistent copy of the database to dest and verifies it;
// writers go on meanwhile. The copy appears at dest whole or not at all, and an
// existing file is never overwritten. verify, if not nil, looks into the copy
// for what the store cannot know, such as the audit log's hashes.
//
// Errors: CodeConflict when dest exists, CodeUnavailable when the disk failed
// or the copy is damaged, verify's own.
func (s *Store) Backup(ctx context.Context, dest string, verify func(*Tx) error) (Report, error) {
	if s.Path() == "" {
		return Report{}, errors.New("store: a server's database has no file: BackupServer")
	}
	return backup(ctx, dest, verify, func(temp string) error {
		c, err := connect(ctx, fileURI(s.Path(), url.Values{"mode": {"ro"}}))
		if err != nil {
			return fmt.Errorf("open database: %w", err)
		}
		return errors.Join(c.copyTo(ctx, temp), c.closeAll())
	})
}

// BackupServer is Backup of a server's database into a file: fill copies the state as from
// sees it, which is one commit, into the empty database of the file.
func (s *Store) BackupServer(ctx context.Context, dest string, fill func(from *Tx, to *Store) error,
	verify func(*Tx) error) (Report, error) {
	return backup(ctx, dest, verify, func(temp string) error {
		to, err := Open(ctx, Options{Path: temp, Durability: Relaxed, Clock: s.clock})
		if err != nil {
			return err
		}
		err = s.Read(ctx, func(from *Tx) error { return fill(from, to) })
		return errors.Join(err, to.Close(), emptyLog(temp), syncFile(temp))
	})
}

// backup has write write the copy, verifies it and gives it its name.
func backup(ctx context.Context, dest string, verify func(*Tx) error, write func(temp string) error) (Report, error) {
	dest, err := filepath.Abs(dest)
	if err != nil {
		return Report{}, fmt.Errorf("backup path: %w", err)
	}
	if _, err := os.Lstat(dest); err == nil {
		return Report{}, errTaken(dest)
	}
	dropAbandoned(filepath.Dir(dest))
	temp := filepath.Join(filepath.Dir(dest), tempBackup+rand.Text())
	defer Discard(temp) // published or worthless
	if err := write(temp); err != nil {
		return Report{}, fmt.Errorf("backup: %w", classify(err))
	}
	report, err := VerifyFile(ctx, temp, verify)
	if err != nil {
		return Report{}, fmt.Errorf("backup: %w", err)
	}
	if err := publish(temp, dest); err != nil {
		return Report{}, err
	}
	report.Path = dest
	return report, nil
}

// tempBackup begins the names of copies that are not whole yet.
const tempBackup = ".cordelia-backup-"

// abandonedAfter is how long a copy must be unchanged to count as left by a killed process.
const abandonedAfter = time.Hour

// dropAbandoned removes such copies from a folder, as far as it may.
func dropAbandoned(folder string) {
	entries, _ := os.ReadDir(folder) // what cannot be read is not ours to tidy
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tempBackup) || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandonedAfter {
			os.Remove(filepath.Join(folder, e.Name())) //nolint:errcheck // the next one may
		}
	}
}

func errTaken(path string) error {
	return schemas.Conflictf("%s exists already; nothing was written", path).Try("choose another name for the backup")
}

// loose is a connection with a separate pool, for files that are no Store.
type loose struct {
	*conn
	db *sql.DB
}

func connect(ctx context.Context, dsn string) (loose, error) {
	if err := ChooseLocks(); err != nil {
		return loose{}, err
	}
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return loose{}, err
	}
	c, err := newConn(ctx, db, &sqliteDialect)
	if err != nil {
		db.Close() //nolint:errcheck // the first error tells
		return loose{}, err
	}
	return loose{conn: c, db: db}, nil
}

func (l loose) closeAll() error { return errors.Join(l.conn.close(), l.db.Close()) }

// copyTo writes the whole database to the new file path and onto the disk.
func (l loose) copyTo(ctx context.Context, path string) error {
	if err := createPrivate(path); err != nil {
		return err
	}
	if _, err := l.c.ExecContext(ctx, `VACUUM INTO ?`, path); err != nil {
		return err
	}
	return syncFile(path) // VACUUM INTO leaves that to us
}

// VerifyFile opens the database file at path, which no process may be writing,
// without changing it, and checks every page, every reference and the schema
// version; then verify, if not nil, looks at its content.
//
// Errors: CodeUnavailable when the file is damaged, not a cordelia database or
// of a newer cordelia; verify's own.
func VerifyFile(ctx context.Context, path string, verify func(*Tx) error) (Report, error) {
	return verifyFile(ctx, path, readOnlyURI, verify)
}

func verifyFile(ctx context.Context, path string, uri func(string) string, verify func(*Tx) error) (Report, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return Report{}, fmt.Errorf("database path: %w", err)
	}
	fi, err := os.Stat(path)
	if err != nil {
		return Report{}, schemas.NotFoundf("there is no file %s",
			path).Try("name a file that cordelia backup wrote").Because(err)
	}
	c, err := connect(ctx, uri(path))
	if err != nil {
		return Report{}, damaged(path, err)
	}
	defer c.closeAll() //nolint:errcheck // read only
	schema, err := c.verify(ctx)
	if err != nil {
		return Report{}, damaged(path, err)
	}
	if newest := SchemaVersion(); schema > newest {
		return Report{}, migrate.Newer(schema, newest)
	}
	if verify != nil {
		if err := c.read(ctx, verify); err != nil {
			return Report{}, fmt.Errorf("verify %s: %w", path, err)
		}
	}
	return Report{Path: path, Bytes: fi.Size(), Schema: schema}, nil
}

// VerifyLive is VerifyFile of a database that processes may be using. What one writes meanwhile
// looks like damage where the log was empty, so verify may be called again, under their locks.
func VerifyLive(ctx context.Context, path string, verify func(*Tx) error) (Report, error) {
	report, err := VerifyFile(ctx, path, verify)
	if schemas.CodeOf(err) == schemas.CodeUnavailable {
		report, err = verifyFile(ctx, path, sharedURI, verify)
	}
	return report, err
}

// sharedURI opens a file as one of the processes that use it, if there are any.
func sharedURI(path string) string {
	if _, err := os.Stat(path + "-wal"); err != nil {
		return readOnlyURI(path)
	}
	return fileURI(path, url.Values{"mode": {"ro"}})
}

// readOnlyURI opens a file without side files, unless it has a log that must be
// read along.
func readOnlyURI(path string) string {
	q := url.Values{"mode": {"ro"}} // query_only would forbid VACUUM INTO
	if fi, err := os.Stat(path + "-wal"); err != nil || fi.Size() == 0 {
		q.Set("immutable", "1")
	}
	return fileURI(path, q)
}

// verify checks structure and returns the schema version.
func (l loose) verify(ctx context.Context) (int, error) {
	var found string
	if err := l.c.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&found); err != nil {
		return 0, err
	}
	if found != "ok" {
		return 0, fmt.Errorf("integrity check: %s", found)
	}
	var table string
	err := l.c.QueryRowContext(ctx, `SELECT "table" FROM pragma_foreign_key_check LIMIT 1`).Scan(&table)
	if err == nil {
		return 0, fmt.Errorf("a row of %s refers to one that is gone", table)
	}
	if !errors.Is(err, ErrNoRows) {
		return 0, err
	}
	schema, err := migrate.Version(l.c)
	if err == nil && schema == 0 {
		err = errors.New("no schema version: not a cordelia database")
	}
	if err == nil && schema <= SchemaVersion() { // a newer one has code that is not known here
		err = l.foreignCode(ctx)
	}
	return schema, err
}

// foreignCode finds a trigger or view that no migration made: it would run in the transactions
// of each process that opens the file.
func (l loose) foreignCode(ctx context.Context) error {
	known, err := migrations()
	if err != nil {
		return err
	}
	rows, err := l.c.QueryContext(
		ctx, `SELECT name, coalesce(sql, '') FROM sqlite_schema WHERE type IN ('trigger', 'view')`)
	found, err := Collect(rows, err, func(r *sql.Rows) (v [2]string, err error) { return v, r.Scan(&v[0], &v[1]) })
	if err != nil {
		return err
	}
	for _, v := range found {
		if !slices.ContainsFunc(known, func(m migrate.Migration) bool { return strings.Contains(m.SQL, v[1]+";") }) {
			return fmt.Errorf("%s is code that no cordelia wrote", v[0])
		}
	}
	return nil
}

func (l loose) read(ctx context.Context, fn func(*Tx) error) error {
	if err := l.exec("BEGIN"); err != nil {
		return err
	}
	defer l.exec("ROLLBACK") //nolint:errcheck // read only
	return (&Tx{ctx: ctx, conn: l.conn, clock: SystemClock{}}).run(fn)
}

func damaged(path string, err error) error {
	if ctxErr := classify(err); schemas.CodeOf(ctxErr) == schemas.CodeBusy {
		return ctxErr
	}
	return schemas.Errorf(schemas.CodeUnavailable, "%s is damaged or not a cordelia database", path).
		Try("use another backup; each can be tested with: cordelia restore --dry-run").Because(err)
}

// publish gives temp the name dest, unless dest is taken, and puts the name on
// the disk.
func publish(temp, dest string) error {
	err := os.Link(temp, dest)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		// No hard links here (FAT): reserve the name, then replace it.
		var f *os.File
		if f, err = os.OpenFile(dest, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
			if err = errors.Join(f.Close(), os.Rename(temp, dest)); err != nil {
				os.Remove(dest) //nolint:errcheck // empty
			}
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return errTaken(dest)
	}
	if err == nil {
		err = syncDir(filepath.Dir(dest))
	}
	if err != nil {
		return schemas.Errorf(schemas.CodeUnavailable, "the file %s cannot be written", dest).
			Try("choose a folder with space that you may write to").Because(err)
	}
	return nil
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// syncDir puts names on the disk; Windows does so by itself.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
