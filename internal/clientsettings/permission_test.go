package clientsettings

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The rule goes into the settings as their user lays them out, once, and comes out again.
func TestPermissionRule(t *testing.T) {
	home := t.TempDir()
	c, ok := at(t, home, nil)[ClaudeCode].Permissions()
	require.True(t, ok)
	require.Equal(t, filepath.Join(home, ".claude", "settings.json"), c.Settings)
	_, ok = at(t, home, nil)[Codex].Permissions()
	require.False(t, ok)

	const rule = `"mcp__plugin_cordelia_cordelia__*"`
	for name, tt := range map[string]struct{ before, after string }{
		"no file":      {"", "{\n  \"permissions\": {\n    \"allow\": [\n      " + rule + "\n    ]\n  }\n}\n"},
		"empty object": {"{}", "{\n  \"permissions\": {\n    \"allow\": [\n      " + rule + "\n    ]\n  }\n}"},
		"other settings": {"{\n  \"model\": \"x\"\n}\n",
			"{\n  \"model\": \"x\",\n  \"permissions\": {\n    \"allow\": [\n      " + rule + "\n    ]\n  }\n}\n"},
		"denials": {`{"permissions": {"deny": ["Bash"]}}`,
			`{"permissions": {"deny": ["Bash"],"allow":[` + rule + `]}}`},
		"empty list": {`{"permissions": {"allow": []}}`, `{"permissions": {"allow": [` + rule + `]}}`},
		"rules": {"{\n  \"permissions\": {\n    \"allow\": [\n      \"Read\",\n      \"Edit\"\n    ]\n  }\n}\n",
			"{\n  \"permissions\": {\n    \"allow\": [\n      \"Read\",\n      \"Edit\",\n      " + rule +
				"\n    ]\n  }\n}\n"},
		"there": {`{"permissions": {"allow": [` + rule + `]}}`, `{"permissions": {"allow": [` + rule + `]}}`},
		"a wider one": {`{"permissions": {"allow": ["mcp__plugin_cordelia_cordelia"]}}`,
			`{"permissions": {"allow": ["mcp__plugin_cordelia_cordelia"]}}`},
		"lines of CR LF": {"{\r\n\t\"a\": 1\r\n}",
			"{\r\n\t\"a\": 1,\r\n\t\"permissions\": {\r\n\t\t\"allow\": [\r\n\t\t\t" + rule + "\r\n\t\t]\r\n\t}\r\n}"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.Connect([]byte(tt.before), Entry{}, false)
			require.NoError(t, err)
			require.Equal(t, tt.after, string(got))
			again, err := c.Connect(got, Entry{}, false)
			require.NoError(t, err)
			require.Equal(t, tt.after, string(again))
			found, err := c.Find(got)
			require.NoError(t, err)
			require.True(t, found.Present)
			if tt.before == tt.after || strings.TrimSpace(strings.Trim(tt.before, "{}")) == "" {
				return // nothing was put in, or the file is put back as a whole
			}
			back, err := c.Disconnect(got, []byte(tt.before))
			require.NoError(t, err)
			require.Equal(t, tt.before, string(back))
		})
	}

	// Rules that the user added since stay.
	got, err := c.Disconnect([]byte(`{"permissions": {"allow": [`+rule+`, "Read"]}}`), []byte("{}"))
	require.NoError(t, err)
	require.Equal(t, `{"permissions": {"allow": ["Read"]}}`, string(got))
	for _, bad := range []string{`[]`, `{"permissions": []}`, `{"permissions": {"allow": {}}}`} {
		_, err := c.Connect([]byte(bad), Entry{}, false)
		require.ErrorContains(t, err, c.Settings, bad)
	}
}

// Our server is taken out of the list of those that could not start; others stay.
func TestUnskip(t *testing.T) {
	const entry = `{"timestamp":1795381114154,"id":"93c89e15dac43c63"}`
	for before, after := range map[string]string{
		``: ``, `{}`: `{}`,
		`{"plugin:cordelia:cordelia":` + entry + `}`:                                `{}`,
		`{"a":` + entry + `,"plugin:cordelia:cordelia":` + entry + `}`:              `{"a":` + entry + `}`,
		`{"cordelia":` + entry + `,"plugin:cordelia:cordelia":` + entry + `,"b":1}`: `{"b":1}`,
		`{"plugin:other:cordelia":` + entry + `}`: `{"plugin:other:cordelia":` +
			entry + `}`,
	} {
		got, err := Unskip([]byte(before))
		require.NoError(t, err)
		require.Equal(t, after, string(got))
	}
}
