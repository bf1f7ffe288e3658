package store

import (
	"embed"

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
