package access

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

func denials(chain []ChainLink, op Operation, now int64) []string {
	out := []string{}
	for _, d := range Evaluate(chain, op, now) {
		out = append(out, d.String())
	}
	return out
}

func TestEvaluate(t *testing.T) {
	narrow := schemas.Capabilities{Tools: []string{"memory_search"}}
	chain := []ChainLink{alive("root", Top()), alive("p", Bounded(delegator(1))), alive("c", Bounded(narrow))}
	tests := []struct {
		name string
		op   Operation
		want []string
	}{
		{"a tool that touches no memory", Operation{Tool: "memory_search"}, []string{}},
		{"no tool", Operation{}, []string{"tool:p", "tool:c"}},
		{
			"everything lacking is named",
			Operation{Tool: "memory_share", Kind: KindWrite, Layer: schemas.L2, Visibility: schemas.Group, Group: "g"},
			[]string{"tool:c", "layer:c", "visibility:c", "group:c"},
		},
		{
			"own L1 is read whatever the capabilities",
			Operation{Tool: "memory_search", Kind: KindRead, Layer: schemas.L1, Own: true}, []string{},
		},
		{
			"own L1 is written inside capabilities",
			Operation{Tool: "memory_search", Kind: KindWrite, Layer: schemas.L1, Own: true}, []string{"layer:c"},
		},
		{
			"another's L1",
			Operation{Tool: "memory_search", Kind: KindRead, Layer: schemas.L1}, []string{"layer:c"},
		},
		{
			"own private items need the layer, not the visibility",
			Operation{Tool: "memory_search", Kind: KindRead, Layer: schemas.L2, Visibility: schemas.Private, Own: true},
			[]string{"layer:c"},
		},
		{
			"private without saying whose is another's",
			Operation{Tool: "memory_search", Kind: KindRead, Layer: schemas.L2, Visibility: schemas.Private},
			[]string{"layer:c", "visibility:c"},
		},
		{
			"owning a group item does not open the group",
			Operation{Tool: "memory_search", Kind: KindRead, Layer: schemas.L2, Visibility: schemas.Group, Group: "g",
				Own: true},
			[]string{"layer:c", "visibility:c", "group:c"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, denials(chain, tt.op, 0)) })
	}
}

func TestEvaluateOpensNothingByOmission_INV_CLOSED(t *testing.T) {
	full := []ChainLink{alive("root", Top()), alive("c", Bounded(delegator(1)))}
	read := Operation{Tool: "memory_search", Kind: KindRead, Layer: schemas.L2, Visibility: schemas.Group, Group: "g"}
	require.Empty(t, denials(full, read, 0))

	tests := []struct {
		name  string
		chain []ChainLink
		alter func(*Operation)
		want  []string
	}{
		{"no chain", nil, nil, []string{"broken_chain:"}},
		{"no human", full[1:], nil, []string{"broken_chain:c"}},
		{"a second human", []ChainLink{full[0], alive("x", Top()), full[1]}, nil, []string{"broken_chain:x"}},
		{"zero link", []ChainLink{full[0], {}}, nil, []string{"not_active::", "tool:", "layer:", "visibility:",
			"group:"}},
		{"human not active", []ChainLink{{ID: "root", Boundary: Top()}, full[1]}, nil, []string{"not_active:root:"}},
		{"no kind", full, func(op *Operation) { op.Kind = "" }, []string{"layer:c", "visibility:c", "group:c"}},
		{"no visibility", full, func(op *Operation) { op.Visibility = "" }, []string{"visibility:c"}},
		{"no group", full, func(op *Operation) { op.Group = "" }, []string{"group:c"}},
		{"a group without a layer", full, func(op *Operation) { op.Layer, op.Visibility, op.Group = "", "", "Bad" },
			[]string{"group:c"}},
		{"no group, of kind staging", full, func(op *Operation) {
			op.Group, op.GroupKind, op.Role = "", GroupStaging,
				RoleOwner
		}, []string{"group:c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			op := read
			if tt.alter != nil {
				tt.alter(&op)
			}
			require.Equal(t, tt.want, denials(tt.chain, op, 0))
		})
	}
}

func TestNoAgentWritesPublicMemory_INV_PUBLIC(t *testing.T) {
	corrupt := delegator(1)
	corrupt.MemoryWrite.Visibility = []schemas.Visibility{schemas.Public} // never passes ParseCapabilities
	op := Operation{Tool: "memory_share", Kind: KindWrite, Layer: schemas.L2, Visibility: schemas.Public}
	require.Equal(t, []string{"visibility:c"}, denials([]ChainLink{alive("root", Top()), alive("c", Bounded(corrupt))},
		op, 0))
	require.Empty(t, denials([]ChainLink{alive("root", Top())}, op, 0), "a human may")
}

func TestStagingOpensByExactMembership_INV_RESERVED(t *testing.T) {
	chain := []ChainLink{alive("root", Top()), alive("p", Bounded(delegator(2))), alive("c", Bounded(delegator(1)))}
	op := Operation{Tool: "memory_search", Kind: KindRead, Layer: schemas.L2, Visibility: schemas.Group,
		Group: "staging-x"}
	require.Equal(t, []string{"group:p", "group:c"}, denials(chain, op, 0))
	op.Role = RoleViewer
	require.Empty(t, denials(chain, op, 0))
	op.Kind = KindWrite
	require.Equal(t, []string{"group:p", "group:c"}, denials(chain, op, 0), "a viewer does not write")
	op.Role = "superuser"
	require.Equal(t, []string{"group:p", "group:c"}, denials(chain, op, 0))

	plain := Operation{Tool: "memory_search", Kind: KindRead, Layer: schemas.L2, Visibility: schemas.Group,
		Group: "team", Role: RoleOwner}
	reduced := delegator(1)
	reduced.MemoryRead.Groups = nil
	require.Equal(t, []string{"group:c"}, denials([]ChainLink{chain[0], alive("c", Bounded(reduced))}, plain, 0),
		"membership never bypasses capabilities in a plain group")
}

func TestExpiryIsInclusive(t *testing.T) {
	require.EqualValues(t, 0, ExpiresAt(7, 0))
	require.EqualValues(t, 60_000_007, ExpiresAt(7, 60))
	require.Positive(t, ExpiresAt(1<<62, schemas.MaxTTLSeconds))
	chain := []ChainLink{alive("root", Top()), {ID: "c", Boundary: Bounded(delegator(1)), Status: schemas.Active,
		ExpiresAt: 10}}
	require.Empty(t, denials(chain, Operation{Tool: "memory_search"}, 9))
	require.Equal(t, []string{"expired:c"}, denials(chain, Operation{Tool: "memory_search"}, 10))
	require.EqualValues(t, 10, EffectiveExpiry(chain))
	require.EqualValues(t, 0, EffectiveExpiry(chain[:1]))
}
