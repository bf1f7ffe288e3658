package demo

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"
)

// The forgery changes the entry, whatever the user is called.
func TestForgeActor(t *testing.T) {
	db, err := sql.Open("sqlite", t.TempDir()+"/copy.db")
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec(`CREATE TABLE audit(seq INTEGER, actor TEXT)`)
	require.NoError(t, err)
	for seq, name := range []string{"ann", "nobody", "not nobody"} {
		_, err := db.Exec(`INSERT INTO audit VALUES (?, ?)`, seq, name)
		require.NoError(t, err)
		_, err = db.Exec(forgeActor, seq)
		require.NoError(t, err)
		var actor string
		require.NoError(t, db.QueryRow(`SELECT actor FROM audit WHERE seq = ?`, seq).Scan(&actor))
		require.NotEqual(t, name, actor)
	}
}
