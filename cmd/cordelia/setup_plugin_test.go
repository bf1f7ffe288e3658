//go:build unix

package main

import (
	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/setup"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Files of the plugin, below the home folder.
const (
	pluginManifest = ".claude/skills/cordelia/.claude-plugin/plugin.json"
	pluginHooks    = ".claude/skills/cordelia/hooks/hooks.json"
)

func TestSetupOfThePlugin(t *testing.T) {
	program := buildProgram(t)
	for name, test := range map[string]func(t *testing.T, u *user){
		"an entry of an earlier setup gives way to the plugin": func(t *testing.T, u *user) {
			entry := fmt.Sprintf(`{"mcpServers": {"other": {}, "cordelia": {"command": %q, "args": ["mcp"]}}}`,
				u.path(".local/bin/cordelia"))
			require.NoError(t, os.WriteFile(u.path(".claude.json"), []byte(entry), 0o640))
			before := u.tree(false)
			require.Equal(t, setup.Changed, u.actions(u.must("setup", "--json"))[".claude.json"])
			require.JSONEq(t, `{"mcpServers": {"other": {}}}`, u.read(".claude.json"))
			require.Contains(t, u.must("setup"), "nothing changed")
			u.must("uninstall", "--purge", "--yes")
			require.Equal(t, before, u.tree(false))
		},
		"a person's own entry for another agent stays": func(t *testing.T, u *user) {
			entry := fmt.Sprintf(`{"mcpServers": {"cordelia": {"command": %q, "args": ["mcp", "--as", "scout"]}}}`,
				u.path(".local/bin/cordelia"))
			require.NoError(t, os.WriteFile(u.path(".claude.json"), []byte(entry), 0o640))
			u.must("setup")
			require.Equal(t, entry, u.read(".claude.json"))
		},
		"someone else's skill of our name needs --force": func(t *testing.T, u *user) {
			require.NoError(t, os.MkdirAll(u.path(".claude/skills/cordelia/hooks"), 0o755))
			require.NoError(t, os.WriteFile(u.path(pluginHooks), []byte("mine"), 0o640))
			before := u.tree(true)
			out, code := u.run("setup")
			require.Equal(t, cli.ExitBusy, code)
			require.Contains(t, out, "--force")
			require.Equal(t, before, u.tree(true))
			was := u.tree(false)
			u.must("setup", "--force")
			require.NotEqual(t, "mine", u.read(pluginHooks))
			u.must("uninstall", "--purge", "--yes")
			require.Equal(t, was, u.tree(false))
		},
		"a folder that a link leads to is somebody's": func(t *testing.T, u *user) {
			elsewhere := u.path("checkout")
			require.NoError(t, os.CopyFS(elsewhere, os.DirFS("../../plugin/files")))
			require.NoError(t, os.MkdirAll(u.path(".claude/skills"), 0o755))
			require.NoError(t, os.Symlink(elsewhere, u.path(".claude/skills/cordelia")))
			before := u.tree(true)
			out, code := u.run("setup")
			require.Equal(t, cli.ExitBusy, code)
			require.Contains(t, out, "--force")
			u.must("uninstall", "--purge", "--yes")
			require.Equal(t, before, u.tree(true))
			was := u.tree(false)
			u.must("setup", "--force")
			u.must("uninstall", "--purge", "--yes")
			require.Equal(t, was, u.tree(false))
		},
		"a damaged plugin is written anew": func(t *testing.T, u *user) {
			u.must("setup")
			whole := u.read(pluginManifest)
			require.NoError(t, os.WriteFile(u.path(pluginManifest), []byte("{"), 0o600))
			out, code := u.run("doctor")
			require.NotZero(t, code)
			require.Contains(t, out, "fix: cordelia setup --client claude-code")
			u.must("setup", "--client", "claude-code")
			require.Equal(t, whole, u.read(pluginManifest))
			u.must("doctor")
		},
		"a link that leads nowhere": func(t *testing.T, u *user) {
			require.NoError(t, os.MkdirAll(u.path(".claude/skills"), 0o755))
			require.NoError(t, os.Symlink("nowhere", u.path(".claude/skills/cordelia")))
			out, code := u.run("setup")
			require.NotZero(t, code)
			require.Contains(t, out, "leads nowhere")
			require.NoDirExists(t, u.path(".cordelia"))
			u.must("uninstall", "--purge", "--yes")
			_, err := os.Lstat(u.path(".claude/skills/cordelia"))
			require.NoError(t, err)
		},
		"what is printed to be pasted is one word": func(t *testing.T, u *user) {
			home := u.path("Ann's home")
			u.must("setup", "--home", home)
			require.Contains(t, u.must("uninstall", "--home", home), "rm -r "+cli.Quoted(home))
			require.Contains(t, cli.Quoted(home), `Ann'\''s home'`)
		},
		"the plugin of another version": func(t *testing.T, u *user) {
			before := u.tree(false)
			u.must("setup")
			// As that version left it: a file more, and one of other content.
			require.NoError(t, os.WriteFile(u.path(".claude/skills/cordelia/old.md"), []byte("old"), 0o600))
			require.NoError(t, os.WriteFile(u.path(pluginHooks), []byte("{}"), 0o600))
			var m setup.Manifest
			require.NoError(t, json.Unmarshal([]byte(u.read(".cordelia/setup-manifest.json")), &m))
			m.Files = append(m.Files, setup.Touched{Client: "claude-code",
				Path:   u.path(".claude/skills/cordelia/old.md"),
				Plugin: true, After: setup.Sum([]byte("old"))})
			require.NoError(t, os.WriteFile(u.path(".cordelia/setup-manifest.json"), m.Encode(), 0o600))
			report := u.actions(u.must("setup", "--json"))
			require.Equal(t, setup.Removed, report[".claude/skills/cordelia/old.md"])
			require.Equal(t, setup.Changed, report[pluginHooks])
			u.must("doctor")
			u.must("uninstall", "--purge", "--yes")
			require.Equal(t, before, u.tree(false))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newUser(t, program, homes()["both"]))
		})
	}
}
