package memory

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
)

// counting counts the queries that go through it.
type counting struct {
	*store.Tx
	n     int
	signs []int64 // the scopes whose signs were read
}

func (c *counting) Query(q string, args ...any) (*sql.Rows, error) {
	if c.n++; strings.Contains(q, "e.bits") {
		c.signs = append(c.signs, args[1].(int64))
	}
	return c.Tx.Query(q, args...)
}
func (c *counting) QueryRow(q string, args ...any) store.Row { c.n++; return c.Tx.QueryRow(q, args...) }

// looks are what a reader's searches cost and showed.
type looks struct {
	queries []int // asked of the database, by each
	answers []any
	signs   []int64 // the scopes whose signs were read
}

// withoutIDs leaves out what differs from store to store.
func withoutIDs(f Found) Found {
	for i := range f.Hits {
		f.Hits[i].ID = ""
	}
	for i := range f.Near {
		f.Near[i].ID = ""
	}
	f.Cursor = ""
	return f
}

// find runs q, which explains its scores, and notes what it cost and showed.
func (l *looks) find(t *testing.T, tx *store.Tx, see readScope, q *Query) Found {
	t.Helper()
	c := &counting{Tx: tx}
	q.Explain = true
	f, err := find(c, see, q, "")
	require.NoError(t, err)
	f = withoutIDs(f)
	l.queries, l.answers, l.signs = append(l.queries, c.n), append(l.answers, f), append(l.signs, c.signs...)
	return f
}

// hiddenIsAbsent looks twice, at a store without what the reader may not see and at one that has it: they cost
// and show the same, counts, near misses, order, reasons and the parts of scores included.
func hiddenIsAbsent(t *testing.T, look func(with bool) looks) {
	t.Helper()
	absent, hidden := look(false), look(true)
	require.NotEmpty(t, absent.answers)
	require.Equal(t, absent.queries, hidden.queries, "queries")
	require.Equal(t, absent.answers, hidden.answers)
}
