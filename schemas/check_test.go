package schemas

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseCheck(t *testing.T) {
	for _, good := range []string{
		`{"kind":"file","path":"docs/a.md"}`, `{"kind":"regex","path":"a","pattern":"^v2"}`, `{"kind":"date","equals":"2026-11-20"}`,
		`{"kind":"json_path","path":"a.json","json_path":"$","equals":null}`,
		`{"kind":"json_path","path":"a.json","json_path":"$.a['b c'][0].d_e","equals":{"x":[1]}}`,
	} {
		_, wrong := ParseCheck([]byte(good), "/check")
		require.Empty(t, wrong, good)
	}
	for bad, paths := range map[string][]string{
		`7`:                                         {"/check"},
		`{"kind":"file","size":1}`:                  {"/check"},
		`{"Kind":"file","path":"a"}`:                {"/check"},
		`{"kind":"file","path":"a","path":"b"}`:     {"/check"},
		`{"kind":"file","path":"a"}{}`:              {"/check"},
		`{"kind":"file","path":"a"`:                 {"/check"},
		`{"kind":"shell"}`:                          {"/check/kind"},
		`{}`:                                        {"/check/kind"},
		`{"kind":"file"}`:                           {"/check/path"},
		`{"kind":"file","path":"../a"}`:             {"/check/path"},
		`{"kind":"file","path":"/etc/passwd"}`:      {"/check/path"},
		`{"kind":"file","path":"a\\b"}`:             {"/check/path"},
		`{"kind":"file","path":"a\u0000b"}`:         {"/check/path"},
		`{"kind":"file","path":"a","pattern":"x"}`:  {"/check/pattern"},
		`{"kind":"regex","path":"a","pattern":"("}`: {"/check/pattern"},
		`{"kind":"date","equals":"soon"}`:           {"/check/equals"},
		`{"kind":"date","equals":7}`:                {"/check/equals"},
		`{"kind":"json_path"}`:                      {"/check/path", "/check/json_path", "/check/equals"},
		`{"kind":"json_path","path":"a","json_path":"a.b","equals":1}`:       {"/check/json_path"},
		`{"kind":"json_path","path":"a","json_path":"$..b","equals":1}`:      {"/check/json_path"},
		`{"kind":"json_path","path":"a","json_path":"$[-1]","equals":1}`:     {"/check/json_path"},
		`{"kind":"json_path","path":"a","json_path":"$.a[*]","equals":1}`:    {"/check/json_path"},
		`{"kind":"json_path","path":"a","json_path":"$.a[?(1)]","equals":1}`: {"/check/json_path"},
	} {
		_, wrong := ParseCheck([]byte(bad), "/check")
		var at []string
		for _, v := range wrong {
			at = append(at, v.Path)
		}
		require.Equal(t, paths, at, bad)
	}
}

// A check that is accepted is accepted again as it is written, and means the
// same.
func FuzzParseCheck(f *testing.F) {
	for _, s := range []string{`{"kind":"file","path":"a"}`, `{"kind":"regex","path":"a/b","pattern":"^x+$"}`,
		`{"kind":"json_path","path":"a","json_path":"$.a[0]['b c']","equals":{"x":null}}`, `{"kind":"date","equals":"2026-11-20"}`, `{"kind":"file","path":"../x"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, wrong := ParseCheck(raw, "")
		if len(wrong) > 0 {
			return
		}
		written, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		again, wrong := ParseCheck(written, "")
		if len(wrong) > 0 || again.Kind != c.Kind || again.Path != c.Path || again.Pattern != c.Pattern || again.JSONPath != c.JSONPath {
			t.Fatalf("%s became %s: %v", raw, written, wrong)
		}
	})
}
