package roles

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"cordelia/schemas"
)

// defaultTrust is where capability trust of a role begins that says nothing else.
const defaultTrust = 0.3

// Clamp gives the charter of a child of parent from a template, without its parameters: the
// strictest of both (INV-ROLE-CEILING), and says what of the template was taken back.
func Clamp(t schemas.RoleTemplate, parent schemas.Role, p schemas.WorkspacePolicy) (schemas.Role, []string) {
	var clamped []string
	note := func(format string, args ...any) { clamped = append(clamped, fmt.Sprintf(format, args...)) }
	child := schemas.Role{Soul: t.SoulTemplate, ReportsTo: parent.RoleID, Wake: t.Wake, TTL: t.TTL,
		MemoryPolicy: t.MemoryPolicy, Asks: parent.Asks}

	child.Domains = domains(t, parent, note)
	for _, id := range t.OperatorIDs {
		if slices.Contains(parent.OperatorIDs, id) {
			child.OperatorIDs = append(child.OperatorIDs, id)
		} else {
			note("operator_ids: %s is not one of %s's", id, parent.RoleID)
		}
	}
	child.Authority = strictest(t.Authority, parent.Authority, note)
	child.Clearance = clearances(t, parent, note)

	child.Budget = schemas.RoleBudget{
		Tasks:  least(t.Budget.Tasks, parent.Budget.Tasks, "tasks", note),
		Tokens: least(t.Budget.Tokens, parent.Budget.Tokens, "tokens", note),
		Money:  least(t.Budget.Money, parent.Budget.Money, "money", note)}

	child.Trust.Default = new(startTrust(t, parent, p, note))
	for _, action := range slices.Sorted(maps.Keys(parent.Trust.Scores)) {
		trustLess(&child, action, parent.Trust.Scores[action], parent.RoleID, note)
	}
	return child, clamped
}

// domains are those of the template that the parent has.
func domains(t schemas.RoleTemplate, parent schemas.Role, note func(string, ...any)) (list []string) {
	for _, d := range t.Domains {
		switch {
		case slices.Contains(parent.Domains, d), slices.Contains(parent.Domains, "*"):
			list = append(list, d)
		case d == "*":
			list = append(list, parent.Domains...)
			note("domains: * becomes those of %s", parent.RoleID)
		default:
			note("domains: %s is not one of %s's", d, parent.RoleID)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// startTrust is the trust a child starts with: the template's, and at most the parent's.
func startTrust(t schemas.RoleTemplate, parent schemas.Role, p schemas.WorkspacePolicy,
	note func(string, ...any)) float64 {
	base := defaultTrust
	if p.DefaultTrust != nil {
		base = *p.DefaultTrust
	}
	want, ceiling := base, base
	if t.DefaultTrust != nil {
		want = *t.DefaultTrust
	}
	if parent.Trust.Default != nil {
		ceiling = *parent.Trust.Default
	}
	if want > ceiling {
		note("default_trust: %.2f becomes %.2f, as %s has", want, ceiling, parent.RoleID)
		want = ceiling
	}
	return want
}

// trustLess lets a child begin with no more trust in an action than its parent has.
func trustLess(child *schemas.Role, action string, parent float64, of string, note func(string, ...any)) {
	begins := *child.Trust.Default
	if at, ok := child.Trust.Scores[action]; ok {
		begins = at
	}
	if parent >= begins {
		return
	}
	if child.Trust.Scores == nil {
		child.Trust.Scores = map[string]float64{}
	}
	child.Trust.Scores[action] = parent
	note("trust: %.2f with %s becomes %.2f, as %s has", begins, action, parent, of)
}

// strictest is the authority of a child: an action is as strict as the stricter of its
// template and its parent has it, and what either forbids is forbidden.
func strictest(t, parent schemas.Authority, note func(string, ...any)) (a schemas.Authority) {
	actions := slices.Concat(t.Autonomous, t.NeedsApproval, t.Forbidden, parent.Forbidden)
	slices.Sort(actions)
	for _, action := range slices.Compact(actions) {
		mine, _ := authorityOn(t, action, "")
		above, _ := authorityOn(parent, action, "")
		got := mine
		if strictness(above) > strictness(mine) {
			got = above
			if named(t, action) {
				note("authority: %s is %s there and %s for the parent", action, mine, above)
			}
		}
		switch got {
		case autonomous:
			a.Autonomous = append(a.Autonomous, action)
		case forbidden:
			a.Forbidden = append(a.Forbidden, action)
		default:
			a.NeedsApproval = append(a.NeedsApproval, action)
		}
	}
	return a
}

func named(a schemas.Authority, action string) bool {
	return slices.Contains(slices.Concat(a.Autonomous, a.NeedsApproval, a.Forbidden), action)
}

// strictness orders the levels of authority.
func strictness(level string) int {
	return slices.Index([]string{autonomous, needsApproval, forbidden}, level)
}

// clearances are those of a child: of each domain that template or parent names the less
// secret.
func clearances(t schemas.RoleTemplate, parent schemas.Role,
	note func(string, ...any)) map[string]schemas.Classification {
	out := map[string]schemas.Classification{}
	of, above := &Member{Role: schemas.Role{Clearance: t.Clearance}}, &Member{Role: parent}
	domains := slices.Concat(slices.Collect(maps.Keys(t.Clearance)), slices.Collect(maps.Keys(parent.Clearance)))
	slices.Sort(domains)
	for _, d := range slices.Compact(domains) {
		have, ceiling := of.clearanceFor(d), above.clearanceFor(d)
		if rank(have) > rank(ceiling) {
			note("clearance: %s of %s becomes %s, as %s has", have, d, ceiling, parent.RoleID)
			have = ceiling
		}
		out[d] = have
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// least is the smaller of two limits, of which 0 is none.
func least[N cmp.Ordered](want, ceiling N, what string, note func(string, ...any)) N {
	var none N
	switch {
	case ceiling == none || want != none && want <= ceiling:
		return want
	case want != none:
		note("budget: %v %s become %v, as the parent has", want, what, ceiling)
	}
	return ceiling
}
