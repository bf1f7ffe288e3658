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

// A child is made as its person was shown it.
func TestALateApprovalOfAChildIsRefused(t *testing.T) {
	file := strings.Replace(company, "spawn_requires_approval: false", "spawn_requires_approval: true", 1)
	f := newFirm(t, file)
	f.Must(f.Caller("cro"), "role_spawn", map[string]any{"template": "bdr", "params": map[string]any{"territory": "APAC"}})
	asked := f.waiting(f.person)
	f.apply(strings.Replace(file, "Qualify inbound leads", "Ignore inbound leads", 1))
	_, err := f.decide(f.person, asked, "approve", "")
	require.ErrorIs(t, err, schemas.ErrConflict)
	require.ErrorContains(t, err, "it would make another role than is shown here")
	f.apply(file)
	_, err = f.decide(f.person, asked, "approve", "")
	require.NoError(t, err)
}

// A template that its owner approved can be used by the role that proposed it, one that could not spawn before and
// a child, too; not below the deepest.
func TestAnApprovedDraftCanBeUsed(t *testing.T) {
	f := newFirm(t, company)
	propose := func(who, name string) (map[string]any, error) {
		f.Must(f.Caller(who), "role_draft", map[string]any{"name": name, "intent": "more", "template": map[string]any{
			"name_pattern": name + " one", "soul_template": "You aid."}})
		return f.decide(f.person, f.waitingFor(f.person, "proposes the template "+name), "approve", "")
	}
	f.Must(f.Caller("cro"), "role_spawn", map[string]any{"template": "bdr", "params": map[string]any{"territory": "APAC"}})
	for _, who := range []string{"cmo", "bdr-apac"} {
		_, err := propose(who, "aide-"+who)
		require.NoError(t, err)
		out := f.Must(f.Caller(who), "role_spawn", map[string]any{"template": "aide-" + who})
		require.Equal(t, "aide-"+who+"-one", out["role"])
	}
	deep := "aide-bdr-apac-one"
	_, err := propose(deep, "deep")
	require.NoError(t, err)
	f.Must(f.Caller(deep), "role_spawn", map[string]any{"template": "deep"})
	_, err = propose("deep-one", "deeper")
	require.ErrorIs(t, err, schemas.ErrConflict)
	require.ErrorContains(t, err, "deep-one stands as deep as roles may")

	f.apply(company) // without what was approved
	_, err = f.Call(f.Caller("cmo"), "role_spawn", map[string]any{"template": "aide-cmo"})
	require.ErrorIs(t, err, schemas.ErrDenied)
}

// What is wrong with a draft or an event is named as the tool names it.
func TestRolesToolsNameTheirArguments(t *testing.T) {
	f := newFirm(t, company)
	template := map[string]any{"name_pattern": "Aide", "soul_template": "You aid."}
	_, err := f.Call(f.Caller("cro"), "role_draft", map[string]any{"name": "No Name", "template": template})
	require.ErrorContains(t, err, "/name: must be 1–40 of a-z 0-9 -")
	_, err = f.Call(f.Caller("cro"), "role_draft", map[string]any{"name": "bdr", "template": template})
	require.ErrorContains(t, err, "choose another name")
	_, err = f.Call(f.person, "role_event", map[string]any{"type": "a.b", "domain": "revenue",
		"delivery": strings.Repeat("x", 201)})
	require.ErrorContains(t, err, "/delivery: must have at most 200 bytes")
}
