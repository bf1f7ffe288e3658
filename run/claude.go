package run

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"cordelia/run/git"
)

// ClaudeCode asks Claude Code, headless, with the login of the user.
type ClaudeCode struct {
	Program string // its path
	Self    string // path of this program, which is its MCP server and its sandbox
}

// Name is claude-code.
func (ClaudeCode) Name() string { return "claude-code" }

// claudeTools are its names of the tools.
var claudeTools = map[string]string{toolBash: "Bash", toolRead: "Read", toolEdit: "Edit", toolWrite: "Write",
	toolGlob: "Glob", toolGrep: "Grep"}

// Ask runs it once, in print mode.
func (c ClaudeCode) Ask(ctx context.Context, o Order, emit func(Event)) (Answer, error) {
	folder, remove, err := git.TempFolder("ask")
	if err != nil {
		return Answer{}, faultf(NoStart, "no temporary folder: %v", err)
	}
	defer remove()
	args, err := c.arguments(folder, o)
	if err != nil {
		return Answer{}, faultf(NoStart, "%v", err)
	}
	if o.Dir == "" {
		o.Dir = folder
	}
	shield, err := c.shield(o, folder)
	if err != nil {
		return Answer{}, faultf(NoStart, "its login cannot be handed on: %v", err)
	}
	stream := &claudeStream{dir: o.Dir}
	return converse(ctx, command{program: c.Program, args: args, dir: o.Dir, stdin: o.Prompt, shield: shield,
		self: c.Self, limits: o.Limits, family: o.family, held: o.held,
		environment: claudeEnvironment}, stream.read, emit)
}

// shield is that of an order with what Claude Code itself needs: its files, its login and
// its endpoint.
func (c ClaudeCode) shield(o Order, folder string) (Shield, error) {
	s := o.Shield.reading(folder, c.Program, c.Self)
	if len(o.Tools) > 0 {
		s.Env = append(s.Env[:len(s.Env):len(s.Env)], c.settingsEnvironment()...)
	}
	if !s.On {
		return s, nil
	}
	if dir := filepath.Dir(c.Program); filepath.Base(filepath.Dir(dir)) == "claude-code" ||
		filepath.Base(dir) == "claude-code" {
		s.Read = append(s.Read, dir) // of an npm package
	}
	s.Ports = append(s.Ports[:len(s.Ports):len(s.Ports)], ports(os.Getenv)...)
	s.Env = append(s.Env, "CLAUDE_CODE_TMPDIR="+s.Temp, "CLAUDE_CONFIG_DIR="+filepath.Join(s.Home, ".claude"),
		"DISABLE_AUTOUPDATER=1")
	return s, c.makeHome(s.Home)
}

// arguments are those of one order; folder takes the files they name.
func (c ClaudeCode) arguments(folder string, o Order) ([]string, error) {
	system := filepath.Join(folder, "system.txt")
	if err := os.WriteFile(system, []byte(o.System), 0o600); err != nil {
		return nil, err
	}
	args := []string{"-p", "--json-schema", string(o.Schema), "--output-format", "stream-json", "--verbose",
		"--no-session-persistence",
		"--strict-mcp-config", "--permission-prompts", "none"}
	if o.Limits.Turns > 0 {
		args = append(args, "--max-turns", strconv.Itoa(o.Limits.Turns))
	}
	if o.Model != "" {
		args = append(args, "--model", o.Model)
	}
	if len(o.Tools) == 0 { // hooks and plugins of the user have no say in a judgement
		return append(args, "--safe-mode", "--tools", "", "--system-prompt-file", system), nil
	}
	var tools []string
	for _, t := range o.Tools {
		tools = append(tools, claudeTools[t])
	}
	allowed := tools
	if o.Socket != "" {
		allowed = append(allowed[:len(allowed):len(allowed)], "mcp__cordelia")
		config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"cordelia": map[string]any{
			"command": c.Self, "args": []string{"mcp", "--connect", o.Socket}}}})
		if err != nil {
			return nil, err
		}
		path := filepath.Join(folder, "mcp.json")
		if err := os.WriteFile(path, config, 0o600); err != nil {
			return nil, err
		}
		args = append(args, "--mcp-config", path)
	}
	return append(args, "--restricted", "--permission-mode", "dontAsk", "--tools", strings.Join(tools, ","),
		"--allowedTools", strings.Join(allowed, ","),
		"--append-system-prompt-file", system), nil
}

// claudeEnvironment reports whether Claude Code is given a variable, beside those that
// every client gets: its own, but for those of a session around this process.
func claudeEnvironment(name string) bool {
	switch name {
	case "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_SESSION_ID",
		"CLAUDE_CODE_SSE_PORT":
		return false
	}
	for _, prefix := range []string{"ANTHROPIC_", "CLAUDE_", "DISABLE_", "AWS_", "GOOGLE_", "CLOUD_ML_", "VERTEX_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
