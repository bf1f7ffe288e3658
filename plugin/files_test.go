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
	for _, f := range Files(program, []string{"--home", home}) {
		require.NotContains(t, files, f.Path)
		files[f.Path] = f.Content
	}
	for _, name := range []string{".claude-plugin/plugin.json", "hooks/hooks.json", "agents/worker.md", "skills/remember/SKILL.md",
		"skills/persist/SKILL.md", "skills/swarm/SKILL.md", "skills/review/SKILL.md"} {
		require.Contains(t, files, name)
	}
	started := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if command, ok := v["command"].(string); ok {
				started++
				require.Equal(t, program, command)
				require.Equal(t, []any{"--home", home}, v["args"].([]any)[1:])
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
