package work

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/proof/soak"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// modelled is what anyone may expect of one item.
type modelled struct {
	fence  int64
	holder schemas.EntityID
	closed map[int64]bool // leases that were reported, or that someone else followed
	final  bool
}

// Whatever claims, reports, ends and clocks do in whatever order, each item has
// one holder, its fences rise, and only the newest lease is reported.
func TestAnyOrder_INV_FENCE(t *testing.T) {
	claims, stale := 0, 0
	runs := soak.Count(t, 20, 400)
	for seed := range uint64(runs) {
		c, s := anyOrder(t, seed)
		claims, stale = claims+c, stale+s
	}
	t.Logf("%d runs: %d claims, %d late reports", runs, claims, stale)
	require.Positive(t, claims)
	require.Positive(t, stale)
}

func anyOrder(t *testing.T, seed uint64) (claims, stale int) {
	n, random := newNode(t), rand.New(rand.NewPCG(seed, 9))
	items := map[string]*modelled{}
	leases := map[schemas.EntityID][]Claimed{}
	who := []schemas.EntityID{a, b, lead}
	for step := range 60 {
		me := who[random.IntN(len(who))]
		at := fmt.Sprintf("seed %d step %d", seed, step)
		switch random.IntN(8) {
		case 0:
			drafts := []Draft{todo("x"), {Intent: "y", Priority: random.IntN(3)}}
			if random.IntN(2) == 0 {
				drafts[1].DependsOn = []int{0}
			}
			_, ids := n.submit(lead, "team", drafts...)
			for _, id := range ids {
				items[id] = &modelled{closed: map[int64]bool{}}
			}
		case 1, 2, 3:
			c, ok, err := n.tryClaim(me, time.Minute)
			require.NoError(t, err, at)
			if !ok {
				continue
			}
			m := items[c.WorkID]
			if c.Resumed {
				require.Equal(t, m.holder, me, at)
				require.Equal(t, m.fence, c.Fence, at)
				continue
			}
			require.Equal(t, m.fence+1, c.Fence, at)
			m.closed[m.fence], m.fence, m.holder = true, c.Fence, me
			leases[me] = append(leases[me], c)
			claims++
		case 4, 5:
			if len(leases[me]) == 0 {
				continue
			}
			c := leases[me][random.IntN(len(leases[me]))]
			m, o := items[c.WorkID], []Outcome{Done, Failed, Released}[random.IntN(3)]
			open := n.one(`SELECT count(*) FROM work_items WHERE id = ? AND state = 'leased'`, c.WorkID) == 1
			rec, err := n.tryReport(me, c, o, "", noReview)
			if err != nil {
				require.ErrorIs(t, err, schemas.ErrConflict, at)
				require.True(t, m.closed[c.Fence], at)
				continue
			}
			if rec.Late {
				stale++
				require.True(t, c.Fence < m.fence || !open, at)
				continue
			}
			if open && c.Fence == m.fence && !m.closed[c.Fence] {
				require.Equal(t, m.holder, me, at)
				m.closed[c.Fence], m.final = true, rec.State.Final()
			}
		case 6:
			n.Clock.Move(time.Duration(random.IntN(90)-5) * time.Second)
			n.reap()
		case 7:
			n.must(ann, func(g access.Grant) error { return Revoke(g, ann) })
		}
		for id, m := range items {
			if m.final {
				require.Equal(t, int64(1), n.one(`SELECT count(*) FROM work_items WHERE id = ? AND finished_at > 0`,
					id), at)
			}
			require.Equal(t, m.fence, n.one(`SELECT fence FROM work_items WHERE id = ?`, id), at)
		}
		require.Equal(t, n.one(`SELECT count(*) FROM work_items WHERE state = 'leased'`),
			n.one(`SELECT count(DISTINCT id) FROM slots`), at+": slots are kept as long as leases")
		require.Zero(t, n.one(`SELECT count(*) FROM work_items w WHERE blockers <>
			(SELECT count(*) FROM work_blockers b JOIN work_items o ON o.n = b.blocker WHERE b.item = w.n
			AND o.state <> 'done') AND state = 'waiting'`), at)
	}
	return claims, stale
}

// No claim and no look of a waiting agent reads more items than it returns.
func TestClaimsUseIndexes(t *testing.T) {
	n := newNode(t)
	for _, q := range []string{firstReady, readyItem, readyOfTask, claimFirst, claimItem,
		claimOfTask, selectHeld, selectDue, extendLeases,
		selectLeased, selectLeaseHolder,
		selectWaiting, selectHeldBelow, selectView, listTask, listViews, listState, countState, listGroup,
		listGroupState, countSpent, sumLeases} {
		require.NoError(t, n.Store.Read(t.Context(), func(tx *store.Tx) error {
			args := make([]any, max(strings.Count(strings.NewReplacer("?1", "", "?2", "", "?3", "", "?4", "", "?5", "",
				"?6", "", "?7", "").Replace(q), "?"), highest(q)))
			rows, err := tx.Query("EXPLAIN QUERY PLAN "+q, args...)
			require.NoError(t, err)
			defer rows.Close()
			for rows.Next() {
				var id, parent, x int
				var detail string
				require.NoError(t, rows.Scan(&id, &parent, &x, &detail))
				for _, big := range []string{"work_items", "i", "w", "work_leases", "work_blockers"} {
					require.False(t, detail == "SCAN "+big || strings.HasPrefix(detail, "SCAN "+big+" "), "%s\n%s",
						detail, q)
				}
				require.NotContains(t, detail, "AUTOMATIC", q)
			}
			return rows.Err()
		}))
	}
}

// highest is the number of the last numbered parameter of a query.
func highest(query string) (n int) {
	for i := 1; i <= 9; i++ {
		if strings.Contains(query, fmt.Sprint("?", i)) {
			n = i
		}
	}
	return n
}
