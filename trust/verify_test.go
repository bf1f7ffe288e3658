package trust

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// busy makes a node with verdicts of every source, feedback, and time between.
func busy(t testing.TB, seed uint64, verdicts int) *node {
	n := newNode(t)
	n.live(seed, verdicts)
	return n
}

// live lets a family give and get verdicts.
func (n *node) live(seed uint64, verdicts int) {
	n.Helper()
	random := rand.New(rand.NewPCG(seed, 3))
	n.Group("atelier", solo, work, other)
	by := []schemas.EntityID{ann, bea, solo, other, lead, work, eve}
	for range verdicts {
		author := []schemas.EntityID{work, solo, other, kid}[random.IntN(4)]
		v := Verdict{On: wrote(author, random.IntN(40)), Word: []Word{Right, Wrong}[random.IntN(2)]}
		v.On.ID = schemas.ItemID(fmt.Sprintf("%s-%s", author[:4], v.On.ID))
		if random.IntN(3) == 0 {
			v.On.Visibility, v.On.Group = schemas.Group, "atelier"
		}
		who := by[random.IntN(len(by))]
		switch human := who == ann || who == bea; {
		case !human && random.IntN(3) == 0:
			v.Relayed = true
		case random.IntN(3) == 0:
			b := wrote(by[random.IntN(len(by))], 100+random.IntN(20))
			v.Basis = &b
		}
		n.assess(who, v)
		n.Clock.Move(time.Duration(random.IntN(40)) * time.Hour)
	}
	require.NoError(n, n.do(ann, access.Write, func(g access.Grant) error {
		_, _, err := Rate(g, string(work), "shell", Bad)
		return err
	}))
}

// What was kept verdict by verdict is, bit for bit, what the ledger gives.
func TestReplayGivesEveryScore_INV_TRUST_LEDGER(t *testing.T) {
	for seed := range uint64(4) {
		n := busy(t, seed, 150)
		require.NoError(t, n.verify(), "seed %d", seed)
		require.Positive(t, n.one(`SELECT count(*) FROM assessments WHERE alpha + beta = 0`))
		require.Positive(t, n.one(`SELECT count(*) FROM trust_scores WHERE observer = ?`, solo))
	}
}

func TestTheLedgerIsAppendOnly_INV_TRUST_LEDGER(t *testing.T) {
	n := busy(t, 9, 5)
	for _, table := range []string{"assessments", "capability_feedback"} {
		for _, change := range []string{"UPDATE " + table + " SET at = 0", "DELETE FROM " + table} {
			require.ErrorContains(t, n.Store.Write(t.Context(),
				func(tx *store.Tx) error { _, err := tx.Exec(change); return err }), "append-only")
		}
	}
}

// Whatever is changed by hand is found.
func TestTamperingIsFound_INV_TRUST_LEDGER(t *testing.T) {
	n := busy(t, 7, 60)
	for _, trigger := range []string{"assessments_no_update", "assessments_no_delete", "capability_feedback_no_update",
		"capability_feedback_no_delete"} {
		n.SQL("DROP TRIGGER " + trigger)
	}
	require.NoError(t, n.verify())
	n.SQL(`CREATE TABLE keep_assessments AS SELECT * FROM assessments`)
	n.SQL(`CREATE TABLE keep_assessments_counted AS SELECT * FROM assessments_counted`)
	n.SQL(`CREATE TABLE keep_trust_scores AS SELECT * FROM trust_scores`)
	n.SQL(`CREATE TABLE keep_capability_feedback AS SELECT * FROM capability_feedback`)
	n.SQL(`CREATE TABLE keep_capability_trust AS SELECT * FROM capability_trust`)
	restore := func() {
		for _, table := range []string{"assessments_counted", "assessments", "trust_scores", "capability_feedback",
			"capability_trust"} {
			n.SQL("DELETE FROM " + table)
		}
		for _, table := range []string{"assessments", "assessments_counted", "trust_scores", "capability_feedback",
			"capability_trust"} {
			n.SQL("INSERT INTO " + table + " SELECT * FROM keep_" + table)
		}
	}
	last := n.one(`SELECT max(seq) FROM assessments`)
	for _, tt := range []struct{ change, found string }{
		{`UPDATE trust_scores SET alpha = alpha + 1 WHERE agent = (SELECT max(agent) FROM trust_scores)`,
			"is not what the ledger gives"},
		{`UPDATE trust_scores SET beta = beta - 1 WHERE agent = (SELECT min(agent) FROM trust_scores)`,
			"is not what the ledger gives"},
		{`UPDATE trust_scores SET steps = '[]' WHERE agent = (SELECT max(agent) FROM trust_scores WHERE steps <> '[]')
			AND steps <> '[]'`, "is not what the ledger gives"},
		{`UPDATE trust_scores SET confirmed = 50`, "is not what the ledger gives"},
		{`UPDATE trust_scores SET tier = 'high' WHERE tier <> 'high'`, "is not what the ledger gives"},
		{`UPDATE trust_scores SET tier_alpha = tier_alpha + 1`, "is not what the ledger gives"},
		{`UPDATE trust_scores SET tier_steps = '[[1,2,3]]'`, "is not what the ledger gives"},
		{`UPDATE trust_scores SET by_person = by_person + 1`, "is not what the ledger gives"},
		{`UPDATE assessments_counted SET moves_tier = 1 - moves_tier`, "not those of the ledger"},
		{`UPDATE assessments_counted SET own = 1 - own`, "not those of the ledger"},
		{`UPDATE trust_scores SET ranks_alpha = ranks_alpha + 1 WHERE ranks_beta > 0`, "is not what the ledger gives"},
		{`UPDATE trust_scores SET observer = 'carl' WHERE observer = 'ann'`, "follows from no verdict"},
		{`DELETE FROM trust_scores WHERE observer = 'ann'`, "is missing"},
		{`DELETE FROM assessments_counted`, "not those of the ledger"},
		{`UPDATE assessments SET alpha = alpha + 1 WHERE seq = 3`, "assessment 3 is not what the audit record says"},
		{`UPDATE assessments SET at = at + 1 WHERE seq = 5`, "assessment 5 is not what the audit record says"},
		{fmt.Sprintf(`DELETE FROM assessments_counted WHERE seq = %[1]d; DELETE FROM assessments WHERE seq = %[1]d`,
			last), fmt.Sprintf("assessment %d is missing", last)},
		{`DELETE FROM assessments_counted WHERE seq = 2; DELETE FROM assessments WHERE seq = 2`,
			"assessment 2 is missing"},
		{`INSERT INTO assessments SELECT seq + 1, observer, agent, source, verdict, item, version, content_hash,
			assessor, witness, basis, alpha, beta, at
			FROM assessments ORDER BY seq DESC
			LIMIT 1`, fmt.Sprintf("assessment %d is not what the audit record says", last+1)},
		{`UPDATE capability_trust SET hundredths = 100`, "capability trust"},
		{`DELETE FROM capability_trust`, "capability trust"},
		{`UPDATE capability_feedback SET feedback = 'good'`, "feedback 1 is not"},
		{`DELETE FROM capability_feedback`, "feedback 1 is missing"},
	} {
		for statement := range strings.SplitSeq(tt.change, ";") {
			n.SQL(statement)
		}
		err := n.verify()
		require.ErrorContains(t, err, tt.found, tt.change)
		require.ErrorIs(t, err, schemas.ErrUnavailable)
		restore()
		require.NoError(t, n.verify())
	}
}

// Verdicts given at once by two processes all count, each once.
func TestTwoProcessesAssessAtOnce(t *testing.T) {
	n := newNode(t)
	twin := n.twin()
	var both sync.WaitGroup
	for p, door := range []*node{n, twin} {
		both.Go(func() {
			for i := range 20 {
				door.assess(ann, Verdict{On: wrote(work, 100*p+i), Word: Right}) // its own
				door.assess(solo, Verdict{On: wrote(work, 500+i), Word: Right, Relayed: true})
			}
		})
	}
	both.Wait()
	require.NoError(t, n.verify())
	require.EqualValues(t, 60, n.one(`SELECT count(*) FROM assessments`), "what both said was said once")
	require.Equal(t, 41, n.standing(work).Observations, "of what one agent relays about another, half a verdict counts")
}

// However long the ledger is, a verdict reads the same number of its rows.
func BenchmarkAssess(b *testing.B) {
	for _, before := range []int{0, 10_000} {
		b.Run(fmt.Sprint(before), func(b *testing.B) {
			n := newNode(b)
			require.NoError(b, n.do(ann, access.Write, func(g access.Grant) error {
				for i := range before {
					if _, err := Assess(g, Verdict{On: wrote(work, i), Word: []Word{Right, Wrong}[i%2]}); err != nil {
						return err
					}
				}
				return nil
			}))
			b.ResetTimer()
			require.NoError(b, n.do(ann, access.Write, func(g access.Grant) error {
				for i := range b.N {
					if _, err := Assess(g, Verdict{On: wrote(work, 1_000_000+i), Word: Right}); err != nil {
						return err
					}
				}
				return nil
			}))
		})
	}
}
