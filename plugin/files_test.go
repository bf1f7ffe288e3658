package plugin

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The program and its arguments get into the files as they are, whatever they hold.
func TestFiles(t *testing.T) {
	program, home := `/opt/a "b" $c/<d>\e/cordelia`, `/home/ann's & bob's`
	files := map[string][]byte{}
	for _, f := range Files(Program{Path: program, More: []string{"--home", home}}) {
		require.NotContains(t, files, f.Path)
		files[f.Path] = f.Content
	}
	for _, name := range []string{".claude-plugin/plugin.json", "hooks/hooks.json", "agents/worker.md",
		"skills/remember/SKILL.md",
		"skills/persist/SKILL.md", "skills/swarm/SKILL.md", "skills/review/SKILL.md"} {
		require.Contains(t, files, name)
	}
	started := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			args, runs := v["args"].([]any) // a hook's input to a tool has a command and no args
			if command, ok := v["command"].(string); ok && runs {
				started++
				require.Equal(t, program, command)
				require.Equal(t, []any{"--home", home}, args[1:])
			}
			for _, part := range v {
				walk(part)
			}
		case []any:
			for _, part := range v {
				walk(part)
			}
		}
	}
	for name, content := range files {
		if strings.HasSuffix(name, ".json") {
			var v any
			require.NoError(t, json.Unmarshal(content, &v), name)
			walk(v)
		}
	}
	require.Equal(t, 3, started, "the server, and the hooks at the start and the end")
}

// The plugin has the version of the release it came with, else that of no release.
func TestTheVersionIsThatOfTheProgram(t *testing.T) {
	for release, want := range map[string]any{"v1.2.3-rc.1": "1.2.3-rc.1", "": "0.0.0"} {
		found := 0
		for _, f := range Files(Program{Path: "/bin/cordelia", Release: release}) {
			if f.Path == ".claude-plugin/plugin.json" {
				found++
				var manifest map[string]any
				require.NoError(t, json.Unmarshal(f.Content, &manifest))
				require.Equal(t, want, manifest["version"])
				continue
			}
			if release != "" {
				require.NotContains(t, string(f.Content), strings.TrimPrefix(release, "v"), f.Path)
			}
		}
		require.Equal(t, 1, found)
	}
}
