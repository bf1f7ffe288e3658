package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/ops"
	"cordelia/schemas"
)

// Errors quote what was sent. What a client shows of them hides nothing and
// stays within the bounds of a result.
func TestErrorsHideNothingAndAreBounded(t *testing.T) {
	const bidi = "\u202e"
	e := schemas.Invalidf("no %s", strings.Repeat(bidi+"x", 100_000)).Expecting("%s", bidi).Try("%s", bidi)
	for i := range 1000 {
		e = e.With(schemas.Violation{Path: fmt.Sprintf("/%d%s", i, bidi), Msg: bidi + strings.Repeat("y", 5000)})
	}
	r := (&binding{}).failed(ops.Find("agent_list"), e)
	raw, err := json.Marshal(r)
	require.NoError(t, err)
	require.NotContains(t, string(raw), bidi)
	require.Contains(t, string(raw), "and 950 more")
	require.Less(t, len(raw), 120_000)
	require.Len(t, e.Violations, 1000, "the error itself stays")
}
