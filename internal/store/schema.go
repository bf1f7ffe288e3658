package store

import (
	"context"
	"embed"
	"fmt"

	"cordelia/internal/store/migrate"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

func migrations() ([]migrate.Migration, error) { return migrate.Read(migrationFiles) }

// SchemaVersion is the newest schema this binary knows.
func SchemaVersion() int {
	all, err := migrations()
	if err != nil {
		panic(err) // the embedded files are wrong: a build defect
	}
	return len(all)
}

// migrate brings the database to this binary's schema.
func (s *Store) migrate(ctx context.Context) error {
	all, err := migrations()
	if err != nil {
		return err
	}
	have, err := migrate.Version(s.writer.conn.c)
	if err != nil {
		return classify(fmt.Errorf("read schema version: %w", err))
	}
	if have == len(all) {
		return nil
	}
	return s.Write(ctx, func(tx *Tx) error { return migrate.Up(tx.conn.c, all, tx.Micros()) })
}
