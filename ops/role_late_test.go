package ops_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// An approval has done what its person was shown, as far as the role may do it still: what the file
// took back since it asked is refused, with the reason.
func TestALateApprovalIsRefused(t *testing.T) {
	for why, change := range map[string][2]string{
		"change_pricing is forbidden": {"commit_deal_terms, change_pricing]\n      forbidden: [",
			"commit_deal_terms]\n      forbidden: [change_pricing, "},
		"operator revenue_ops is not its own any more":  {"[revenue_ops, company_intel]", "[company_intel]"},
		"it would do something else than is shown here": {`"{action}: lead`, `"{action} at once: lead`},
		"operator revenue_ops is not declared any more": {"  revenue_ops:\n", "  revenue_2:\n"},
	} {
		t.Run(why, func(t *testing.T) {
			f := newFirm(t, company)
			f.send(f.Lead, map[string]any{"type": "pricing.change_asked", "domain": "revenue"})
			asked := f.waiting(f.person)
			file := strings.Replace(company, change[0], change[1], 1)
			require.NotEqual(t, company, file)
			f.apply(file)
			_, err := f.decide(f.person, asked, "approve", "")
			require.ErrorIs(t, err, schemas.ErrConflict)
			require.ErrorContains(t, err, why)
			require.Equal(t, 0, f.Number(`SELECT count(*) FROM work_items`))
			_, err = f.decide(f.person, asked, "reject", "")
			require.NoError(t, err)
		})
	}
}
