//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// apis names the scripted model as two APIs in the settings, with a key in a variable.
func (r *running) apis() {
	r.Helper()
	var list []any
	for name, kind := range map[string]string{"house-messages": "messages", "house-responses": "responses"} {
		list = append(list, map[string]any{"name": name, "kind": kind, "url": r.model + "/v1", "model": "scripted",
			"key_env": "HOUSE_KEY"})
	}
	raw, err := json.Marshal(map[string]any{"seats": map[string]any{"apis": list}})
	require.NoError(r, err)
	require.NoError(r, os.WriteFile(filepath.Join(r.home, "cordelia", "config.json"), raw, 0o600))
}

// The same task with an API in every seat, with Gemini CLI in every seat, and mixed: who
// fills a seat changes nothing about what is proven.
func TestRunAcceptsWhoeverFillsTheSeats(t *testing.T) {
	for name, tt := range map[string]struct {
		flags, wants string
	}{
		"Anthropic's API":  {"--client house-messages", "house-messages"},
		"OpenAI's API":     {"--client house-responses", "house-responses"},
		"Gemini CLI":       {"--client gemini-cli --model gemini-2.5-flash", "gemini-cli"},
		"Gemini CLI works": {"--seat R3=gemini-cli --model R3=gemini-2.5-flash", "gemini-cli"},
		"an API works":     {"--seat R3=house-messages", "house-messages"},
		"all of them": {"--seat R1=codex --seat R2=house-messages --seat R3=claude-code --seat R4a=house-responses " +
			"--seat R4b=gemini-cli --model R4b=gemini-2.5-flash", "house-responses"},
	} {
		t.Run(name, func(t *testing.T) {
			model := NewRoles(house())
			t.Cleanup(model.Close)
			r := newRunning(t, model.URL())
			r.apis()
			t.Setenv("HOUSE_KEY", "sk-house-loopback")
			cmd := r.command(append(append([]string{"run", "--yes"}, strings.Fields(tt.flags)...),
				"rows without a date are kept")...)
			cmd.Env = append(cmd.Env, "HOUSE_KEY=sk-house-loopback", "GEMINI_API_KEY=loopback",
				"GOOGLE_GEMINI_BASE_URL="+model.URL())
			raw, err := cmd.CombinedOutput()
			out := string(raw)
			require.NoError(t, err, out)
			r.accepted(taskOf(t, out))
			require.Contains(t, out, tt.wants)
			require.NotContains(t, out, "sk-house-loopback")
			shown, _ := r.cordelia("task", "show", taskOf(t, out), "--detail", "--json")
			require.Contains(t, shown, `"by": "recorded_exit"`, "its commands are on record")
			require.Empty(t, r.processes())
		})
	}
}
