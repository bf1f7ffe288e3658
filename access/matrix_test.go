package access

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

const (
	plainGroup   schemas.GroupID = "team"
	swarmGroup   schemas.GroupID = "swarm-1"
	stagingGroup schemas.GroupID = "staging-a-1"
	systemGroup  schemas.GroupID = "system-1"
)

// column is one way to ask the matrix; opens renders both of its answers.
type column struct {
	name string
	q    Question
}

func memoryColumns() []column {
	l2 := func(v schemas.Visibility, own bool, g schemas.PrivateGrant) Question {
		return Question{Operation{Layer: schemas.L2, Visibility: v, Own: own}, schemas.Grants{Private: g}}
	}
	return []column{
		{"own L1", Question{Operation: Operation{Layer: schemas.L1, Own: true}}},
		{"other L1", Question{Operation{Layer: schemas.L1}, schemas.Grants{Private: schemas.WritePrivate}}},
		{"own private", l2(schemas.Private, true, schemas.NoPrivate)},
		{"private", l2(schemas.Private, false, schemas.NoPrivate)},
		{"private+read", l2(schemas.Private, false, schemas.ReadPrivate)},
		{"private+rw", l2(schemas.Private, false, schemas.WritePrivate)},
		{"public", l2(schemas.Public, false, schemas.WritePrivate)},
		{"own public", l2(schemas.Public, true, schemas.WritePrivate)},
	}
}

func groupColumns(role MemberRole) []column {
	group := func(id schemas.GroupID, kind string, g schemas.Grants) Question {
		return Question{Operation{Layer: schemas.L2, Visibility: schemas.Group, Group: id, GroupKind: kind, Role: role},
			g}
	}
	grant := func(id schemas.GroupID) schemas.Grants { return schemas.Grants{Groups: []string{string(id)}} }
	bonus := func(id schemas.GroupID) schemas.Grants { return schemas.Grants{BonusGroups: []string{string(id)}} }
	return []column{
		{"plain", group(plainGroup, "", schemas.Grants{})},
		{"plain+grant", group(plainGroup, "", grant(plainGroup))},
		{"plain+bonus", group(plainGroup, "", bonus(plainGroup))},
		{"plain+glob", group(plainGroup, "", schemas.Grants{Groups: []string{"*"}, BonusGroups: []string{"*"}})},
		{"swarm", group(swarmGroup, GroupSwarm, schemas.Grants{})},
		{"swarm+grant", group(swarmGroup, GroupSwarm, grant(swarmGroup))},
		{"swarm+bonus", group(swarmGroup, GroupSwarm, bonus(swarmGroup))},
		{"staging", group(stagingGroup, GroupStaging, schemas.Grants{})},
		{"system", group(systemGroup, GroupSystem, schemas.Grants{})},
	}
}

func roles() []MemberRole { return []MemberRole{"", RoleViewer, RoleMember, RoleAdmin, RoleOwner} }

func opens(t schemas.AgentType, tier schemas.Tier, q Question) string {
	answer := [2]bool{}
	for i, k := range []Kind{KindRead, KindWrite} {
		q.Kind = k
		answer[i] = MatrixAllows(RowFor(t, tier), tier, q)
	}
	switch answer {
	case [2]bool{true, true}:
		return "RW"
	case [2]bool{true, false}:
		return "R"
	case [2]bool{false, true}:
		return "W"
	}
	return "-"
}

// renderColumns gives one line for each agent type and tier.
func renderColumns(columns []column) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-13s%-11s", "type", "tier")
	for _, c := range columns {
		fmt.Fprintf(&b, "%-13s", c.name)
	}
	for _, agent := range schemas.AgentTypes() {
		for _, tier := range schemas.Tiers() {
			fmt.Fprintf(&b, "\n%-13s%-11s", agent, tier)
			for _, c := range columns {
				fmt.Fprintf(&b, "%-13s", opens(agent, tier, c.q))
			}
		}
	}
	return b.String()
}

func TestMatrixGolden(t *testing.T) {
	var b strings.Builder
	b.WriteString("What the scoping matrix opens: R reads, W writes, - neither. Capabilities restrict it " +
		"further.\n\nThe rows\n")
	for _, s := range matrix() {
		fmt.Fprintf(&b, "%-14s own L1 %-4s own private %-4s private %-9s group %-18s public %s\n",
			s.row, s.ownL1, s.ownPrivate, s.private, s.group, s.public)
	}
	fmt.Fprintf(&b, "\nOutside groups (+read, +rw: the parent's explicit grant)\n%s\n", renderColumns(memoryColumns()))
	rest := roles()
	for len(rest) > 0 { // roles that open the same share a table
		first := renderColumns(groupColumns(rest[0]))
		var same []string
		var later []MemberRole
		for _, r := range rest {
			if renderColumns(groupColumns(r)) == first {
				same = append(same, cmp.Or(string(r), "no member"))
			} else {
				later = append(later, r)
			}
		}
		fmt.Fprintf(&b, "\nGroup memory, as %s (+grant: approved by the parent, +bonus: a High-tier bonus, +glob: a "+
			"pattern among the grants)\n%s\n",
			strings.Join(same, ", "), first)
		rest = later
	}
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	got := strings.Join(lines, "\n")

	const file = "testdata/matrix.golden"
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "run UPDATE_GOLDEN=1 go test ./access -run %s and read the change", t.Name())
}

func allColumns() []column {
	columns := memoryColumns()
	for _, role := range append(roles(), "superuser") {
		columns = append(columns, groupColumns(role)...)
	}
	return columns
}

// Trust expands, never contracts (seed §7.2 rule 5).
func TestMoreTrustNeverTakesAway(t *testing.T) {
	tiers := schemas.Tiers()
	for _, agent := range schemas.AgentTypes() {
		for _, c := range allColumns() {
			for i := 1; i < len(tiers); i++ {
				lower, higher := opens(agent, tiers[i-1], c.q), opens(agent, tiers[i], c.q)
				require.True(t, lower == "-" || strings.HasPrefix(higher, lower),
					"%s, %s: %s opens %s, %s opens %s", agent, c.name, tiers[i-1], lower, tiers[i], higher)
			}
		}
	}
}

func TestMatrixOpensNothingUnknown_INV_CLOSED(t *testing.T) {
	own := Question{Operation: Operation{Kind: KindRead, Layer: schemas.L1, Own: true}}
	require.True(t, MatrixAllows(RowClaudeCode, schemas.Medium, own))
	require.False(t, MatrixAllows("", schemas.Medium, own), "no row")
	require.Equal(t, RowUntrusted, RowFor("", schemas.High))
	require.Equal(t, RowUntrusted, RowFor(schemas.ClaudeCode, ""))

	writes := own
	writes.Kind = KindWrite
	for _, tier := range []schemas.Tier{schemas.Untrusted, "", "HIGH"} {
		require.False(t, MatrixAllows(RowClaudeCode, tier, writes), "a row the tier %q does not deserve", tier)
	}
	for name, op := range map[string]Operation{
		"nothing":            {Kind: KindRead},
		"no kind":            {Layer: schemas.L1, Own: true},
		"no layer":           {Kind: KindRead, Visibility: schemas.Public},
		"no visibility":      {Kind: KindRead, Layer: schemas.L2, Own: true},
		"no group":           {Kind: KindRead, Layer: schemas.L2, Visibility: schemas.Group, Role: RoleOwner},
		"unknown role":       {Kind: KindRead, Layer: schemas.L2, Visibility: schemas.Group, Group: "g", Role: "god"},
		"unknown visibility": {Kind: KindRead, Layer: schemas.L2, Visibility: "all"},
	} {
		q := Question{op, schemas.Grants{Private: "all", Groups: []string{""}}}
		require.False(t, MatrixAllows(RowClaudeCode, schemas.High, q), name)
	}
	private := Question{Operation{Kind: KindRead, Layer: schemas.L2, Visibility: schemas.Private},
		schemas.Grants{Private: "all"}}
	require.False(t, MatrixAllows(RowClaudeCode, schemas.High, private), "an unknown grant")
}

// The matrix says why it refuses: what it names is what would open the question.
func TestTheMatrixSaysWhyItRefuses(t *testing.T) {
	group := func(role MemberRole, groups ...string) Question {
		return Question{Operation{Kind: KindWrite, Layer: schemas.L2, Visibility: schemas.Group, Group: plainGroup,
			Role: role}, schemas.Grants{Groups: groups}}
	}
	private := Question{Operation: Operation{Kind: KindRead, Layer: schemas.L2, Visibility: schemas.Private}}
	for _, c := range []struct {
		cause Cause
		of    schemas.AgentType
		tier  schemas.Tier
		q     Question
	}{
		{CauseRole, schemas.ClaudeCode, schemas.Low, group("")},
		{CauseRole, schemas.Custom, schemas.Medium, group(RoleViewer, string(plainGroup))},
		{CauseTier, schemas.Custom, schemas.Low, group(RoleMember, string(plainGroup))},
		{CauseTier, schemas.ClaudeCode, schemas.Untrusted, group(RoleMember)},
		{CauseGrant, schemas.Custom, schemas.Low, group(RoleMember)},
		{CauseGrant, schemas.Custom, schemas.Medium, group(RoleMember)},
		{CauseGrant, schemas.SwarmWorker, schemas.Medium, private},
		{CauseType, "unheard-of", schemas.Medium, private},
		{CauseOther, schemas.ClaudeCode, schemas.High, Question{Operation: Operation{Kind: KindRead, Layer: schemas.L1}}},
	} {
		require.False(t, MatrixAllows(RowFor(c.of, c.tier), c.tier, c.q), "%+v", c)
		require.Equal(t, c.cause, matrixCause(c.of, c.tier, c.q), "%+v", c)
	}
}
