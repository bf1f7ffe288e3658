package mcp

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/ops"
)

// A result is one text. Fields and their schemas come only to a program that asks: for
// its process, for one HTTP request by the header, for any request by its _meta.
func TestResultsAreStructuredOnRequestOnly(t *testing.T) {
	for name, way := range map[string]struct {
		process bool
		header  string
		meta    obj
		want    bool
	}{
		"by default":          {},
		"process":             {process: true, want: true},
		"header":              {header: "Cordelia-Structured: 1", want: true},
		"header that says no": {header: "Cordelia-Structured: 0"},
		"_meta":               {meta: obj{"cordelia/structured": true}, want: true},
		"_meta that says no":  {meta: obj{"cordelia/structured": false}},
	} {
		t.Run(name, func(t *testing.T) {
			c := bound(t, ServerOptions{Structured: way.process})
			headers := []string{c.token}
			if way.header != "" {
				headers = append(headers, way.header)
			}
			ask := func(method string, params obj) obj {
				params["_meta"] = meta(way.meta)
				return c.body(c.post(context.Background(), request(1, method, params), headers...))
			}
			for _, tool := range dig(ask("tools/list", obj{}), "result", "tools").([]any) {
				require.NotNil(t, dig(tool, "inputSchema"))
				require.Equal(t, way.want, dig(tool, "outputSchema") != nil, dig(tool, "name"))
			}
			got := ask("tools/call", obj{"name": "agent_list", "arguments": obj{}})
			require.NotEmpty(t, said(got))
			require.Equal(t, way.want, dig(got, "result", "structuredContent", "you") != nil)
		})
	}
}

// An answer words itself: without its fields its text is all there is.
func TestEveryOperationHasAText(t *testing.T) {
	for _, o := range ops.Catalogue() {
		require.True(t, o.HasText(), o.Name)
	}
}
