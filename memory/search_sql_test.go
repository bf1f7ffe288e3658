package memory

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/store/postgres"
	"cordelia/schemas"
)

// The full-text index leads every search and rows are read by their number, at
// any size, whether the planner has statistics or not: a plan that starts from
// the items is a thousand times slower.
func TestFullTextLeadsThePlan(t *testing.T) {
	sizes := []int{1000, 10_000}
	if os.Getenv("CORDELIA_SOAK") != "" {
		sizes = append(sizes, 100_000)
	}
	n := newWarmNode(t)
	n.write(ada, learning("the first of ada's notes"))
	filled := 1
	for _, size := range sizes {
		n.sql(`INSERT INTO items(n, id, type, owner, author, visibility, scope, version, name, confidence, source,
			thread, content_hash, tokens,
				created_at, updated_at, terms, provenance, data)
			WITH RECURSIVE more(n) AS (SELECT ?1 + 1 UNION ALL SELECT n + 1 FROM more WHERE n < ?2)
			SELECT n, 'item' || n, 'learning', ?3, ?3, 'private', 1, 1, 'n', 500, 'agent', 'session ' || n / 50,
			CAST(n AS BLOB), 3, 1, 1, 'common rare', '{}', '{}' FROM more`,
			filled, size, ada)
		n.sql(`INSERT INTO items_fts(rowid, entries) SELECT n, 's1m s1wcommon s1wrare' || n % 97 FROM items
			WHERE n > ?`, filled)
		filled = size
		for _, statistics := range []string{"", "ANALYZE"} {
			if statistics != "" {
				n.sql(statistics)
			}
			for name, query := range map[string]string{"frequencies": selectFrequencies, "oldest": selectOldest,
				"postings": selectPostings, "quarantined": countQuarantined} {
				plan := n.plan(query)
				text := strings.Join(plan, "\n")
				require.Regexp(t, `VIRTUAL TABLE INDEX \d+:[M0-9]`, text, "the index answers the match")
				require.NotRegexp(t, `(?m)^SCAN i\b`, text, "%s at %d", name, size)
				fts := slices.IndexFunc(plan, func(s string) bool { return strings.Contains(s, "VIRTUAL TABLE INDEX") })
				if items := slices.IndexFunc(plan,
					func(s string) bool { return strings.HasPrefix(s, "SEARCH i ") }); items >= 0 {
					require.Less(t, fts, items, "%s at %d:\n%s", name, size, text)
					require.Contains(t, plan[items], "INTEGER PRIMARY KEY")
				}
			}
			for name, query := range map[string]string{"docs": selectDocs, "neighbours": selectNeighbours} {
				text := strings.Join(n.plan(query), "\n")
				require.Contains(t, text, "SEARCH i USING INTEGER PRIMARY KEY", "%s at %d", name, size)
				require.NotRegexp(t, `(?m)^SCAN [ip]\b`, text, "%s at %d", name, size)
			}
			require.Regexp(t, `SEARCH i USING INDEX items_told \(scope=\? AND <expr>>\? AND <expr><\?\)`,
				strings.Join(n.plan(selectDated), "\n"))
			require.Regexp(t, `SEARCH p USING (COVERING )?INDEX items_thread \(scope=\? AND thread=\? AND n<\?\)`,
				strings.Join(n.plan(selectNeighbours), "\n"))
		}
	}
}

// PostgreSQL is asked for the newest matches in a way of its own, which knows these queries by their
// layout: by the index of full text alone it would collect and sort all matches.
func TestNewestMatchesAreKnownToPostgreSQL(t *testing.T) {
	for name, query := range map[string]string{"frequencies": selectFrequencies, "oldest": selectOldest,
		"postings": selectPostings} {
		text := postgres.Translate(query)
		require.Regexp(t, `SELECT n FROM newest\((j\.value|\$1), \$2\) AS n`, text, name)
		require.NotContains(t, text, "items_fts", name)
	}
}

// INV-NO-ORACLE: how common a word is, is told by what its reader may see; what
// others write between moves no weight, even where frequencies are estimated.
func TestFrequenciesSeeNothingForeign_INV_NO_ORACLE(t *testing.T) {
	weights := func(foreign int) (out []float64) {
		n := newWarmNode(t)
		n.write(eve, learning("the first of eve's notes"))
		n.write(ada, learning("the first of ada's notes"))
		rows := 2
		fill := func(owner schemas.EntityID, count int, words string) {
			n.sql(`INSERT INTO items_fts(rowid, entries) WITH RECURSIVE more(r) AS (SELECT ?1 + 1
				UNION ALL SELECT r + 1 FROM more WHERE r < ?1 + ?2)
				SELECT r, replace(replace(?4, 'ODD', CASE WHEN r % 3 = 0 THEN 'tide' ELSE 'calm' END), '@',
				's' || s.n) FROM more, scopes s WHERE s.ref = ?3 AND ?2 > 0`, rows, count, owner, words)
			n.sql(`UPDATE scopes SET items = items + ?1 WHERE ref = ?2`, count, owner)
			rows += count
		}
		for range 4 {
			fill(ada, foreign, "@m @wheron @wtide @walpha")
			fill(eve, 351, "@m @wheron @wODD")
		}
		q, err := NewQuery(Search{Text: "heron tide calm alpha one1 two2 three3 four4 five5 six6 seven7 eight8 " +
			"nine9 ten10 p1 p2 p3 p4 p5 p6 p7 p8 p9 p10"})
		require.NoError(t, err)
		require.NoError(t, n.do(eve, access.Read, func(g access.Grant) error {
			see, err := readable(g)
			require.NoError(t, err)
			p, err := newPlan(g.Tx(), see, q, "")
			require.NoError(t, err)
			if out, err = p.frequencies(g.Tx(), wordEntry, p.words.Stems()); err != nil {
				return err
			}
			for _, probe := range p.probes {
				out = append(out, probe.weight)
			}
			return nil
		}))
		return out
	}
	alone := weights(0)
	require.Greater(t, alone[0], 1000.0, "not all of the 1404 items that have it are counted")
	require.Equal(t, alone, weights(399))
}
