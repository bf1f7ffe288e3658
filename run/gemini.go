package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cordelia/run/git"
)

// Gemini asks Gemini CLI, headless, with the login of the user.
type Gemini struct {
	Program string // its path
	Self    string // path of this program, which is its MCP server and its sandbox
}

// Name is gemini-cli.
func (Gemini) Name() string { return "gemini-cli" }

// geminiTools are its names of the tools.
var geminiTools = map[string]string{toolBash: "run_shell_command", toolRead: "read_file", toolEdit: "replace",
	toolWrite: "write_file", toolGlob: "glob", toolGrep: "grep_search"}

// geminiJudges is the one tool of a judging seat, which lists an empty folder: the API
// refuses a list without any.
const geminiJudges = "list_directory"

// Ask runs it once. It has no schema of answers, so the prompt has it.
func (g Gemini) Ask(ctx context.Context, o Order, emit func(Event)) (Answer, error) {
	folder, remove, err := git.TempFolder("ask")
	if err != nil {
		return Answer{}, faultf(NoStart, "no temporary folder: %v", err)
	}
	defer remove()
	home := filepath.Join(folder, "home")
	if o.Shield.On {
		home = o.Shield.Home
	}
	if o.Dir == "" {
		o.Dir = filepath.Join(folder, "empty")
		if err := os.Mkdir(o.Dir, 0o700); err != nil {
			return Answer{}, faultf(NoStart, "%v", err)
		}
	}
	payer, err := g.makeHome(home, o)
	if err != nil {
		return Answer{}, faultf(NoStart, "its login cannot be handed on: %v", err)
	}
	args, err := g.arguments(folder, o)
	if err != nil {
		return Answer{}, faultf(NoStart, "%v", err)
	}
	s := o.Shield.reading(folder, g.Program, g.Self, filepath.Dir(filepath.Dir(g.Program)))
	s.Env = append(s.Env[:len(s.Env):len(s.Env)], "GEMINI_CLI_HOME="+home, "GEMINI_CLI_NO_RELAUNCH=1",
		"NO_BROWSER=true")
	system := strings.ReplaceAll(o.System, "with StructuredOutput", "as JSON")
	prompt := fmt.Sprintf("%s\n\nYour last message is one JSON object and nothing else, which fits this schema:\n%s",
		o.Prompt, o.Schema)
	if len(o.Tools) > 0 { // its own words about its tools stay
		prompt = system + "\n\n" + prompt
	} else {
		path := filepath.Join(folder, "system.md")
		if err := os.WriteFile(path, []byte(system), 0o600); err != nil {
			return Answer{}, faultf(NoStart, "%v", err)
		}
		s.Env = append(s.Env, "GEMINI_SYSTEM_MD="+path)
	}
	if s.On {
		s.Ports = append(s.Ports[:len(s.Ports):len(s.Ports)], ports(os.Getenv)...)
		if file := os.Getenv("GOOGLE_APPLICATION_CREDENTIALS"); file != "" {
			s.Read = append(s.Read, file)
		}
	}
	stream := &geminiStream{dir: o.Dir, payer: payer}
	answer, err := converse(ctx, command{program: g.Program, args: args, dir: o.Dir, stdin: prompt, shield: s,
		self: g.Self, limits: o.Limits, family: o.family, held: o.held,
		environment: geminiEnvironment}, stream.read, emit)
	if f, ok := errors.AsType[*Fault](err); ok && strings.Contains(f.Msg, "set an Auth method") {
		f.Kind = Unpaid // which it says before there is a stream
	}
	return answer, err
}

// arguments are those of one order; folder takes the file they name. Debugging has it tell
// the exit codes of commands.
func (g Gemini) arguments(folder string, o Order) ([]string, error) {
	args := []string{"--output-format", "stream-json", "--skip-trust", "--approval-mode", "default", "--debug"}
	if o.Model != "" {
		args = append(args, "--model", o.Model)
	}
	const allow = "decision = \"allow\"\npriority = 900\n"
	var rules strings.Builder
	for _, t := range o.Tools {
		fmt.Fprintf(&rules, "[[rule]]\ntoolName = %q\n%s", geminiTools[t], allow)
		if t == toolBash {
			rules.WriteString("allowRedirection = true\n") // otherwise each > is asked about, which is denied
		}
	}
	if o.Socket != "" {
		fmt.Fprintf(&rules, "[[rule]]\ntoolName = \"*\"\nmcpName = \"cordelia\"\n%s", allow)
	}
	path := filepath.Join(folder, "policy.toml")
	return append(args, "--policy", path), os.WriteFile(path, []byte(rules.String()), 0o600)
}

// object is a part of a settings file.
type object = map[string]any

// makeHome makes a home for Gemini CLI with the login of the user, the choice of a model,
// and nothing else of theirs: no servers, hooks, extensions or memory.
func (g Gemini) makeHome(home string, o Order) (payer string, err error) {
	own := os.Getenv("GEMINI_CLI_HOME")
	if own == "" {
		if own, err = os.UserHomeDir(); err != nil {
			return "", err
		}
	}
	own = filepath.Join(own, ".gemini")
	if payer, err = copyLogin(own, home); err != nil {
		return "", err
	}
	var theirs struct {
		Security struct {
			Auth struct {
				Selected string `json:"selectedType"`
			} `json:"auth"`
		} `json:"security"`
		Model struct {
			Name string `json:"name"`
		} `json:"model"`
	}
	raw, err := os.ReadFile(filepath.Join(own, "settings.json"))
	if err == nil {
		err = json.Unmarshal(raw, &theirs)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	selected := theirs.Security.Auth.Selected
	switch {
	case selected != "":
		payer = selected
	case os.Getenv("GEMINI_API_KEY") != "":
		payer, selected = "GEMINI_API_KEY", "gemini-api-key"
	}
	settings := g.settings(o)
	if name := theirs.Model.Name; name != "" {
		settings["model"] = object{"name": name, "maxSessionTurns": turnsOf(o)}
	}
	settings["security"] = object{"auth": object{"selectedType": selected}, "folderTrust": object{"enabled": false}}
	if raw, err = json.Marshal(settings); err != nil {
		return "", err
	}
	return payer, putIn(home, filepath.Join(".gemini", "settings.json"), raw)
}

// copyLogin copies the files of the user's login into the home, and says who pays by them.
func copyLogin(own, home string) (payer string, err error) {
	payer = "none"
	for _, name := range []string{".env", "oauth_creds.json", "google_accounts.json", "gemini-credentials.json",
		"installation_id"} {
		raw, err := os.ReadFile(filepath.Join(own, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = putIn(home, filepath.Join(".gemini", name), raw)
		}
		if err != nil {
			return "", err
		}
		if payer == "none" && name != "installation_id" {
			payer = "the login of gemini-cli"
		}
	}
	return payer, nil
}

// turnsOf is how many turns it may take; -1 = any number.
func turnsOf(o Order) int {
	if o.Limits.Turns > 0 {
		return o.Limits.Turns
	}
	return -1
}

// settings are those of one order: its tools, its server, and nothing that asks, sends or
// fetches beside the work.
func (g Gemini) settings(o Order) object {
	core := []string{}
	for _, t := range o.Tools {
		core = append(core, geminiTools[t])
	}
	if len(core) == 0 {
		core = []string{geminiJudges}
	}
	servers := object{}
	if o.Socket != "" {
		servers["cordelia"] = object{"command": g.Self, "args": []string{"mcp", "--connect", o.Socket}, "trust": true}
	}
	off := object{"enabled": false}
	return object{"mcpServers": servers, "tools": object{"core": core, "useRipgrep": false},
		"model":   object{"maxSessionTurns": turnsOf(o)},
		"general": object{"enableAutoUpdate": false, "maxAttempts": 3}, "skills": off, "hooksConfig": off,
		"telemetry": off, "privacy": object{"usageStatisticsEnabled": false},
		"advanced":     object{"ignoreLocalEnv": true},
		"experimental": object{"enableAgents": false}}
}

// geminiEnvironment reports whether Gemini CLI is given a variable, beside those of every
// client: those of its login and its endpoint.
func geminiEnvironment(name string) bool {
	return name == "GEMINI_API_KEY" || name == "GEMINI_MODEL" || strings.HasPrefix(name, "GOOGLE_")
}
