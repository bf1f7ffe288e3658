package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
)

// conn is one connection with its prepared statements. Statements are kept for
// the life of the connection: all SQL of the project is static text.
type conn struct {
	c       *sql.Conn
	dialect *dialect
	stmts   map[string]*sql.Stmt
}

func newConn(ctx context.Context, db *sql.DB, d *dialect) (*conn, error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{c: c, dialect: d, stmts: map[string]*sql.Stmt{}}, nil
}

func (c *conn) prepare(query string) (*sql.Stmt, error) {
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	s, err := c.c.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", query, err)
	}
	c.stmts[query] = s
	return s, nil
}

func (c *conn) exec(query string) error {
	s, err := c.prepare(query)
	if err != nil {
		return err
	}
	_, err = s.ExecContext(context.Background())
	return err
}

// later runs a statement whose answer nothing needs.
func (c *conn) later(query string) error {
	s, err := c.prepare(query)
	if err != nil {
		return err
	}
	_, err = s.ExecContext(c.dialect.later)
	return err
}

// flush sends what the engine has not yet sent.
func (c *conn) flush() error {
	if c.dialect.flush == nil {
		return nil
	}
	return c.c.Raw(c.dialect.flush)
}

// broken reports whether the connection is lost for good.
func (c *conn) broken() (lost bool) {
	if c.dialect.broken == nil {
		return false
	}
	err := c.c.Raw(func(driver any) error {
		lost = c.dialect.broken(driver)
		return nil
	})
	return lost || err != nil
}

// dataVersion is SQLite's number of the content that the connection last read: it changes with
// the first read after a commit by any connection, and means nothing to other connections
// (SQLITE_FCNTL_DATA_VERSION).
func (c *conn) dataVersion() (version uint32, err error) {
	err = c.c.Raw(func(driver any) error {
		f, ok := driver.(sqlite.FileControl)
		if !ok {
			return errors.New("the driver does not tell the data version")
		}
		version, err = f.FileControlDataVersion("main")
		return err
	})
	return version, err
}

func (c *conn) close() error {
	for _, s := range c.stmts {
		s.Close() //nolint:errcheck // the connection goes next and takes them along
	}
	return c.c.Close()
}

// dsn builds a data source name. It always begins with file:, because the
// driver silently ignores mode and pragmas of a plain path, and it is never
// built from anything but a path and constants, because _pragma runs SQL.
func dsn(path string, readOnly bool, o Options) string {
	q := url.Values{}
	q.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", o.Wait.Milliseconds()))
	q.Add("_pragma", fmt.Sprintf("cache_size(-%d)", cacheKiB))
	q.Set("_dqs", "0")
	if readOnly {
		q.Add("_pragma", "query_only(1)")
	} else {
		q.Add("_pragma", "journal_mode(WAL)")
		// FULL flushes the log within the commit, before any reader sees it (INV-DURABLE).
		q.Add("_pragma", "synchronous("+string(o.Durability)+")")
		q.Add("_pragma", "fullfsync(1)") // macOS: a plain fsync does not wait for the disk
		q.Add("_pragma", fmt.Sprintf("wal_autocheckpoint(%d)", maxWALFrames))
		q.Add("_pragma", "foreign_keys(1)")
		q.Add("_pragma", "recursive_triggers(1)") // REPLACE must meet the append-only triggers too
		q.Add("_pragma", "journal_size_limit(67108864)")
		q.Add("_pragma", "temp_store(MEMORY)") // temp.acting changes with every write
		q.Set("_txlock", "immediate")
	}
	return fileURI(path, q)
}

// fileURI names a file so that no character of its path can act as a parameter.
func fileURI(path string, q url.Values) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a Windows drive
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}
