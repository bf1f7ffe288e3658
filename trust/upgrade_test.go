package trust

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

// A database of an earlier version has no tiers: they are derived from its ledger, each
// verdict with the weight it had, and the ledger replays to the same scores.
func TestAnEarlierLedgerIsReadByTheNewRules_INV_TRUST_LEDGER(t *testing.T) {
	n := busy(t, 21, 120)
	before := map[schemas.EntityID]Standing{}
	agents := []schemas.EntityID{work, solo, other, kid}
	for _, id := range agents {
		before[id] = n.standing(id)
	}
	files, err := filepath.Glob("../internal/store/migrations/*_trust.sql")
	require.NoError(t, err)
	file, err := os.ReadFile(slices.Max(files))
	require.NoError(t, err)
	fill := regexp.MustCompile(`(?s)UPDATE assessments_counted .*?;`).FindString(string(file))
	files, err = filepath.Glob("../internal/store/migrations/*_ranks.sql")
	require.NoError(t, err)
	ranks, err := os.ReadFile(slices.Max(files))
	require.NoError(t, err)
	ownFill := regexp.MustCompile(`(?s)UPDATE assessments_counted .*?;`).FindString(string(ranks))
	n.SQL(`UPDATE assessments_counted SET moves_tier = 0`)
	n.SQL(fill) // as the migration does
	n.SQL(`UPDATE assessments_counted SET own = 0`)
	n.SQL(ownFill)
	n.SQL(`UPDATE trust_scores SET tier_alpha = 0, tier_beta = 0, tier_steps = '[]', tier = '', by_person = 0,
		ranks_alpha = 0, ranks_beta = 0`)
	require.NoError(t, n.verify())
	for _, id := range agents {
		require.Equal(t, before[id], n.standing(id))
	}
	require.NoError(t, n.do(ann, access.Write, func(g access.Grant) error { return g.RightsChanged() }))
	n.Group("plaza", ann, work)
	err = n.need(work, access.Need{Kind: access.KindWrite, Layer: schemas.L2, Visibility: schemas.Group,
		Group: "plaza"})
	require.Equal(t, before[work].Tier == schemas.Medium || before[work].Tier == schemas.High, may(err), "%v",
		before[work].Tier)

	n.SQL(`UPDATE trust_scores SET alpha = alpha + 1 WHERE agent = ?`, work)
	require.ErrorContains(t, n.verify(), "is not what the ledger gives", "what was kept then is compared")
	n.SQL(`UPDATE trust_scores SET alpha = alpha - 1 WHERE agent = ?`, work)
	n.assess(ann, Verdict{On: wrote(work, 900), Word: Right})
	require.EqualValues(t, 1, n.one(
		`SELECT count(*) FROM trust_scores WHERE agent = ? AND observer = 'ann' AND tier <> ''`, work))
	require.NoError(t, n.verify())
}
