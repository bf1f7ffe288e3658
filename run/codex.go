package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cordelia/run/git"
)

// Codex asks Codex, headless, with the login of the user.
type Codex struct {
	Program string // its path
	Self    string // path of this program, which is its MCP server and its sandbox
}

// Name is codex.
func (Codex) Name() string { return "codex" }

// Ask runs it once. It does not use the client's schema option: that takes less than JSON
// Schema, and an answer that does not match also ends with exit code 0.
func (c Codex) Ask(ctx context.Context, o Order, emit func(Event)) (Answer, error) {
	folder, remove, err := git.TempFolder("ask")
	if err != nil {
		return Answer{}, faultf(NoStart, "no temporary folder: %v", err)
	}
	defer remove()
	if o.Dir == "" {
		o.Dir = folder
	}
	home := filepath.Join(folder, "codex")
	if o.Shield.On {
		home = filepath.Join(o.Shield.Home, ".codex")
	}
	payer, settings, err := c.makeHome(home)
	if err != nil {
		return Answer{}, faultf(NoStart, "its login cannot be handed on: %v", err)
	}
	s := o.Shield.reading(folder, c.Program, c.Self)
	s.Env = append(s.Env[:len(s.Env):len(s.Env)], "CODEX_HOME="+home)
	if s.On {
		// of an npm package: its program lies beside it
		if dir := filepath.Dir(filepath.Dir(c.Program)); filepath.Base(dir) == "codex" {
			s.Read = append(s.Read, filepath.Dir(filepath.Dir(dir)))
		}
		s.Ports = append(s.Ports[:len(s.Ports):len(s.Ports)], ports(os.Getenv)...)
		s.Ports = append(s.Ports, configuredPorts(settings)...)
	}
	prompt := fmt.Sprintf("%s\n\n%s\n\nYour last message is one JSON object and nothing else, which fits this "+
		"schema:\n%s", strings.ReplaceAll(o.System, "with StructuredOutput", "as JSON"), o.Prompt, o.Schema)
	stream := &codexStream{payer: payer, model: cmp.Or(o.Model, configuredModel(settings))}
	return converse(ctx, command{program: c.Program, args: c.arguments(o), dir: o.Dir, stdin: prompt, shield: s,
		self: c.Self, limits: o.Limits, family: o.family, held: o.held,
		environment: codexEnvironment}, stream.read, emit)
}

// arguments are those of one order. Its own sandbox cannot stand within ours, so behind
// the shield it has none.
func (c Codex) arguments(o Order) []string {
	args := []string{"exec", "--json", "--ephemeral", "--skip-git-repo-check", "--color", "never", "-c",
		`approval_policy="never"`, "-C", o.Dir}
	if o.Model != "" {
		args = append(args, "-m", o.Model)
	}
	if len(o.Tools) == 0 {
		return append(args, "-s", "read-only", "--disable", "shell_tool", "--disable", "unified_exec", "-")
	}
	sandbox := "workspace-write"
	if o.Shield.On {
		sandbox = "danger-full-access"
	}
	if o.Socket != "" {
		args = append(args, "-c", fmt.Sprintf("mcp_servers.cordelia.command=%q", c.Self), "-c",
			fmt.Sprintf("mcp_servers.cordelia.args=[%q, %q, %q]", "mcp", "--connect", o.Socket),
			"-c", `mcp_servers.cordelia.default_tools_approval_mode="approve"`)
	}
	return append(args, "-s", sandbox, "-")
}

// makeHome makes a CODEX_HOME with the login of the user, the choice of model and provider,
// and nothing else: no servers, hooks or instructions of theirs. It gives those settings as
// the user has them: what lies in the HOME of a worker may be the worker's by now.
func (Codex) makeHome(home string) (payer, settings string, err error) {
	own := os.Getenv("CODEX_HOME")
	if own == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", "", err
		}
		own = filepath.Join(user, ".codex")
	}
	in, base := filepath.Dir(home), filepath.Base(home)
	payer = "none"
	if os.Getenv("OPENAI_API_KEY") != "" {
		payer = "OPENAI_API_KEY"
	}
	for _, name := range []string{"auth.json", "config.toml"} {
		raw, err := os.ReadFile(filepath.Join(own, name))
		if errors.Is(err, fs.ErrNotExist) { // nor is a worker's own taken for the user's
			raw, err = nil, nil
		}
		if err != nil {
			return "", "", err
		}
		if name == "auth.json" && raw == nil {
			continue
		}
		if name == "auth.json" {
			payer = "the login of codex"
		} else {
			settings = modelSettings(string(raw))
			raw = []byte(settings)
		}
		if err := putIn(in, filepath.Join(base, name), raw); err != nil {
			return "", "", err
		}
	}
	return payer, settings, nil
}

// modelSettings keeps of a config.toml what chooses a model, and the provider that is
// chosen: a worker has no use for the addresses and keys of others.
func modelSettings(config string) string {
	chosen := setting(config, "model_provider")
	var b strings.Builder
	table := ""
	for line := range strings.Lines(config) {
		text := strings.TrimSpace(line)
		if strings.HasPrefix(text, "[") {
			table = strings.Map(unquoted, text)
		}
		key, _, _ := strings.Cut(text, "=")
		provider, ok := strings.CutPrefix(table, "[model_providers.")
		provider, _, _ = strings.Cut(provider, "]")
		if ok && (provider == chosen || strings.HasPrefix(provider, chosen+".")) ||
			table == "" && strings.HasPrefix(strings.TrimSpace(key), "model") && !strings.HasPrefix(text, "model_providers") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// unquoted drops the characters by which TOML quotes a name.
func unquoted(r rune) rune {
	if r == '"' || r == '\'' || r == ' ' {
		return -1
	}
	return r
}

// setting is the value of a key of the settings that stands first, "" if there is none.
func setting(config, name string) string {
	for line := range strings.Lines(config) {
		if key, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(key) == name {
			value, _, _ = strings.Cut(value, " #")
			return strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return ""
}

// configuredModel is the model that the settings name, "" if they name none.
func configuredModel(settings string) string { return setting(settings, "model") }

// configuredPorts is the port of the provider that the settings choose.
func configuredPorts(settings string) []uint16 {
	address := setting(settings, "base_url")
	return ports(func(name string) string {
		if name == "ANTHROPIC_BASE_URL" { // any of the names that are looked at
			return address
		}
		return ""
	})
}

// codexEnvironment reports whether Codex is given a variable, beside those of every client.
func codexEnvironment(name string) bool {
	return name != "CODEX_HOME" && (strings.HasPrefix(name, "OPENAI_") || strings.HasPrefix(name, "CODEX_") ||
		strings.HasPrefix(name, "AZURE_OPENAI_"))
}
