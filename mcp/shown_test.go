package mcp

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// Neither part of an answer has characters that no person sees, however a client
// decodes it; what was stored stays as it is.
func TestAnswersHideNothing(t *testing.T) {
	c := bound(t, ServerOptions{Structured: true})
	call := func(tool string, args obj) map[string]any {
		return dig(c.ask("tools/call", obj{"name": tool, "arguments": args}), "result").(map[string]any)
	}
	const said = "pay \u200b\u202e\U000e0041 now"
	written := call("memory_write_warm", obj{"type": "learning", "data": obj{"type": "insight", "content": said}})
	id := dig(written, "structuredContent", "id")
	read := call("memory_read_warm", obj{"ids": []any{id}})
	item := dig(read, "structuredContent", "items").([]any)[0].(map[string]any)
	require.Equal(t, `pay \u{200b}\u{202e}\u{e0041} now`, dig(item, "data", "content"))
	for _, part := range []any{read["structuredContent"], read["content"]} {
		raw, err := json.Marshal(part)
		require.NoError(t, err)
		for _, hidden := range []string{"\u200b", "\u202e", "\U000e0041", `\u200b`, `\u202e`} {
			require.NotContains(t, string(raw), hidden)
		}
	}
	hot := call("memory_write_hot", obj{"operation": "patch", "data": obj{"active": obj{"focus": said}}})
	require.Nil(t, hot["isError"], "%v", hot)
	require.Equal(t, `pay \u{200b}\u{202e}\u{e0041} now`,
		dig(call("memory_read_hot", obj{}), "structuredContent", "context", "active", "focus"))
}
