//go:build unix

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Plain setup offers the rule and writes none; with --allow it is there, the doctor sees
// it, and uninstall puts the settings back byte for byte.
func TestSetupAllows(t *testing.T) {
	program := buildProgram(t)
	const rule, settings = "mcp__plugin_cordelia_cordelia__*", ".claude/settings.json"
	for name, files := range map[string]map[string]string{
		"no settings": {".claude/": ""},
		"settings":    {settings: "{ \"model\" : \"x\",\n\t\"permissions\": {\"allow\": [\"Read\"] } }"},
		"a link":      {settings: "-> ../dot.json", "dot.json": "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t, program, files)
			before := u.tree(false)
			out := u.must("setup")
			require.Contains(t, out, "cordelia setup --allow")
			require.Contains(t, out, rule)
			if raw, err := os.ReadFile(u.path(settings)); err == nil {
				require.NotContains(t, string(raw), rule)
			}
			checks, _ := u.diagnosis()
			require.Contains(t, checks["permissions"][0].Detail, "cordelia setup --allow adds the rule "+rule)

			require.NotContains(t, u.must("setup", "--allow"), "asks before")
			require.Equal(t, 1, strings.Count(u.read(settings), rule))
			u.must("setup", "--allow")
			require.Equal(t, 1, strings.Count(u.read(settings), rule))
			require.NotContains(t, u.must("setup"), "asks before")
			checks, _ = u.diagnosis()
			require.Contains(t, checks["permissions"][0].Detail, "without asking")

			u.must("uninstall", "--purge", "--yes")
			require.Equal(t, before, u.tree(false))
		})
	}
	t.Run("settings changed since lose only the rule", func(t *testing.T) {
		u := newUser(t, program, map[string]string{settings: `{"permissions": {"deny": ["Bash"]}}`})
		u.must("setup", "--allow")
		edited := strings.Replace(u.read(settings), "Bash", "WebFetch", 1)
		require.NoError(t, os.WriteFile(u.path(settings), []byte(edited), 0o600))
		u.must("uninstall")
		require.Equal(t, `{"permissions": {"deny": ["WebFetch"]}}`, u.read(settings))
	})
}
