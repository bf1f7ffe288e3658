package access

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// An agent proposes exactly what tier Low alone keeps it from writing to a group.
func TestWhatAnAgentMayPropose(t *testing.T) {
	for _, agent := range schemas.AgentTypes() {
		for _, tier := range append(schemas.Tiers(), "") {
			for _, c := range allColumns() {
				q := c.q
				row := RowFor(agent, tier)
				q.Kind = KindWrite
				proposes := MatrixProposes(row, tier, q)
				if !proposes {
					continue
				}
				require.Equal(t, schemas.Low, tier)
				require.Equal(t, schemas.Group, q.Visibility)
				require.False(t, Reserved(q.Group, q.GroupKind))
				require.False(t, MatrixAllows(row, tier, q))
				require.True(t, MatrixAllows(RowFor(agent, schemas.Medium), schemas.Medium, q))
			}
		}
	}
	q := Question{Operation: Operation{Kind: KindWrite, Layer: schemas.L2, Visibility: schemas.Group, Group: "team",
		Role: RoleMember}}
	require.True(t, MatrixProposes(RowClaudeCode, schemas.Low, q))
	for _, tier := range []schemas.Tier{schemas.Untrusted, schemas.Medium, schemas.High, ""} {
		require.False(t, MatrixProposes(RowFor(schemas.ClaudeCode, tier), tier, q), tier)
	}
	viewer := q
	viewer.Role = RoleViewer
	require.False(t, MatrixProposes(RowClaudeCode, schemas.Low, viewer), "a viewer could not write either")
}
