package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cordelia/internal/store/migrate"
	"cordelia/internal/store/postgres"
	"cordelia/schemas"
)

// A state that was moved to another database must not be used where it was: what is revoked
// from then on would still hold there. A file gets another name, as no process has it open.
// In a server's database a row of counters says so, and each connection to it is refused.

// ErrMoved is the cause where a database is refused whose state was moved to another one.
var ErrMoved = postgres.ErrMoved

func errOthers(connections int) error {
	return schemas.Errorf(schemas.CodeBusy, "other nodes use the database (%s); nothing was changed",
		schemas.Count(connections, "connection", "connections")).
		Try("end cordelia serve and the agents' sessions on all machines, and a pooler that keeps connections for " +
			"them, then repeat the command")
}

// MarkMoved has each process that connects to the server's database of tx refuse it from then on. Made
// again, after a kill, it changes nothing. The store was opened Alone.
//
// Errors: CodeBusy when a node was started meanwhile.
func (s *Store) MarkMoved(tx *Tx) error {
	// A node that connects from here on waits in refuseMoved until this has committed; the others are counted.
	if _, err := tx.Exec(postgres.LockCounters); err != nil {
		return err
	}
	if err := s.engine.(*server).isolated(tx); err != nil {
		return err
	}
	_, err := tx.Exec(postgres.InsertMoved, tx.Micros())
	return err
}

// Retire closes the store of a file that was opened Alone, and gives the file the name
// <path>.moved-<time>, so that no process takes it for the state.
func (s *Store) Retire() (kept string, err error) {
	f, ok := s.engine.(*file)
	if !ok {
		return "", errors.New("store: only a file is retired")
	}
	use := f.use
	f.use = nil          // held until the file has its name
	defer use.Close()    //nolint:errcheck // only a lock
	now := s.clock.Now() // of the name
	if err := s.Close(); err != nil {
		return "", err
	}
	if err := emptyLog(f.path); err != nil {
		return "", err
	}
	kept = f.path + movedMark + now.UTC().Format(movedTime)
	if err := os.Rename(f.path, kept); err != nil {
		return "", schemas.Errorf(schemas.CodeUnavailable, "%s cannot be renamed", f.path).
			Try("check the folder's owner and mode, then repeat the command").Because(err)
	}
	return kept, syncDir(filepath.Dir(f.path))
}

// How a file is named that was moved.
const (
	movedMark = ".moved-"
	movedTime = "20060102T150405.000000Z"
)

// Moved gives the newest file that Retire put aside for the one at path, and when; "" if there is none.
func Moved(path string) (kept string, at time.Time) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return "", at
	}
	for _, e := range entries { // in the order of their names, which is that of time
		stamp, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+movedMark)
		if t, err := time.Parse(movedTime, stamp); ok && err == nil {
			kept, at = filepath.Join(filepath.Dir(path), e.Name()), t
		}
	}
	return kept, at
}

// Publish closes the store of a file and gives the file the name path, which must be free.
func (s *Store) Publish(path string) error {
	from := s.Path()
	if err := s.Close(); err != nil {
		return err
	}
	if err := errors.Join(emptyLog(from), syncFile(from)); err != nil {
		return err
	}
	if err := publish(from, path); err != nil {
		return err
	}
	Discard(from)
	return nil
}

// SetAside gives the schema of the server's database of tx, with all its tables, another name,
// which it returns, and makes an empty one in its place. Nothing else is done by the
// transaction before that. The store was opened Alone.
//
// Errors: CodeBusy when another node uses the database.
func (s *Store) SetAside(tx *Tx) (kept string, err error) {
	if err := s.engine.(*server).isolated(tx); err != nil {
		return "", err
	}
	var schema string
	if err := tx.QueryRow(`SELECT quote_ident(current_schema())`).Scan(&schema); err != nil {
		return "", err
	}
	kept = "before_restore_" + tx.Now().UTC().Format("20060102t150405_000000z")
	for _, statement := range []string{`ALTER SCHEMA ` + schema + ` RENAME TO ` + kept, `CREATE SCHEMA ` + schema} {
		if _, err := tx.Exec(statement); err != nil {
			return "", err
		}
	}
	all, err := postgres.Migrations()
	if err != nil {
		return "", err
	}
	return kept, migrate.Up(tx.conn.c, 0, all, tx.Micros())
}

// Vacant reports whether the server's database that o names has no table, and so can take a
// state; false if it has this program's.
//
// Errors: CodeConflict when it has tables of another program or of another version.
func Vacant(ctx context.Context, o Options) (bool, error) {
	o.Alone = false // for a look
	e, err := newServer(ctx, o.withDefaults())
	if err != nil {
		return false, err
	}
	defer e.close() //nolint:errcheck // only looked at
	c, err := e.reader(ctx)
	if err != nil {
		return false, classify(fmt.Errorf("open database: %w", err))
	}
	defer c.close() //nolint:errcheck // only looked at
	version, err := e.schema(c)
	if err != nil {
		return false, classify(err)
	}
	var tables int
	if err := c.c.QueryRowContext(ctx, `SELECT count(*) FROM pg_catalog.pg_tables
		WHERE schemaname = ANY (current_schemas(false))`).Scan(&tables); err != nil {
		return false, classify(err)
	}
	switch {
	case tables == 0:
		return true, nil
	case version == SchemaVersion():
		return false, nil
	case version == 0:
		return false, schemas.Conflictf("the database has %d tables of another program; nothing was written", tables).
			Try("make one for it: createdb -E UTF8 -T template0 cordelia")
	}
	return false, schemas.Conflictf("the database is not empty: it has schema %d, this cordelia's is %d; nothing was "+
		"written", version, SchemaVersion()).Try("name an empty database")
}
