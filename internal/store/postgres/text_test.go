package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTranslate(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`SELECT ?, ?2, ?, '?', "?"`, `SELECT $1, $2, $3, '?', "?"`},
		{`SELECT 'it''s ?' -- why?
			WHERE a = ?`, `SELECT 'it''s ?' -- why?
			WHERE a = $1`},
		{`VALUES (x'', x'00ff', 'x', max)`, `VALUES ('\x'::bytea, '\x00ff'::bytea, 'x', max)`},
		{`FROM a CROSS JOIN b ON b.n = a.n`, `FROM a  JOIN b ON b.n = a.n`},
		{`FROM a CROSS JOIN b WHERE a.n = b.n`, `FROM a CROSS JOIN b WHERE a.n = b.n`},
		{`FROM (SELECT n FROM a CROSS JOIN b) c JOIN d ON d.n = c.n`,
			`FROM (SELECT n FROM a CROSS JOIN b) c JOIN d ON d.n = c.n`},
		{`FROM json_each(?1) a CROSS JOIN json_each(?2) b CROSS JOIN c ON c.n = b.n`,
			`FROM json_each($1) a CROSS JOIN json_each($2) b  JOIN c ON c.n = b.n`},
		{`FROM a CROSS JOIN b x JOIN c ON c.n = x.n`, `FROM a CROSS JOIN b x JOIN c ON c.n = x.n`},
		{`FROM assessments a INDEXED BY assessments_relayed WHERE a.n = ?`, `FROM assessments a  WHERE a.n = $1`},
		{`WITH RECURSIVE down(id) AS (SELECT ?1 UNION SELECT e.id FROM e)`,
			`WITH RECURSIVE down(id) AS (SELECT $1 COLLATE "C" UNION SELECT e.id FROM e)`},
		{`m.items_fts MATCH t.value`, `m.entries ~@ t.value`},
		{"SELECT rowid AS n FROM items_fts WHERE items_fts MATCH ?1\n\tORDER BY rowid DESC LIMIT ?2",
			`SELECT n FROM newest($1, $2) AS n`},
		{`DELETE FROM items_fts WHERE rowid = ?`, `DELETE FROM items_fts WHERE rowid = $1`},
		{`session LIKE ? AND substr(id, -8) = ?`, `session ILIKE $1 AND cut(id, -8) = $2`},
	} {
		require.Equal(t, c.want, Translate(c.in))
	}
}

func TestChanges(t *testing.T) {
	for text, want := range map[string]bool{
		"INSERT INTO a": true,
		"\n\tUPDATE a":  true,
		"WITH w AS (SELECT 1) UPDATE a SET b = 1": true,
		"WITH w AS (SELECT 1) SELECT updated_at":  false,
		"SELECT 'DELETE'":                         false,
		"BEGIN":                                   false,
	} {
		require.Equal(t, want, changes(text), text)
	}
}
