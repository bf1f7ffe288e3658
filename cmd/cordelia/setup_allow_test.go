//go:build unix

package main

import (
	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/doctor"
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

// Claude Code keeps a server out that it could not start once; the doctor sees that, and
// with --fix takes it out of the client's list, and nothing else.
func TestDoctorMendsASkippedServer(t *testing.T) {
	const cache, other = ".claude/mcp-needs-auth-cache.json", `{"elsewhere":{"timestamp":1}}`
	planted := `{"plugin:cordelia:cordelia":{"timestamp":1795381114154,"id":"93c89e15dac43c63"},` + other[1:]
	u := newUser(t, buildProgram(t), map[string]string{cache: planted})
	u.must("setup")
	before := u.tree(false)
	checks, code := u.diagnosis()
	require.Equal(t, cli.ExitFailed, code)
	require.Contains(t, u.fixes(checks, "Claude Code"), "cordelia doctor --fix, then start a new session")
	require.Equal(t, before, u.tree(false), "without --fix nothing changes")
	require.Contains(t, u.must("doctor", "--fix"), "tries cordelia again")
	require.Equal(t, other, u.read(cache))
	_, code = u.diagnosis()
	require.Zero(t, code)
}

func (u *user) fixes(checks map[string][]doctor.Finding, check string) (all []string) {
	for _, f := range checks[check] {
		all = append(all, f.Fix)
	}
	return all
}
