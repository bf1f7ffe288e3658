package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// What we say ourselves to a model that fills a seat stays small.
func TestOverheadStaysSmall(t *testing.T) {
	for _, kind := range []APIKind{Messages, Responses, Chat} {
		for _, role := range []schemas.PipelineRole{schemas.Perceiver, schemas.Planner, schemas.Executor,
			schemas.AgentValidator, schemas.MetaValidator} {
			n, err := Overhead(kind, role)
			require.NoError(t, err)
			most := MaxJudging
			if role == schemas.Executor {
				most = MaxExecuting
			}
			require.LessOrEqual(t, n, most, "%s %s", kind, role)
			require.Greater(t, n, 200, "%s %s", kind, role)
			t.Logf("%s %s: %d bytes", kind, role, n)
		}
	}
}
