package mcp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// skimmed reads a message in parts of at most n bytes.
func skimmed(in string, n int) (s idScan) {
	for len(in) > 0 {
		n := min(n, len(in))
		s.read([]byte(in[:n]))
		in = in[n:]
	}
	return s
}

// The id of a request is found wherever it stands, and only if it is one that any parser
// would find.
func TestSkim(t *testing.T) {
	params := `{"id":5,"method":"x","a":[{"id":6},"\\\"",",\"id\":7"],"b":"\\"}`
	long := strings.Repeat("i", maxSkimmed-2)
	for name, c := range map[string]struct{ in, id string }{
		"first":              {`{"id":1,"jsonrpc":"2.0","method":"m","params":` + params + `}`, "1"},
		"last":               {`{"method":"m","params":` + params + `,"jsonrpc":"2.0","id":-20}`, "-20"},
		"text, with spaces":  {` { "method" : "m" , "id" : "a b\"c" } `, `"a b\"c"`},
		"an escaped name":    {`{"\u0069d":1,"method":"m"}`, "1"},
		"longest":            {`{"id":"` + long + `","method":"m"}`, `"` + long + `"`},
		"too long":           {`{"id":"` + long + `i","method":"m"}`, ""},
		"a long name":        {`{"` + long + `ii":[1],"id":1,"method":"m"}`, "1"},
		"inside alone":       {`{"method":"m","params":` + params + `}`, ""},
		"a notification":     {`{"method":"m"}`, ""},
		"an answer to us":    {`{"id":"server-1","result":{}}`, ""},
		"an error for us":    {`{"id":"server-1","error":{},"method":"m"}`, ""},
		"twice":              {`{"id":1,"method":"m","id":1}`, ""},
		"of another case":    {`{"id":1,"method":"m","ID":2}`, ""},
		"null":               {`{"id":null,"method":"m"}`, ""},
		"fraction":           {`{"id":1.5,"method":"m"}`, ""},
		"object":             {`{"id":{},"method":"m"}`, ""},
		"broken text":        {`{"id":"\x","method":"m"}`, ""},
		"invalid UTF-8":      {"{\"id\":\"\xff\",\"method\":\"m\"}", ""},
		"a name that is not": {`{id:1,"method":"m"}`, ""},
		"not closed":         {`{"id":1,"method":"m","params":{}`, ""},
		"closed too often":   {`}{"id":1,"method":"m"}`, ""},
		"two ids":            {`{"id":1 2,"method":"m"}`, ""},
		"two messages":       {`{"id":1,"method":"m"}{"id":2,"method":"m"}`, ""},
		"something after it": {`{"id":1,"method":"m"}1`, ""},
		"a batch":            {`[{"id":1,"method":"m"}]`, ""},
		"empty":              {`{}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{1, 7, len(c.in)} {
				s := skimmed(c.in, n)
				require.Equal(t, c.id, string(s.id()), "in parts of %d", n)
			}
		})
	}
}

// However long the message, little of it is kept.
func TestSkimIsBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, in := range []string{long, `"` + long, `{"` + long, `{"id":"` + long, `{"id":` + long,
		strings.Repeat("[", 1<<20),
		`{` + strings.Repeat(`"id":"`+long[:200]+`",`, 5000)} {
		s := skimmed(in, 1<<16)
		require.Empty(t, s.id())
		require.LessOrEqual(t, cap(s.name)+cap(s.value)+cap(s.found), 8*maxSkimmed, fmt.Sprintf("%.20s", in))
	}
}

// What is read in full and what is skimmed agree on the id.
func FuzzSkim(f *testing.F) {
	for _, c := range ambiguous() {
		f.Add(c.in)
	}
	f.Add(`{"jsonrpc":"2.0","id":"\u0061","method":"ping","params":{"id":[1,"}"]}}`)
	f.Add(`{"method":"m","jsonrpc":"2.0","id":7}`)
	f.Fuzz(func(t *testing.T, in string) {
		s := skimmed(in, 3)
		m, rerr := parseMessage([]byte(in))
		if rerr != nil {
			return
		}
		want := string(m.id)
		if m.method == "" || len(want) > maxSkimmed {
			want = ""
		}
		require.Equal(t, want, string(s.id()), "%q", in)
	})
}
