//go:build unix

package run

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/jsonschema"
)

// A schema as strict modes take it asks for each member, has no bounds and no other members,
// and what fits it fits the schema itself once what is null is left out.
func TestStrictSchemas(t *testing.T) {
	const own = `{"type":"object","required":["list","free"],"additionalProperties":false,"properties":{"free":{},
		"list":{"type":"array","maxItems":3,"items":{"anyOf":[{"type":"string"},{"type":"object","required":["a"],
		"properties":{"a":{"type":"integer","minimum":1},"b":{"enum":["x",null]}}}]}},"note":{"type":"string"}}}`
	strict := string(strictSchema(json.RawMessage(own), true))
	for _, word := range []string{"maxItems", "minimum"} {
		require.NotContains(t, strict, word)
	}
	require.Equal(t, 2, strings.Count(strict, `"additionalProperties":false`))
	require.Contains(t, strict, `"required":["a","b"]`)
	require.Contains(t, strict, `"required":["free","list","note"]`)
	require.Contains(t, strict, `"free":{"type":"string"}`)
	require.Contains(t, strict, `"type":["string","null"]`)
	require.Contains(t, string(strictSchema(json.RawMessage(own), false)), `"required":["free","list"]`)

	all, err := jsonschema.Compile(map[string][]byte{answerSchema: []byte(strict)})
	require.NoError(t, err)
	check := all[answerSchema]
	const said = `{"free":"any","list":["s",{"a":12345678901234567890,"b":null}],"note":null}`
	bad, err := check.CheckText([]byte(said))
	require.NoError(t, err)
	require.Empty(t, bad)
	require.JSONEq(t, `{"free":"any","list":["s",{"a":12345678901234567890}]}`,
		string(withoutNulls(json.RawMessage(said), json.RawMessage(own))), "numbers keep their digits")
	require.JSONEq(t, `{"free":null,"list":[null]}`, string(withoutNulls(json.RawMessage(
		`{"free":null,"list":[null]}`), json.RawMessage(own))), "what has to be there stays")
}

// Any stream is a reply, or broken off.
func FuzzAPIStreams(f *testing.F) {
	one := says{text: "hi", calls: []toolCall{{"c", "bash", json.RawMessage(`{"command":"true"}`)}}}
	for i, list := range [][]string{messagesEvents(one), responsesEvents(one), chatEvents(one)} {
		for _, e := range list {
			f.Add(uint8(i), "data: "+e+"\n\n")
		}
		f.Add(uint8(i), "data: "+strings.Join(list, "\n\ndata: ")+"\n\n")
	}
	f.Add(uint8(0), `data: {"type":"content_block_delta","index":9}`+"\n\n")
	f.Add(uint8(2), `data: {"choices":[{"delta":{"tool_calls":[{"index":7}]}}]}`+"\n\n")
	f.Fuzz(func(t *testing.T, kind uint8, stream string) {
		in := []wire{messagesWire{}, responsesWire{}, chatWire{}}[kind%3].stream()
		readEvents(strings.NewReader(stream), func() {}, in.read)
		r, _ := in.end()
		for _, c := range r.calls {
			require.True(t, json.Valid(c.input))
		}
		for _, raw := range r.raw {
			require.True(t, json.Valid(raw))
		}
	})
}
