package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ambiguous are messages two parsers could read differently, or not at all.
// Sent to a legacy decoder, those of them which name two tools run the second.
func ambiguous() []struct {
	name, in, says string
	code           int
} {
	const head = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`
	deep := func(n int) string { return strings.Repeat(`[`, n) + strings.Repeat(`]`, n) }
	return []struct {
		name, in, says string
		code           int
	}{
		{"case variant in params", head + `{"name":"echo","Name":"secret"}}`, `"Name" is not "name"`,
			CodeInvalidRequest},
		{"case variant alone", head + `{"NAME":"secret"}}`, "case-sensitive", CodeInvalidRequest},
		{"case variant of arguments", head + `{"name":"echo","Arguments":{}}}`, "case-sensitive", CodeInvalidRequest},
		{"case variant of _meta", head + `{"name":"echo","_META":{}}}`, "case-sensitive", CodeInvalidRequest},
		{"case variant in the envelope", `{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/list"}`,
			"case-sensitive", CodeInvalidRequest},
		{"long s folds to s", head[:len(head)-9] + `"paramſ":{"name":"secret"}}`, `"param\u017f" is not "params"`,
			CodeInvalidRequest},
		{"kelvin sign folds to k", head + `{"name":"echo","taſ` + "K" + `":{}}}`, "case-sensitive", CodeInvalidRequest},
		{"escaped case variant", head + `{"name":"echo","\u004eame":"secret"}}`, "case-sensitive", CodeInvalidRequest},
		{"duplicate", head + `{"name":"echo","name":"secret"}}`, "duplicate key", CodeInvalidRequest},
		{"duplicate by escape", head + `{"name":"echo","n\u0061me":"secret"}}`, "duplicate key", CodeInvalidRequest},
		{"duplicate deep inside", head + `{"name":"echo","arguments":{"a":{"b":1,"b":2}}}}`, "duplicate key",
			CodeInvalidRequest},
		{"NUL in a key", head + `{"name":"echo","name\u0000":"secret"}}`, "NUL", CodeInvalidRequest},
		{"NUL in a deep key", head + `{"name":"echo","arguments":{"a":[{"\u0000":1}]}}}`, "NUL", CodeInvalidRequest},
		{"invalid UTF-8", head + "{\"name\":\"ec\xffho\"}}", "UTF-8", CodeParse},
		{"lone surrogate", head + `{"name":"\ud800"}}`, "UTF-8", CodeParse},
		{"trailing data", head + `{"name":"echo"}} {}`, "after the end", CodeParse},
		{"trailing garbage", head + `{"name":"echo"}}x`, "after the end", CodeParse},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "batches", CodeInvalidRequest},
		{"empty batch", `[]`, "batches", CodeInvalidRequest},
		{"not an object", `"ping"`, "JSON object", CodeInvalidRequest},
		{"truncated", head + `{"name":`, "ends before", CodeParse},
		{"nothing", ``, "ends before", CodeParse},
		{"not JSON", `{'a':1}`, "not valid JSON", CodeParse},
		{"no JSON at all", `not json`, "not valid JSON", CodeParse},
		{"no list", `[bad`, "not valid JSON", CodeParse},
		{"a text and more", `"ping" x`, "after the end", CodeParse},
		{"depth 65", head + `{"name":"echo","arguments":{"a":` + deep(62) + `}}}`, "64 levels", CodeInvalidRequest},
	}
}

func TestM25AmbiguousMessagesAreRefused(t *testing.T) {
	for _, c := range ambiguous() {
		t.Run(c.name, func(t *testing.T) {
			err := checkMessage([]byte(c.in))
			require.NotNil(t, err)
			require.Equal(t, c.code, err.Code)
			require.Contains(t, err.Message, c.says)
		})
	}
}

func TestM25PlainMessagesPass(t *testing.T) {
	const head = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`
	for name, in := range map[string]string{
		"depth 64": head + `{"name":"echo","arguments":{"a":` +
			strings.Repeat(`[`, 61) + strings.Repeat(`]`, 61) + `}}}`,
		"case variants in user data":  head + `{"name":"echo","arguments":{"Name":1,"name":2,"METHOD":{"Params":3}}}}`,
		"case variants in nested key": head + `{"name":"echo","arguments":{"name":{"Name":1}}}}`,
		"NUL in a value":              head + `{"name":"a\u0000b"}}`,
		"space around":                " \t" + head + `{"name":"echo"}}` + "\r\n ",
		"surrogate pair":              head + `{"name":"\ud83d\ude00"}}`,
	} {
		t.Run(name, func(t *testing.T) { require.Nil(t, checkMessage([]byte(in))) })
	}
}

// Whatever is accepted must mean the same to a decoder that keeps the last
// duplicate and matches keys without regard to case, and to one that does not.
func FuzzCheckMessage(f *testing.F) {
	for _, c := range ambiguous() {
		f.Add([]byte(c.in))
	}
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"x":[1,2.5,null,true,"é"]}}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		if checkMessage(in) != nil {
			return
		}
		require.True(t, json.Valid(in))
		var exact map[string]any
		require.NoError(t, json.Unmarshal(in, &exact))
		var folded struct {
			Method json.RawMessage `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		require.NoError(t, json.Unmarshal(in, &folded))
		for key, got := range map[string]json.RawMessage{"method": folded.Method, "params": folded.Params} {
			want, present := exact[key]
			require.Equal(t, present, got != nil, key)
			if present {
				b, err := json.Marshal(want)
				require.NoError(t, err)
				require.JSONEq(t, string(b), string(got))
			}
		}
		params, _ := exact["params"].(map[string]any)
		var named struct {
			Name any `json:"name"`
		}
		if params != nil && json.Unmarshal(folded.Params, &named) == nil {
			require.Equal(t, params["name"], named.Name)
		}
	})
}

// Every message, however broken, is either refused or split without panic, and
// the id comes back as it was sent.
func FuzzParseMessage(f *testing.F) {
	for _, c := range ambiguous() {
		f.Add([]byte(c.in))
	}
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":"a","result":{}}`,
		`{"jsonrpc":"2.0","method":"x","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := parseMessage(in)
		if err == nil {
			require.True(t, m.method != "" || m.id != nil)
		}
		if m.id != nil {
			require.True(t, bytes.Contains(in, m.id))
		}
	})
}

func TestParseMessage(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		code int // 0 means accepted
		id   string
	}{
		"request":       {`{"jsonrpc":"2.0","id":1,"method":"ping"}`, 0, "1"},
		"large id":      {`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, 0, "9007199254740993"},
		"notification":  {`{"jsonrpc":"2.0","method":"x"}`, 0, ""},
		"response":      {`{"jsonrpc":"2.0","id":"a","result":{}}`, 0, `"a"`},
		"null id":       {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, CodeInvalidRequest, ""},
		"fraction":      {`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, CodeInvalidRequest, ""},
		"object id":     {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, CodeInvalidRequest, ""},
		"no version":    {`{"id":1,"method":"ping"}`, CodeInvalidRequest, "1"},
		"wrong version": {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, CodeInvalidRequest, "1"},
		"too deep": {`{"jsonrpc":"2.0","id":7,"method":"x","params":` + strings.Repeat(`[`, 70) +
			strings.Repeat(`]`, 70) + `}`, CodeInvalidRequest, "7"},
		"two ids":           {`{"jsonrpc":"2.0","id":7,"id":8,"method":"x"}`, CodeInvalidRequest, ""},
		"method not string": {`{"jsonrpc":"2.0","id":1,"method":1}`, CodeInvalidRequest, ""},
		"both":              {`{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, CodeInvalidRequest, "1"},
		"neither":           {`{"jsonrpc":"2.0","id":1}`, CodeInvalidRequest, "1"},
		"params array":      {`{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, CodeInvalidParams, "1"},
		"meta not object":   {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":3}}`, CodeInvalidParams, "1"},
		"version not text":  {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":3}}}`, CodeInvalidParams, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := parseMessage([]byte(c.in))
			require.Equal(t, c.id, string(m.id))
			if c.code == 0 {
				require.Nil(t, err)
				return
			}
			require.NotNil(t, err)
			require.Equal(t, c.code, err.Code)
		})
	}
}

func TestEachLineStaysInStep(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	request := `{"jsonrpc":"2.0","method":"ping","params":{"x":"` + long + `"},"id":"late"}`
	var got []string
	err := eachLine(strings.NewReader("a\r\n\n  \n"+long+"\nb\n"+request+"\n"+long[:70_000]+"\nlast"), 70_000,
		func(line []byte) bool {
			got = append(got, string(line[:min(len(line), 4)]))
			return true
		}, func(id json.RawMessage) { got = append(got, "too long: "+string(id)) })
	require.NoError(t, err)
	require.Equal(t, []string{"a", "too long: ", "b", `too long: "late"`, "xxxx", "last"}, got)

	// What ends a line counts once: more of it is a line that can be too long, too.
	got = nil
	require.NoError(t, eachLine(strings.NewReader(strings.Repeat("\r", 100_000)+"\n"), 70_000, nil,
		func(id json.RawMessage) { got = append(got, "too long: "+string(id)) }))
	require.Equal(t, []string{"too long: "}, got)
	require.ErrorIs(t, eachLine(io.MultiReader(strings.NewReader("a\n"), broken{}), 10,
		func([]byte) bool { return true }, nil), io.ErrClosedPipe)
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }
