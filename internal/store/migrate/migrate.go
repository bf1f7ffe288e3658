package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"sort"
	"strconv"
	"strings"

	"cordelia/schemas"
)

// Migration is one schema version.
type Migration struct {
	Version int
	Name    string
	SQL     string
}

// Conn is a connection, or a transaction, of database/sql.
type Conn interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Read reads the files migrations/NNNN_name.sql, numbered from 0001 without a gap.
func Read(files fs.FS) ([]Migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	var out []Migration
	for i, name := range names {
		base := strings.TrimSuffix(strings.TrimPrefix(name, "migrations/"), ".sql")
		number, title, _ := strings.Cut(base, "_")
		v, err := strconv.Atoi(number)
		if err != nil || v != i+1 {
			return nil, fmt.Errorf("migration file %s: want number %04d", name, i+1)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		out = append(out, Migration{Version: v, Name: title, SQL: string(text)})
	}
	return out, nil
}

// Up applies what a database of version have lacks of all. c must be in a write transaction
// that no other process can write beside (INV-MIGRATE); at is its time in UTC microseconds.
func Up(c Conn, have int, all []Migration, at int64) error {
	if newest := all[len(all)-1].Version; have > newest {
		return Newer(have, newest)
	}
	ctx := context.Background() // an upgrade that began runs to its end
	for _, m := range all {
		if m.Version <= have {
			continue
		}
		if _, err := c.ExecContext(ctx, m.SQL); err != nil {
			return fmt.Errorf("migration %d %s: %w", m.Version, m.Name, err)
		}
		if _, err := c.ExecContext(ctx, `INSERT INTO schema_version(version, name, at) VALUES (?, ?, ?)`,
			m.Version, m.Name, at); err != nil {
			return fmt.Errorf("migration %d %s: %w", m.Version, m.Name, err)
		}
	}
	return nil
}

// Newer refuses a database with schema have where the binary knows those up to known.
func Newer(have, known int) error {
	return schemas.Errorf(schemas.CodeUnavailable, "the database has schema %d, this cordelia knows up to %d", have,
		known).
		Try("install the newer program that wrote it: cordelia version shows this one's")
}

// Version is the schema version of a SQLite database, 0 of an empty one.
func Version(c Conn) (int, error) {
	return VersionIf(c, `SELECT count(*) FROM sqlite_schema WHERE name = 'schema_version'`)
}

// VersionIf is the schema version of a database; exists counts the tables that hold it.
func VersionIf(c Conn, exists string) (int, error) {
	ctx := context.Background()
	var tables int
	if err := c.QueryRowContext(ctx, exists).Scan(&tables); err != nil {
		return 0, err
	}
	if tables == 0 {
		return 0, nil
	}
	var v sql.NullInt64
	if err := c.QueryRowContext(ctx, `SELECT max(version) FROM schema_version`).Scan(&v); err != nil {
		return 0, err
	}
	return int(v.Int64), nil
}
