//go:build unix

package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/cmd/cordelia/doctor"
	"cordelia/internal/store"
)

// Every schema there ever was is upgraded by the program itself: the doctor names the
// old one, the first command that opens the database brings it to the new one with
// its rows, and whatever that one answered, the next finds it in order.
func TestTheProgramUpgrades(t *testing.T) {
	program := buildProgram(t)
	fixtures, err := filepath.Glob("../../internal/store/testdata/schema/*.sql")
	require.NoError(t, err)
	require.Len(t, fixtures, store.SchemaVersion())
	for i, fixture := range fixtures {
		t.Run(strings.TrimSuffix(filepath.Base(fixture), ".sql"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(fixture)
			require.NoError(t, err)
			u := newUser(t, program, nil)
			u.must("setup")
			for _, ending := range []string{"", "-wal", "-shm"} {
				require.NoError(t, os.RemoveAll(u.path(".cordelia/cordelia.db"+ending)))
			}
			require.NoError(t, os.WriteFile(u.path(".cordelia/cordelia.db"), nil, 0o600))
			u.alter("PRAGMA foreign_keys = 0; BEGIN; " + string(text) + "COMMIT")
			entities := func() (n int) {
				db, err := sql.Open("sqlite", "file:"+u.path(".cordelia/cordelia.db"))
				require.NoError(t, err)
				defer db.Close()
				require.NoError(t, db.QueryRow("SELECT count(*) FROM entities").Scan(&n))
				return n
			}
			before := entities()
			require.NotZero(t, before)

			checks, _ := u.diagnosis()
			schema := checks["schema"]
			require.NotEmpty(t, schema, "%v", checks)
			if i+1 < store.SchemaVersion() {
				require.Equal(t, doctor.Warning, schema[0].Verdict)
				require.Contains(t, schema[0].Detail, fmt.Sprintf("version %d, this program's is %d", i+1,
					store.SchemaVersion()))
				require.Contains(t, schema[0].Fix, "backup")
			}
			u.run("agent", "list") // the fixture knows nobody here, so this is refused
			checks, _ = u.diagnosis()
			require.Equal(t, doctor.Fine, checks["schema"][0].Verdict, "%v", checks["schema"])
			require.Equal(t, doctor.Fine, checks["database"][0].Verdict, "%v", checks["database"])
			require.GreaterOrEqual(t, entities(), before)
		})
	}
}
