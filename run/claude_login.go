package run

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
)

// claudeFolder is where Claude Code keeps its settings, and claudeFile its state.
func claudeFolder() (folder, file string, err error) {
	if dir := os.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir, filepath.Join(dir, ".claude.json"), nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".claude"), filepath.Join(home, ".claude.json"), err
}

// loginKeys are what of its state Claude Code needs to know who pays.
var loginKeys = []string{"hasCompletedOnboarding", "oauthAccount", "customApiKeyResponses", "primaryApiKey", "userID"}

// makeHome puts the login of the user, and nothing else of theirs, into the HOME of a
// worker.
func (ClaudeCode) makeHome(home string) error {
	folder, file, err := claudeFolder()
	if err != nil {
		return err
	}
	state, kept := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, &state)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, key := range loginKeys {
		if value, ok := state[key]; ok {
			kept[key] = value
		}
	}
	if raw, err = json.Marshal(kept); err != nil {
		return err
	}
	if err := putIn(home, ".claude.json", raw); err != nil {
		return err
	}
	if raw, err = os.ReadFile(filepath.Join(folder, ".credentials.json")); errors.Is(err, fs.ErrNotExist) {
		return nil // an API key in the environment, or another payer
	}
	if err != nil {
		return err
	}
	return putIn(home, filepath.Join(".claude", ".credentials.json"), raw)
}

// settingsEnvironment are the variables that the user's settings give Claude Code: a
// worker, which reads no settings, pays as the user does.
func (ClaudeCode) settingsEnvironment() (list []string) {
	folder, _, err := claudeFolder()
	if err != nil {
		return nil
	}
	var settings struct {
		Env map[string]string `json:"env"`
	}
	raw, err := os.ReadFile(filepath.Join(folder, "settings.json"))
	if err != nil || json.Unmarshal(raw, &settings) != nil {
		return nil
	}
	for name, value := range settings.Env {
		if claudeEnvironment(name) {
			list = append(list, name+"="+value)
		}
	}
	return list
}

// ports are those of the endpoint and the proxies in an environment.
func ports(getenv func(string) string) (list []uint16) {
	for _, name := range []string{"ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "HTTPS_PROXY",
		"https_proxy", "HTTP_PROXY", "http_proxy"} {
		u, err := url.Parse(getenv(name))
		if err != nil || u.Host == "" {
			continue
		}
		if n, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
			list = append(list, uint16(n))
		} else if u.Scheme == "http" {
			list = append(list, 80)
		}
	}
	return list
}
