package postgres

import (
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"cordelia/internal/store/migrate"
)

//go:embed schema/*.sql
var schemaFiles embed.FS

// Migrations are the versions of the schema: files NNNN_name.sql, of which several may make
// one version. The first one makes a whole schema.
func Migrations() ([]migrate.Migration, error) {
	entries, err := fs.ReadDir(schemaFiles, "schema") // in the order of their names
	if err != nil {
		return nil, err
	}
	var out []migrate.Migration
	for _, e := range entries {
		number, name, _ := strings.Cut(strings.TrimSuffix(e.Name(), ".sql"), "_")
		version, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("schema file %s: want NNNN_name.sql", e.Name())
		}
		text, err := fs.ReadFile(schemaFiles, "schema/"+e.Name())
		if err != nil {
			return nil, err
		}
		if last := len(out) - 1; last >= 0 && out[last].Version == version {
			out[last].SQL += string(text)
			continue
		}
		out = append(out, migrate.Migration{Version: version, Name: name, SQL: string(text)})
	}
	return out, nil
}
