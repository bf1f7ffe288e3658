package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"strconv"
	"strings"

	"cordelia/schemas"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migration is one schema version; its file is migrations/NNNN_name.sql.
type migration struct {
	version int
	name    string
	sql     string
}

func migrations() ([]migration, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	var out []migration
	for i, name := range names {
		base := strings.TrimSuffix(strings.TrimPrefix(name, "migrations/"), ".sql")
		number, title, _ := strings.Cut(base, "_")
		v, err := strconv.Atoi(number)
		if err != nil || v != i+1 {
			return nil, fmt.Errorf("migration file %s: want number %04d", name, i+1)
		}
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out = append(out, migration{version: v, name: title, sql: string(text)})
	}
	return out, nil
}

// SchemaVersion is the newest schema this binary knows.
func SchemaVersion() int {
	all, err := migrations()
	if err != nil {
		panic(err) // the embedded files are wrong: a build defect
	}
	return len(all)
}

// migrate brings the database to this binary's schema (INV-MIGRATE).
func (s *Store) migrate(ctx context.Context) error {
	all, err := migrations()
	if err != nil {
		return err
	}
	have, err := currentVersion(s.writer.conn)
	if err != nil {
		return classify(fmt.Errorf("read schema version: %w", err))
	}
	if have == len(all) {
		return nil
	}
	return s.Write(ctx, func(tx *Tx) error {
		have, err := currentVersion(tx.conn) // again: another process may have been first
		if err != nil {
			return err
		}
		if have > len(all) {
			return errNewer(have, len(all))
		}
		for _, m := range all[have:] {
			if _, err := tx.conn.c.ExecContext(context.Background(), m.sql); err != nil {
				return fmt.Errorf("migration %d %s: %w", m.version, m.name, err)
			}
			if _, err := tx.Exec(`INSERT INTO schema_version(version, name, at) VALUES (?, ?, ?)`,
				m.version, m.name, tx.Micros()); err != nil {
				return err
			}
		}
		return nil
	})
}

func errNewer(have, known int) error {
	return schemas.Errorf(schemas.CodeUnavailable, "the database has schema %d, this cordelia knows up to %d", have, known).
		Try("install the newer cordelia that wrote it: cordelia version shows this one's")
}

// currentVersion is 0 for an empty database.
func currentVersion(c *conn) (int, error) {
	var tables int
	ctx := context.Background()
	if err := c.c.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE name = 'schema_version'`).Scan(&tables); err != nil {
		return 0, err
	}
	if tables == 0 {
		return 0, nil
	}
	var v *int
	if err := c.c.QueryRowContext(ctx, `SELECT max(version) FROM schema_version`).Scan(&v); err != nil && !errors.Is(err, ErrNoRows) {
		return 0, err
	}
	if v == nil {
		return 0, nil
	}
	return *v, nil
}
