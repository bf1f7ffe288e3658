package store

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSharedOnly(t *testing.T) {
	for query, want := range map[string]bool{
		`SELECT value FROM node`:                        true,
		`SELECT n FROM work_items LIMIT 1` + SkipLocked: true,
		`UPDATE work_items SET state = 'done'`:          true,
		`INSERT INTO streams(name, head) VALUES (?, 1)
			ON CONFLICT(name) DO UPDATE SET head = streams.head + 1`: true,
		`INSERT INTO audit(seq) SELECT max(seq) FROM node`:                                              true,
		`DELETE FROM slots WHERE id IN (SELECT id FROM entities)`:                                       true,
		`update work_items SET state = 'done'`:                                                          false,
		`COPY work_items FROM STDIN`:                                                                    false,
		`DELETE FROM entities`:                                                                          false,
		`UPDATE entities SET status = 'active'`:                                                         false,
		`UPDATE entities SET last_seen_at = max(last_seen_at, 1)`:                                       true,
		`UPDATE counters SET value = 1`:                                                                 false,
		`INSERT INTO items(n) SELECT n FROM events`:                                                     false,
		`WITH gone AS (DELETE FROM tokens RETURNING hash) INSERT INTO events(id) SELECT hash FROM gone`: false,
	} {
		require.Equal(t, want, sharedOnly(query), query)
	}
}
