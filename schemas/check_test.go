package schemas

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

func TestParseCheck(t *testing.T) {
	for _, good := range []string{
		`{"kind":"file","path":"docs/a.md"}`, `{"kind":"regex","path":"a","pattern":"^v2"}`,
		`{"kind":"date","equals":"2026-11-20"}`,
		`{"kind":"json_path","path":"a.json","json_path":"$","equals":null}`,
		`{"kind":"json_path","path":"a.json","json_path":"$.a['b c'][0].d_e","equals":{"x":[1]}}`,
		`{"kind":"command","command":["go","test","./…"]}`,
		`{"kind":"command","command":["./run","","-x"],"dir":"a/b","exit":255}`,
	} {
		_, wrong := ParseCheck([]byte(good), "/check", CheckKinds())
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
		`{"kind":"json_path"}`: {"/check/path", "/check/json_path",
			"/check/equals"},
		`{"kind":"command"}`:                                                 {"/check/command"},
		`{"kind":"command","command":[]}`:                                    {"/check/command"},
		`{"kind":"command","command":[""]}`:                                  {"/check/command", "/check/command/0"},
		`{"kind":"command","command":"make test"}`:                           {"/check"},
		`{"kind":"command","command":["make"],"command":["sh"]}`:             {"/check"},
		`{"kind":"command","command":[" ","x"]}`:                             {"/check/command/0"},
		`{"kind":"command","command":["a","b\u0000"]}`:                       {"/check/command/1"},
		`{"kind":"command","command":["a"],"dir":"../b"}`:                    {"/check/dir"},
		`{"kind":"command","command":["a"],"dir":"/b"}`:                      {"/check/dir"},
		`{"kind":"command","command":["a"],"exit":256}`:                      {"/check/exit"},
		`{"kind":"command","command":["a"],"exit":-1}`:                       {"/check/exit"},
		`{"kind":"command","command":["a"],"exit":0.5}`:                      {"/check"},
		`{"kind":"command","command":["a"],"path":"b"}`:                      {"/check/path"},
		`{"kind":"file","path":"a","command":["b"]}`:                         {"/check/command"},
		`{"kind":"file","path":"a","dir":"b","exit":1}`:                      {"/check/dir", "/check/exit"},
		`{"kind":"json_path","path":"a","json_path":"a.b","equals":1}`:       {"/check/json_path"},
		`{"kind":"json_path","path":"a","json_path":"$..b","equals":1}`:      {"/check/json_path"},
		`{"kind":"json_path","path":"a","json_path":"$[-1]","equals":1}`:     {"/check/json_path"},
		`{"kind":"json_path","path":"a","json_path":"$.a[*]","equals":1}`:    {"/check/json_path"},
		`{"kind":"json_path","path":"a","json_path":"$.a[?(1)]","equals":1}`: {"/check/json_path"},
	} {
		_, wrong := ParseCheck([]byte(bad), "/check", CheckKinds())
		var at []string
		for _, v := range wrong {
			at = append(at, v.Path)
		}
		require.Equal(t, paths, at, bad)
	}
}

func TestACommandIsBounded(t *testing.T) {
	for _, words := range [][]string{slices.Repeat([]string{"a"}, maxCheckArgs+1),
		{strings.Repeat("a", maxCheckCommand+1)}} {
		raw, err := json.Marshal(Check{Kind: CheckCommand, Command: words})
		require.NoError(t, err)
		_, wrong := ParseCheck(raw, "", CheckKinds())
		require.Len(t, wrong, 1)
		require.Equal(t, "/command", wrong[0].Path)
	}
}

// An agent that says how a command will come out does not get it run.
func TestAPredictionNamesNoCommand(t *testing.T) {
	raw := []byte(`{"kind":"command","command":["make"]}`)
	c, wrong := ParseCheck(raw, "/check", ForesightKinds())
	require.Empty(t, c)
	require.Equal(t, []Violation{{"/check/kind",
		"must be one of file, regex, json_path, date: kind command is for criteria of tasks alone"}}, wrong)
	_, wrong = ParseCheck(raw, "/check", CheckKinds())
	require.Empty(t, wrong)
}

func TestChecksInALine(t *testing.T) {
	for raw, want := range map[string]string{
		`{"kind":"file","path":"a b"}`:                                                   `a b`,
		`{"kind":"regex","path":"a","pattern":"x\"\n"}`:                                  `a matches "x\"\n"`,
		`{"kind":"json_path","path":"a","json_path":"$.b","equals":{"c":1}}`:             `a at $.b equals {"c":1}`,
		`{"kind":"json_path","path":"a\nb","json_path":"$.b","equals":{"c":  [1]}}`:      `"a\nb" at $.b equals {"c":[1]}`,
		`{"kind":"json_path","path":"a","json_path":"$['\u007f\u202e']","equals":{}}`:    `a at "$['\x7f\u202e']" equals {}`,
		`{"kind":"date","equals":"2026-11-20"}`:                                          `"2026-11-20"`,
		`{"kind":"command","command":["go","test","./…"]}`:                               `go test ./…`,
		`{"kind":"command","command":["sh","-c","a && b","","c\nd","\u202e"],"dir":"e"}`: `sh -c "a && b" "" "c\nd" "\u202e" (in e)`,
	} {
		c, wrong := ParseCheck([]byte(raw), "", CheckKinds())
		require.Empty(t, wrong)
		require.Equal(t, want, c.String())
	}
}

func TestWhichEvidenceIsStale(t *testing.T) {
	require.True(t, Evidence{Tool: CheckTool(CheckRegex), Exit: CheckStale}.Stale())
	require.False(t, Evidence{Tool: CheckTool(CheckRegex), Exit: CheckFails}.Stale())
	require.False(t, Evidence{Tool: CheckTool(CheckCommand), Exit: CheckStale}.Stale(), "a command's exit is its own")
	require.False(t, Evidence{Tool: "bash", Exit: CheckStale}.Stale())
}

// A check that is accepted is accepted again as it is written, and means the
// same.
func FuzzParseCheck(f *testing.F) {
	for _, s := range []string{`{"kind":"file","path":"a"}`, `{"kind":"regex","path":"a/b","pattern":"^x+$"}`,
		`{"kind":"json_path","path":"a","json_path":"$.a[0]['b c']","equals":{"x":null}}`,
		`{"kind":"date","equals":"2026-11-20"}`, `{"kind":"file","path":"../x"}`,
		`{"kind":"command","command":["sh","-c","a \"b\""],"dir":"c/d","exit":3}`,
		`{"kind":"command","command":["a\u0000"]}`,
		`{"kind":"json_path","path":"a","json_path":"$['\u007f']","equals":{}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, wrong := ParseCheck(raw, "", CheckKinds())
		if len(wrong) > 0 {
			return
		}
		written, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		again, wrong := ParseCheck(written, "", CheckKinds())
		if len(wrong) > 0 || again.Kind != c.Kind || again.Path != c.Path || again.Pattern != c.Pattern ||
			again.JSONPath != c.JSONPath ||
			!slices.Equal(again.Command, c.Command) || again.Dir != c.Dir || again.Exit != c.Exit {
			t.Fatalf("%s became %s: %v", raw, written, wrong)
		}
		if c.Kind == CheckCommand && (len(c.Command) == 0 || strings.TrimSpace(c.Command[0]) == "" || c.Exit < 0) {
			t.Fatalf("%s names nothing to run", raw)
		}
		if strings.ContainsFunc(c.String(), unicode.IsControl) {
			t.Fatalf("%s is more than a line: %s", raw, c)
		}
	})
}
