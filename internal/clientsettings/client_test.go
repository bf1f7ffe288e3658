package clientsettings

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

var ours = Entry{Command: "/opt/bin/cordelia", Args: []string{"mcp"}}

// at returns the clients of an empty home, by id.
func at(t *testing.T, home string, env map[string]string) map[ID]Client {
	t.Helper()
	t.Setenv("PATH", "")
	out := map[ID]Client{}
	for _, c := range (Machine{Home: home, Getenv: func(k string) string { return env[k] }}).Clients() {
		out[c.ID] = c
	}
	return out
}

func TestDetection(t *testing.T) {
	home := t.TempDir()
	for id, c := range at(t, home, nil) {
		require.False(t, c.Installed, id)
	}
	require.NoError(t, os.WriteFile(filepath.Join(home, ".claude.json"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(home, ".codex"), 0o700))
	found := at(t, home, nil)
	require.True(t, found[ClaudeCode].Installed)
	require.True(t, found[Codex].Installed)
	require.False(t, found[Gemini].Installed)
	require.Equal(t, filepath.Join(home, ".claude.json"), found[ClaudeCode].Settings)

	moved := at(t, home, map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(home, "c"),
		"CODEX_HOME": filepath.Join(home, "x")})
	require.Equal(t, filepath.Join(home, "c", ".claude.json"), moved[ClaudeCode].Settings)
	require.Equal(t, filepath.Join(home, "x", "config.toml"), moved[Codex].Settings)
	require.False(t, moved[ClaudeCode].Installed)
}

const claudeEntry = `"cordelia": {
      "type": "stdio",
      "command": "/opt/bin/cordelia",
      "args": [
        "mcp"
      ],
      "env": {}
    }`

func TestConnect(t *testing.T) {
	home := t.TempDir()
	for _, tt := range []struct {
		name         string
		client       ID
		before, want string
	}{
		{"empty", ClaudeCode, "", "{\n  \"mcpServers\": {\n    " + claudeEntry + "\n  }\n}\n"},
		{"no servers", ClaudeCode, "{\n  \"a\": 1.0\n}",
			"{\n  \"a\": 1.0,\n  \"mcpServers\": {\n    " + claudeEntry + "\n  }\n}"},
		{"empty object", ClaudeCode, "{}\n", "{\n  \"mcpServers\": {\n    " + claudeEntry + "\n  }\n}\n"},
		{"empty servers", ClaudeCode, "{\n  \"mcpServers\": {},\n  \"b\": 1e5\n}",
			"{\n  \"mcpServers\": {\n    " + claudeEntry + "\n  },\n  \"b\": 1e5\n}"},
		{"other server, tabs, CRLF", ClaudeCode,
			"{\r\n\t\"mcpServers\": {\r\n\t\t\"x\": {\"command\":\"a\"}\r\n\t}\r\n}\r\n",
			"{\r\n\t\"mcpServers\": {\r\n\t\t\"x\": {\"command\":\"a\"},\r\n\t\t" +
				strings.NewReplacer("\n", "\r\n", "  ", "\t").Replace(claudeEntry) + "\r\n\t}\r\n}\r\n"},
		{"compact", ClaudeCode, `{"a":[1,{"mcpServers":2}],"mcpServers":{"x":{"command":"a"}}}`,
			`{"a":[1,{"mcpServers":2}],"mcpServers":{"x":{"command":"a"},"cordelia":{"type":"stdio","command":"/opt/bin/cordelia","args":["mcp"],"env":{}}}}`},
		{"escaped name", ClaudeCode, `{"mcpServer\u0073":{}}`,
			`{"mcpServer\u0073":{"cordelia":{"type":"stdio","command":"/opt/bin/cordelia","args":["mcp"],"env":{}}}}`},
		{"moved binary, the rest is the user's", ClaudeCode,
			`{"mcpServers":{"cordelia":{"args":["mcp","--toolsets","memory"], "command":"/old/cordelia","env":{"X":"1"}}}}`,
			`{"mcpServers":{"cordelia":{"args":["mcp","--toolsets","memory"], "command":"/opt/bin/cordelia","env":{"X":"1"}}}}`},
		{"moved home", ClaudeCode,
			`{"mcpServers":{"cordelia":{"command":"/opt/bin/cordelia","args":["mcp","--home","/h"]}}}`,
			`{"mcpServers":{"cordelia":{"command":"/opt/bin/cordelia","args":["mcp"]}}}`},
		{"the user's own arguments stay", ClaudeCode,
			`{"mcpServers":{"cordelia":{"args":["mcp","--toolsets","memory"],"command":"/opt/bin/cordelia"}}}`,
			`{"mcpServers":{"cordelia":{"args":["mcp","--toolsets","memory"],"command":"/opt/bin/cordelia"}}}`},
		{"byte order mark", ClaudeCode, "\ufeff{\"a\":1}",
			"\ufeff{\"a\":1,\"mcpServers\":{\"cordelia\":{\"type\":\"stdio\",\"command\":\"/opt/bin/cordelia\"," +
				"\"args\":[\"mcp\"],\"env\":{}}}}"},
		{"comments", Gemini, "{\n  \"a\": 1 // one\n  /* end */\n}",
			"{\n  \"a\": 1,\n  \"mcpServers\": {\n    \"cordelia\": {\n      \"command\": \"/opt/bin/cordelia\",\n  " +
				"    \"args\": [\n        \"mcp\"\n      ]\n    }\n  } // one\n  /* end */\n}"},

		{"toml empty", Codex, "", block(ours, "\n")},
		{"toml", Codex, "# mine\nmodel = \"x\" # y\n", "# mine\nmodel = \"x\" # y\n\n" + block(ours, "\n")},
		{"toml, no last newline", Codex, "model = 'x'", "model = 'x'\n\n" + block(ours, "\n")},
		{"toml CRLF", Codex, "model = 'x'\r\n", "model = 'x'\r\n\r\n" + block(ours, "\r\n")},
		{"toml moved binary", Codex, block(Entry{"/old/cordelia", []string{"mcp"}}, "\n") + "[a]\nb = 1\n",
			block(ours, "\n") + "[a]\nb = 1\n"},
		{"toml moved, written again by Codex", Codex,
			"[mcp_servers.cordelia]\ncommand = '/old/cordelia'\nargs = ['mcp']\nenabled = true\n",
			"[mcp_servers.cordelia]\ncommand = \"/opt/bin/cordelia\"\nargs = [\"mcp\"]\nenabled = true\n"},
		{"toml same by another hand", Codex,
			"[mcp_servers . \"cordelia\"]\nargs = [ 'mcp', ] # x\ncommand = '/opt/bin/cordelia'\n",
			"[mcp_servers . \"cordelia\"]\nargs = [ 'mcp', ] # x\ncommand = '/opt/bin/cordelia'\n"},
		{"toml tricky text", Codex, "a = \"\"\"\n[mcp_servers.cordelia]\n\"\"\"\"\nb = [\n  { c = ']' }, # ]\n]\n",
			"a = \"\"\"\n[mcp_servers.cordelia]\n\"\"\"\"\nb = [\n  { c = ']' }, # ]\n]\n\n" + block(ours, "\n")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := at(t, home, nil)[tt.client]
			got, err := c.Connect([]byte(tt.before), ours, false)
			require.NoError(t, err)
			require.Equal(t, tt.want, string(got))
			again, err := c.Connect(got, ours, false)
			require.NoError(t, err)
			require.Equal(t, string(got), string(again))
			found, err := c.Find(got)
			require.NoError(t, err)
			require.True(t, found.Present && found.Ours)
			require.Equal(t, ours.Command, found.Entry.Command)
			out, err := c.Disconnect(got, []byte(tt.before))
			require.NoError(t, err)
			found, err = c.Find(out)
			require.NoError(t, err)
			require.False(t, found.Present)
			if was, err := c.Find([]byte(tt.before)); err == nil && !was.Present && !blank([]byte(tt.before)) {
				space := strings.NewReplacer(" ", "", "\r", "", "\n", "", "\t", "")
				require.Equal(t, space.Replace(tt.before), space.Replace(string(out)))
			}
		})
	}
}

func TestDisconnectKeepsWhatCameLater(t *testing.T) {
	home := t.TempDir()
	for _, tt := range []struct{ name, client, before, src, want string }{
		{"first of two", "claude-code", "{}",
			`{"mcpServers": {"cordelia": {"command":"/c/cordelia","args":["mcp"]}, "y": {}}}`,
			`{"mcpServers": { "y": {}}}`},
		{"last of two", "claude-code", "{}",
			`{"mcpServers": {"y": {}, "cordelia": {"command":"/c/cordelia","args":["mcp"]}}}`,
			`{"mcpServers": {"y": {}}}`},
		{"map made by us", "claude-code", `{"a": 1}`,
			`{"a": 1, "mcpServers": {"cordelia": {"command":"/c/cordelia","args":["mcp"]}}, "b": 2}`,
			`{"a": 1, "b": 2}`},
		{"map that was there", "claude-code", `{"mcpServers": {}}`,
			`{"mcpServers": {"cordelia": {"command":"/c/cordelia","args":["mcp"]}}}`, `{"mcpServers": {}}`},
		{"someone else's", "claude-code", `{}`, `{"mcpServers": {"cordelia": {"command":"/usr/bin/other","args":[]}}}`,
			`{"mcpServers": {"cordelia": {"command":"/usr/bin/other","args":[]}}}`},
		{"toml", "codex", "", "a = 1\n\n" + block(ours, "\n") + "\n[b]\nc = 1\n", "a = 1\n\n[b]\nc = 1\n"},
		{"toml with a key of the user's", "codex", "", "a = 1\n" + block(ours, "\n") + "startup_timeout_sec = 20\n",
			"a = 1\n"},
		{"toml that Codex wrote again", "codex", "", "a = 1\n\n" + strings.TrimPrefix(block(ours, "\n"), mark+"\n") +
			"\n[mcp_servers.b]\nc = 1\n", "a = 1\n\n[mcp_servers.b]\nc = 1\n"},
		{"toml without marks", "codex", "",
			"[mcp_servers.cordelia]\ncommand = \"/c/cordelia\"\nargs = [\"mcp\"]\n\n# about b\n[b]\n",
			"\n# about b\n[b]\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := at(t, home, nil)[ID(tt.client)].Disconnect([]byte(tt.src), []byte(tt.before))
			require.NoError(t, err)
			require.Equal(t, tt.want, string(got))
		})
	}
}

func TestRefusals(t *testing.T) {
	home := t.TempDir()
	other := `{"mcpServers":{"cordelia":{"command":"/usr/bin/other","args":["mcp"]}}}`
	for _, tt := range []struct {
		name   string
		client ID
		src    string
		code   schemas.Code
		msg    string
	}{
		{"cut off", ClaudeCode, "{\n  \"a\": {", schemas.CodeInvalid, "line 2, column 9"},
		{"trailing comma", ClaudeCode, "{\"a\": 1,\n}", schemas.CodeInvalid, "line 2, column 1"},
		{"comment in strict JSON", ClaudeCode, "{} // x", schemas.CodeInvalid, "line 1, column 4"},
		{"two values", ClaudeCode, "{}{}", schemas.CodeInvalid, "goes on"},
		{"list", ClaudeCode, "[]", schemas.CodeInvalid, "an object"},
		{"servers null", ClaudeCode, `{"mcpServers": null}`, schemas.CodeInvalid, "mcpServers should be"},
		{"twice", ClaudeCode, `{"mcpServers": {}, "mcpServers": {}}`, schemas.CodeInvalid, "twice"},
		{"raw newline", ClaudeCode, "{\"a\": \"\n\"}", schemas.CodeInvalid, "string"},
		{"bad number", ClaudeCode, `{"a": 01}`, schemas.CodeInvalid, "value"},
		{"deep", ClaudeCode, strings.Repeat("[", 5000), schemas.CodeInvalid, "nested"},
		{"someone else's", ClaudeCode, other, schemas.CodeConflict, "/usr/bin/other"},
		{"half written", ClaudeCode, `{"mcpServers":{"cordelia":{}}}`, schemas.CodeConflict, "another"},
		{"toml open string", Codex, "a = 1\nb = \"x\n", schemas.CodeInvalid, "line 2, column 5"},
		{"toml open list", Codex, "a = [1,\n", schemas.CodeInvalid, "value"},
		{"toml two on a line", Codex, "a = 1 \"\n", schemas.CodeInvalid, "value"},
		{"toml header", Codex, "[a\n", schemas.CodeInvalid, "line 1"},
		{"toml escape at the end", Codex, "a = \"\\", schemas.CodeInvalid, "string"},
		{"toml inline servers", Codex, "mcp_servers = { x = { command = 'a' } }\n", schemas.CodeInvalid, "inline"},
		{"toml someone else's", Codex, "[mcp_servers.cordelia]\ncommand = 'x'\n", schemas.CodeConflict, "another"},
		{"toml dotted", Codex, "mcp_servers.cordelia.command = 'x'\n", schemas.CodeConflict, "another"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := at(t, home, nil)[tt.client]
			_, err := c.Connect([]byte(tt.src), ours, false)
			require.ErrorContains(t, err, tt.msg)
			require.Equal(t, tt.code, schemas.CodeOf(err))
			require.ErrorContains(t, err, c.Settings)
		})
	}
	c := at(t, home, nil)
	forced, err := c[ClaudeCode].Connect([]byte(other), ours, true)
	require.NoError(t, err)
	require.JSONEq(t, `{"mcpServers":{"cordelia":{"type":"stdio","command":"/opt/bin/cordelia","args":["mcp"],"env":{}}}}`, string(forced))
	forced, err = c[Codex].Connect(
		[]byte("[mcp_servers.cordelia]\ncommand = 'x'\n[mcp_servers.cordelia.env]\nA = '1'\n# b\n[b]\n"), ours, true)
	require.NoError(t, err)
	require.Equal(t, "# b\n[b]\n\n"+block(ours, "\n"), string(forced))
	_, err = c[Codex].Connect([]byte("mcp_servers.cordelia.command = 'x'\n"), ours, true)
	require.ErrorContains(t, err, "by hand")
	_, err = c[Codex].Disconnect([]byte("mcp_servers = { cordelia = { command = '/x/cordelia', args = ['mcp'] } }\n"),
		nil)
	require.ErrorContains(t, err, "by hand")
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{"", "{}", `{"mcpServers":{"cordelia":{"command":"/x/cordelia","args":["mcp"]},"b":{}}}`,
		"{\r\n\t\"a\": [1, {\"b\": \"\\u00e9\"}]\r\n}", `{"mcpServers":{}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		c := Client{format: jsonFormat{stdio: true}}
		out, err := c.Connect(src, ours, false)
		if err != nil {
			return
		}
		var before, after map[string]any
		if !blank(src) {
			require.NoError(t, json.Unmarshal(trimMark(src), &before), "accepted what is not JSON")
		}
		require.NoError(t, json.Unmarshal(trimMark(out), &after))
		again, err := c.Connect(out, ours, false)
		require.NoError(t, err)
		require.Equal(t, string(out), string(again))
		back, err := c.Disconnect(out, src)
		require.NoError(t, err)
		was, err := c.Find(src)
		require.NoError(t, err)
		if was.Present || before == nil {
			return
		}
		var restored map[string]any
		require.NoError(t, json.Unmarshal(trimMark(back), &restored))
		require.Equal(t, before, restored)
	})
}

func trimMark(src []byte) []byte { return []byte(strings.TrimPrefix(string(src), "\ufeff")) }

func FuzzTOML(f *testing.F) {
	for _, s := range []string{"", "a = 1", "[a.\"b\"]\nc = '''x'''\n",
		"[[a]]\nb = { c = [1, 2], \"d\" = \"\"\"\n\"\"\" }\n", block(ours, "\n"), block(ours, "\r\n"),
		"x = 1979-05-27 07:32:00\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		c := Client{format: tomlFormat{}}
		out, err := c.Connect(src, ours, false)
		if err != nil {
			return
		}
		found, err := c.Find(out)
		require.NoError(t, err)
		require.True(t, found.Present)
		again, err := c.Connect(out, ours, false)
		require.NoError(t, err)
		require.Equal(t, string(out), string(again))
		was, err := c.Find(src)
		require.NoError(t, err)
		if was.Present {
			return
		}
		back, err := c.Disconnect(out, src)
		require.NoError(t, err)
		if len(src) > 0 && src[len(src)-1] == '\n' && !blank(src) {
			require.Equal(t, string(src), string(back))
		}
	})
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.json"), filepath.Join(dir, "link.json")
	require.NoError(t, os.WriteFile(real, []byte("a"), 0o640))
	require.NoError(t, os.Symlink("real.json", link))
	f, err := ReadFile(link)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(TempName(real), []byte("left by a killed run"), 0o600))
	require.NoError(t, f.Replace([]byte("b")))
	got, err := os.ReadFile(real)
	require.NoError(t, err)
	require.Equal(t, "b", string(got))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.Equal(t, os.ModeSymlink, info.Mode().Type())
	info, err = os.Stat(real)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	require.NoFileExists(t, TempName(real))

	require.ErrorIs(t, f.Replace([]byte("c")), schemas.ErrConflict, "changed since it was read")
	require.ErrorIs(t, f.Remove(), schemas.ErrConflict)
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "dangling")))
	_, err = ReadFile(filepath.Join(dir, "dangling"))
	require.ErrorIs(t, err, schemas.ErrInvalid)
	_, err = ReadFile(dir)
	require.ErrorIs(t, err, schemas.ErrInvalid)

	fresh, err := ReadFile(filepath.Join(dir, "new"))
	require.NoError(t, err)
	require.False(t, fresh.Exists)
	require.NoError(t, fresh.Replace([]byte("n")))
	info, err = os.Stat(filepath.Join(dir, "new"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}
