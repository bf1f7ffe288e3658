package clientsettings

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"cordelia/schemas"
)

// ID names a client program.
type ID string

const (
	ClaudeCode ID = "claude-code"
	Codex      ID = "codex"
	Gemini     ID = "gemini-cli"
)

// Name is the name of our entry among a client's MCP servers.
const Name = "cordelia"

// Entry is how a client starts the server.
type Entry struct {
	Command string   `json:"command"` // absolute path
	Args    []string `json:"args"`
}

// serves reports whether e starts a cordelia of any place and version.
func (e Entry) serves() bool {
	base := strings.TrimSuffix(filepath.Base(filepath.FromSlash(e.Command)), ".exe")
	return base == "cordelia" && len(e.Args) > 0 && e.Args[0] == "mcp"
}

// fulfils reports whether e does what want asks for: the same program and
// arguments, perhaps with more of the user's own.
func (e Entry) fulfils(want Entry) bool {
	return e.Command == want.Command && len(e.Args) >= len(want.Args) &&
		slices.Equal(e.Args[:len(want.Args)], want.Args) &&
		!slices.Contains(e.Args[len(want.Args):], "--home")
}

// moved is what e becomes so that it fulfils want: arguments the user added
// stay.
func (e Entry) moved(want Entry) Entry {
	e.Command = want.Command
	if !e.fulfils(want) {
		e.Args = want.Args
	}
	return e
}

// Found is what a client's settings say about us.
type Found struct {
	Entry   Entry
	Present bool // there is an entry of our name
	Ours    bool // and it starts a cordelia, at any place and of any version
}

// Client is a program on this machine.
type Client struct {
	ID        ID
	Title     string
	Settings  string // absolute path of the user's settings file
	Plugin    string // absolute path of the folder of our plugin; "" where an entry in Settings connects the client
	Installed bool   // its program or its traces are here

	format format
}

// format edits one kind of settings file. A nil or blank src is an empty file.
type format interface {
	find(src []byte) (Found, error)
	connect(src []byte, e Entry, force bool) ([]byte, error)
	disconnect(src []byte, keepEmpty bool) ([]byte, error)
}

// Machine is where to look.
type Machine struct {
	Home   string // the user's home folder
	Getenv func(string) string
}

// Clients lists every known client, in a fixed order.
func (m Machine) Clients() []Client {
	claude := m.folder("CLAUDE_CONFIG_DIR", ".claude")
	claudeFile := filepath.Join(m.Home, ".claude.json")
	if m.Getenv("CLAUDE_CONFIG_DIR") != "" {
		claudeFile = filepath.Join(claude, ".claude.json")
	}
	codex := m.folder("CODEX_HOME", ".codex")
	gemini := filepath.Join(m.Home, ".gemini")
	return []Client{
		{ID: ClaudeCode, Title: "Claude Code", Settings: claudeFile, Plugin: filepath.Join(claude, "skills", Name),
			Installed: m.has("claude", claude, claudeFile), format: jsonFormat{stdio: true}},
		{ID: Codex, Title: "Codex", Settings: filepath.Join(codex, "config.toml"), Installed: m.has("codex", codex),
			format: tomlFormat{}},
		{ID: Gemini, Title: "Gemini CLI", Settings: filepath.Join(gemini, "settings.json"),
			Installed: m.has("gemini", gemini),
			format:    jsonFormat{comments: true}},
	}
}

// Manifest is the client as its plugin connects it: with the plugin's manifest for
// settings.
func (c Client) Manifest() Client {
	c.Settings, c.format = filepath.Join(c.Plugin, ".claude-plugin", "plugin.json"), jsonFormat{}
	return c
}

// Doubles reports whether e, an entry in the settings, starts the very server that the
// plugin starts. Claude Code leaves the plugin's out then, and its hooks reach nothing.
func (c Client) Doubles(e Entry) bool {
	plain := len(e.Args) == 1 || len(e.Args) == 3 && e.Args[1] == "--home"
	return c.Plugin != "" && e.serves() && plain
}

// folder is where variable says, or under the home folder.
func (m Machine) folder(variable, name string) string {
	if dir := m.Getenv(variable); dir != "" {
		if abs, err := filepath.Abs(dir); err == nil {
			return abs
		}
	}
	return filepath.Join(m.Home, name)
}

// has reports whether the program is on PATH or has left one of the traces.
func (m Machine) has(program string, traces ...string) bool {
	if _, err := exec.LookPath(program); err == nil {
		return true
	}
	return slices.ContainsFunc(traces, func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	})
}

// Find reads what the settings in src say about us. The error, a CodeInvalid,
// says where src is not in order.
func (c Client) Find(src []byte) (Found, error) {
	f, err := c.format.find(src)
	return f, c.named(err)
}

// Connect returns src with an entry that fulfils e; src itself if it has one.
// Errors: CodeInvalid when src is not in order, CodeConflict when there is an
// entry of our name that is not ours, unless force.
func (c Client) Connect(src []byte, e Entry, force bool) ([]byte, error) {
	out, err := c.format.connect(src, e, force)
	return out, c.named(err)
}

// Disconnect returns src without our entry. before is the file's content before
// Connect, nil if not known: the map that Connect made to hold the entry goes
// too, one that was there stays.
func (c Client) Disconnect(src, before []byte) ([]byte, error) {
	if p, ok := c.format.(permissionFormat); ok {
		out, err := p.disallow(src, before)
		return out, c.named(err)
	}
	keep := before == nil
	if j, ok := c.format.(jsonFormat); ok && !keep {
		keep = j.hasServers(before)
	}
	out, err := c.format.disconnect(src, keep)
	return out, c.named(err)
}

// named adds which file an error is about.
func (c Client) named(err error) error {
	if e, ok := errors.AsType[*schemas.Error](err); ok {
		e.Msg = c.Settings + " " + e.Msg
	}
	return err
}

// malformed is the refusal of src at offset.
func malformed(src []byte, offset int, what string) *schemas.Error {
	line, column := 1, 1
	for _, b := range src[:min(offset, len(src))] {
		if column++; b == '\n' {
			line, column = line+1, 1
		}
	}
	return schemas.Invalidf("is not in order at line %d, column %d: %s", line, column, what).
		Try("mend the file in an editor, or leave this client out with --client")
}

func foreign(kind string) *schemas.Error {
	return schemas.Conflictf("has another MCP server named %s (%s)", Name, kind).
		Try("rename or remove it there, or replace it with: cordelia setup --force")
}

// cut is a range of bytes to replace.
type cut struct {
	from, to int
	with     string
}

// edit applies cuts, which do not overlap, to a copy of src.
func edit(src []byte, cuts ...cut) []byte {
	slices.SortFunc(cuts, func(a, b cut) int { return a.from - b.from })
	var out []byte
	at := 0
	for _, c := range cuts {
		out = append(append(out, src[at:c.from]...), c.with...)
		at = c.to
	}
	return append(out, src[at:]...)
}

// lineEnd is what the file's lines end with.
func lineEnd(src []byte) string {
	if i := strings.IndexByte(string(src), '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
