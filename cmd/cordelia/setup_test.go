//go:build unix

package main

import (
	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/doctor"
	"cordelia/cmd/cordelia/setup"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// user runs the built program as someone with a home folder of their own.
type user struct {
	t       *testing.T
	program string
	home    string
	env     []string
}

func buildProgram(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "cordelia")
	require.NoError(t, os.Link(filepath.Join(binDir, "program"), program))
	return program
}

func newUser(t *testing.T, program string, files map[string]string) *user {
	t.Helper()
	u := &user{t: t, program: program, home: t.TempDir()}
	for name, content := range files {
		path := filepath.Join(u.home, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			require.NoError(t, os.Symlink(target, path))
		} else if !strings.HasSuffix(name, "/") {
			require.NoError(t, os.WriteFile(path, []byte(content), 0o640))
		} else {
			require.NoError(t, os.MkdirAll(path, 0o755))
		}
	}
	return u
}

func (u *user) command(args ...string) *exec.Cmd {
	cmd := exec.Command(u.program, args...)
	cmd.Env = append([]string{"HOME=" + u.home, "PATH=", "TMPDIR=" + os.TempDir(), "USER=ada"}, u.env...)
	cmd.Dir = u.home
	return cmd
}

// run returns everything printed and the exit code.
func (u *user) run(args ...string) (string, int) {
	u.t.Helper()
	cmd := u.command(args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		require.NoError(u.t, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func (u *user) must(args ...string) string {
	u.t.Helper()
	out, code := u.run(args...)
	require.Zero(u.t, code, out)
	return out
}

func (u *user) path(name string) string { return filepath.Join(u.home, name) }

func (u *user) read(name string) string {
	u.t.Helper()
	raw, err := os.ReadFile(u.path(name))
	require.NoError(u.t, err)
	return string(raw)
}

// tree lists the whole home: modes, contents, where links lead and, with times,
// when each was changed.
func (u *user) tree(times bool) map[string]string {
	u.t.Helper()
	out := map[string]string{}
	require.NoError(u.t, filepath.WalkDir(u.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(u.home, path)
		out[name] = info.Mode().String()
		if times {
			out[name] += info.ModTime().String()
		}
		switch {
		case d.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			out[name] += target
			return err
		case d.Type().IsRegular():
			raw, err := os.ReadFile(path)
			out[name] += setup.Sum(raw)
			return err
		}
		return nil
	}))
	return out
}

// actions reads the report of setup and uninstall.
func (u *user) actions(out string) map[string]setup.Action {
	u.t.Helper()
	var report struct{ Changes []setup.Change }
	require.NoError(u.t, json.Unmarshal([]byte(out), &report), out)
	byPath := map[string]setup.Action{}
	for _, c := range report.Changes {
		name, err := filepath.Rel(u.home, c.Path)
		require.NoError(u.t, err)
		byPath[name] = c.Action
	}
	return byPath
}

const (
	claudeSettings = "{\n  \"numStartups\": 12,\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\", \"args\": " +
		"[ ]}\n  },\n  \"z\": 1.50\n}\n"
	geminiSettings = "{\n  // mine\n  \"theme\": \"x\"\n}\n"
	codexSettings  = "# my settings\nmodel = \"gpt\" # fast\n\n[mcp_servers.other]\ncommand = 'x'\n"
)

// homes are the homes that setup must be able to leave as it found them.
func homes() map[string]map[string]string {
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	return map[string]map[string]string{
		"empty":               {},
		"claude":              {".claude.json": claudeSettings, ".claude/settings.json": "{}"},
		"claude without file": {".claude/": ""},
		"claude empty file":   {".claude.json": ""},
		"codex":               {".codex/config.toml": codexSettings},
		"both": {".claude.json": claudeSettings, ".codex/config.toml": codexSettings,
			".local/bin/other": "x"},
		"gemini":              {".gemini/settings.json": geminiSettings},
		"gemini without file": {".gemini/": ""},
		"all three": {".claude.json": claudeSettings, ".claude/skills/mine/SKILL.md": "# mine\n",
			".codex/config.toml": codexSettings, ".gemini/settings.json": geminiSettings},
		"all three, no files": {".claude/": "", ".codex/": "", ".gemini/": ""},
		"CRLF":                {".claude.json": crlf(claudeSettings), ".codex/config.toml": crlf(codexSettings)},
		"no last newline": {".claude.json": strings.TrimSpace(claudeSettings),
			".codex/config.toml": strings.TrimSpace(codexSettings)},
		"links": {".claude.json": "-> dot/claude.json", "dot/claude.json": claudeSettings,
			".codex": "-> dot/codex", "dot/codex/config.toml": codexSettings},
		"cordelia's folder":    {".cordelia/": "", ".claude/": ""},
		"a program on our way": {".local/bin/": "", ".local/share/x": "y", ".claude/": ""},
	}
}

func TestSetupAndUninstall(t *testing.T) {
	program := buildProgram(t)
	for name, files := range homes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t, program, files)
			before, beforeTimes := u.tree(false), u.tree(true)

			planned := u.actions(u.must("setup", "--dry-run", "--json"))
			require.Equal(t, beforeTimes, u.tree(true), "a dry run touched something")
			require.Equal(t, planned, u.actions(u.must("setup", "--json")), "a dry run said something else")
			done := u.tree(false)
			for path, act := range planned {
				real, err := filepath.EvalSymlinks(u.path(path))
				require.NoError(t, err)
				path, err = filepath.Rel(u.home, real)
				require.NoError(t, err)
				require.Contains(t, done, path)
				require.Equal(t, act == setup.Unchanged, before[path] == done[path], path)
			}
			for path := range done {
				if _, ok := before[path]; !ok && !strings.HasPrefix(path, ".cordelia") {
					require.Contains(t, planned, path, "touched and not reported")
				}
			}

			for path, act := range u.actions(u.must("setup", "--json")) {
				require.Equal(t, setup.Unchanged, act, path)
			}
			require.Equal(t, done, u.tree(false), "a second run changed something")
			require.Contains(t, u.must("setup"), "nothing changed")

			u.must("uninstall")
			once := u.tree(false)
			for path, was := range before {
				require.Equal(t, was, once[path], path)
			}
			require.FileExists(t, u.path(".cordelia/keys/human.key"))
			require.NoFileExists(t, u.path(".local/bin/cordelia"))
			u.must("uninstall")
			require.Equal(t, once, u.tree(false), "twice is not once")

			u.must("setup")
			u.must("audit", "verify", "--deep") // which leaves a note
			u.must("uninstall", "--purge", "--yes")
			require.Equal(t, before, u.tree(false))
			u.must("uninstall", "--purge")
			require.Equal(t, before, u.tree(false))
		})
	}
}

func TestSetup(t *testing.T) {
	program := buildProgram(t)
	both := homes()["both"]
	for name, test := range map[string]func(t *testing.T, u *user){
		"settings changed since lose only our entry": func(t *testing.T, u *user) {
			require.NoError(t, os.MkdirAll(u.path(".gemini"), 0o755))
			require.NoError(t, os.WriteFile(u.path(".gemini/settings.json"), []byte(geminiSettings), 0o640))
			u.must("setup")
			edited := strings.Replace(u.read(".gemini/settings.json"), `"x"`, `"y"`, 1)
			require.NoError(t, os.WriteFile(u.path(".gemini/settings.json"), []byte(edited), 0o640))
			codex := u.read(".codex/config.toml") + "\n[later]\nx = 1\n"
			require.NoError(t, os.WriteFile(u.path(".codex/config.toml"), []byte(codex), 0o640))
			require.Equal(t, setup.Changed, u.actions(u.must("uninstall", "--json"))[".gemini/settings.json"])
			require.Equal(t, strings.Replace(geminiSettings, `"x"`, `"y"`, 1), u.read(".gemini/settings.json"))
			require.Equal(t, codexSettings+"\n[later]\nx = 1\n", u.read(".codex/config.toml"))
		},
		"a dry run names what comes first, and nothing that is not there yet": func(t *testing.T, u *user) {
			out := u.must("setup", "--dry-run")
			require.Regexp(t, `created +`+regexp.QuoteMeta(u.path(".cordelia"))+` +folder`, out)
			require.Contains(t, out, "run the same without --dry-run")
			require.NotContains(t, out, "agent list")
			require.Contains(t, u.must("setup"), "agent list")
			require.NotRegexp(t, `/\.cordelia +folder`, u.must("setup"))
		},
		"settings changed between two setups": func(t *testing.T, u *user) {
			u.must("setup")
			edited := strings.Replace(u.read(".codex/config.toml"), "fast", "slow", 1)
			require.NoError(t, os.WriteFile(u.path(".codex/config.toml"), []byte(edited), 0o640))
			u.must("setup", "--bin-dir", u.path("elsewhere"))
			for _, name := range []string{pluginManifest, pluginHooks, ".codex/config.toml"} {
				require.Contains(t, u.read(name), u.path("elsewhere/cordelia"))
			}
			u.must("uninstall", "--purge", "--yes")
			require.Equal(t, claudeSettings, u.read(".claude.json"))
			require.NoDirExists(t, u.path(".claude"))
			require.Equal(t, strings.Replace(codexSettings, "fast", "slow", 1), u.read(".codex/config.toml"))
			require.NoDirExists(t, u.path("elsewhere"))
			require.NoFileExists(t, u.path(".local/bin/cordelia"))
		},
		"a malformed file refuses all": func(t *testing.T, u *user) {
			require.NoError(t, os.WriteFile(u.path(".claude.json"), []byte("{\n  \"a\": 1,\n}"), 0o600))
			before := u.tree(true)
			out, code := u.run("setup")
			require.Equal(t, cli.ExitUsage, code)
			require.Contains(t, out, u.path(".claude.json")+" is not in order at line 3, column 1")
			require.Equal(t, before, u.tree(true))
			u.must("setup", "--client", "codex")
			require.NotEqual(t, codexSettings, u.read(".codex/config.toml"))
		},
		"someone else's entry needs --force": func(t *testing.T, u *user) {
			foreign := "[mcp_servers.cordelia]\ncommand = 'theirs'\n"
			require.NoError(t, os.WriteFile(u.path(".codex/config.toml"), []byte(foreign), 0o640))
			before := u.tree(true)
			out, code := u.run("setup")
			require.Equal(t, cli.ExitBusy, code)
			require.Contains(t, out, "--force")
			require.Equal(t, before, u.tree(true))
			u.must("setup", "--force")
			require.NotContains(t, u.read(".codex/config.toml"), "theirs")
			u.must("uninstall")
			require.Equal(t, foreign, u.read(".codex/config.toml"))
		},
		"another program in the way needs --force": func(t *testing.T, u *user) {
			require.NoError(t, os.WriteFile(u.path(".local/bin/cordelia"), []byte("#!/bin/sh\n"), 0o755))
			before := u.tree(true)
			_, code := u.run("setup")
			require.Equal(t, cli.ExitBusy, code)
			require.Equal(t, before, u.tree(true))
			u.must("setup", "--force")
		},
		"one client": func(t *testing.T, u *user) {
			u.must("setup", "--client", "codex")
			require.NoFileExists(t, u.path(pluginManifest))
			out, code := u.run("setup", "--client", "emacs")
			require.Equal(t, cli.ExitUsage, code)
			require.Contains(t, out, "claude-code, codex, gemini-cli")
		},
		"folders from the environment": func(t *testing.T, u *user) {
			u.env = []string{"CLAUDE_CONFIG_DIR=" + u.path("c"), "CODEX_HOME=" + u.path("x"),
				"CORDELIA_HOME=" + u.path("h")}
			before := u.tree(false)
			u.must("setup", "--client", "claude-code,codex")
			require.Contains(t, u.read("c/skills/cordelia/.claude-plugin/plugin.json"),
				`"args": ["mcp","--home","`+u.path("h"))
			require.Contains(t, u.read("c/skills/cordelia/hooks/hooks.json"), `"args": ["hook","--home","`+u.path("h"))
			require.Contains(t, u.read("x/config.toml"), `["mcp","--home","`+u.path("h"))
			require.Equal(t, claudeSettings, u.read(".claude.json"))
			require.FileExists(t, u.path("h/keys/human.key"))
			u.must("doctor")
			u.must("uninstall", "--purge", "--yes")
			require.Equal(t, before, u.tree(false))
		},
		"a program on PATH stays": func(t *testing.T, u *user) {
			dir := t.TempDir()
			// By another process: one forked here meanwhile could inherit the open file.
			require.NoError(t, exec.Command("cp", u.program, filepath.Join(dir, "cordelia")).Run())
			u.program = filepath.Join(dir, "cordelia")
			u.env = []string{"PATH=" + dir, "TMPDIR=" + u.home} // or dir would be a temporary folder
			u.must("setup")
			require.NoFileExists(t, u.path(".local/bin/cordelia"))
			require.Contains(t, u.read(pluginManifest), u.program)
			u.must("uninstall")
			require.FileExists(t, u.program)
		},
		"a purge needs the word": func(t *testing.T, u *user) {
			u.must("setup")
			before := u.tree(false)
			for _, typed := range []string{"", "yes\n"} {
				cmd := u.command("uninstall", "--purge")
				cmd.Stdin = strings.NewReader(typed)
				require.Error(t, cmd.Run())
				require.Equal(t, before, u.tree(false))
			}
			cmd := u.command("uninstall", "--purge")
			cmd.Stdin = strings.NewReader("purge\n")
			require.NoError(t, cmd.Run())
			require.NoDirExists(t, u.path(".cordelia"))
		},
		"a purge leaves what is not ours": func(t *testing.T, u *user) {
			u.must("setup")
			require.NoError(t, os.WriteFile(u.path(".cordelia/notes"), nil, 0o600))
			require.NoError(t, os.WriteFile(u.path(".local/bin/mine"), nil, 0o700))
			require.Regexp(t, `removed +`+u.path(".cordelia")+` +folder, if`, u.must("uninstall", "--purge", "--dry-run"))
			out := u.must("uninstall", "--purge", "--yes")
			require.Regexp(t, `kept +`+u.path(".cordelia")+` +folder, as something else is in it: notes\n`, out)
			require.Regexp(t, `removed +`+u.path(".claude/skills")+` +folder\n`, out)
			require.FileExists(t, u.path(".cordelia/notes"))
			require.FileExists(t, u.path(".local/bin/mine"))
			require.NoFileExists(t, u.path(".cordelia/cordelia.db"))
		},
		"a purge takes the secrets of webhooks": func(t *testing.T, u *user) {
			u.must("setup")
			file := u.path("triage.yaml")
			require.NoError(t, os.WriteFile(file, []byte(u.must("role", "example", "triager")), 0o600))
			u.must("role", "apply", file)
			secret, mine := u.path(".cordelia/hooks/triage-github.secret"), u.path(".cordelia/hooks/notes")
			require.FileExists(t, secret)
			require.NoError(t, os.WriteFile(mine, nil, 0o600))
			u.must("uninstall")
			require.FileExists(t, secret)
			require.Contains(t, u.must("uninstall", "--purge", "--yes"), secret)
			require.NoFileExists(t, secret)
			require.FileExists(t, mine)
			require.NoError(t, os.Rename(mine, secret)) // what a purge of before left
			u.must("uninstall", "--purge", "--yes")
			require.NoDirExists(t, u.path(".cordelia"))
		},
		"a purge waits for running processes": func(t *testing.T, u *user) {
			u.must("setup")
			cmd := u.command("mcp")
			in, err := cmd.StdinPipe()
			require.NoError(t, err)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			_, err = in.Write([]byte(doctor.DiscoverRequest))
			require.NoError(t, err)
			_, err = out.Read(make([]byte, 1)) // it is up
			require.NoError(t, err)
			said, code := u.run("uninstall", "--purge", "--yes")
			require.Equal(t, cli.ExitBusy, code, said)
			require.FileExists(t, u.path(".local/bin/cordelia"))
			require.NoError(t, in.Close())
			require.NoError(t, cmd.Wait())
			u.must("uninstall", "--purge", "--yes")
		},
		"a passphrase is asked for once": func(t *testing.T, u *user) {
			secret := filepath.Join(t.TempDir(), "secret")
			require.NoError(t, os.WriteFile(secret, []byte("open sesame\n"), 0o600))
			f, err := os.Open(secret)
			require.NoError(t, err)
			defer f.Close()
			cmd := u.command("setup", "--passphrase", "--passphrase-fd", "3")
			cmd.ExtraFiles = []*os.File{f}
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
			require.Contains(t, u.read(".cordelia/keys/human.key"), "argon2id")
			require.Contains(t, u.must("setup"), "nothing changed")
			require.Contains(t, u.must("doctor"), "protected by a passphrase")
		},
		"a passphrase ends with its line": func(t *testing.T, u *user) {
			// Whoever gives it may keep its side open for more.
			give := func(lines string, args ...string) {
				t.Helper()
				ours, theirs, err := os.Pipe()
				require.NoError(t, err)
				defer theirs.Close()
				defer ours.Close()
				_, err = theirs.WriteString(lines)
				require.NoError(t, err)
				cmd := u.command(append(args, "--passphrase-fd", "3")...)
				cmd.ExtraFiles = []*os.File{ours}
				stop := time.AfterFunc(time.Minute,
					func() { cmd.Process.Kill() }) //nolint:errcheck // it waits, and so fails
				defer stop.Stop()
				out, err := cmd.CombinedOutput()
				require.NoError(t, err, string(out))
			}
			give("one\n", "setup", "--passphrase")
			give("one\ntwo\n", "key", "passphrase")
			give("two\n", "key", "info")
		},
		"--passphrase without a terminal makes nothing": func(t *testing.T, u *user) {
			before := u.tree(true)
			cmd := u.command("setup", "--passphrase")
			detach(cmd)
			out, err := cmd.CombinedOutput()
			require.Error(t, err)
			require.Equal(t, cli.ExitDenied, cmd.ProcessState.ExitCode())
			require.Contains(t, string(out), "terminal")
			require.Equal(t, before, u.tree(true))
			u.must("setup", "--passphrase", "--dry-run")
		},
		"--passphrase for a key that has none refuses all": func(t *testing.T, u *user) {
			cmd := u.command("mcp")
			cmd.Stdin = strings.NewReader(doctor.DiscoverRequest)
			require.NoError(t, cmd.Run())
			before := u.tree(true)
			for _, more := range [][]string{nil, {"--dry-run"}} {
				out, code := u.run(append([]string{"setup", "--passphrase"}, more...)...)
				require.Equal(t, cli.ExitBusy, code, out)
				require.Contains(t, out, "nothing was set up")
				require.Contains(t, out, "cordelia key passphrase, then cordelia setup")
				require.Equal(t, before, u.tree(true))
			}
			out, opened := u.knows("open sesame", "key", "passphrase")
			require.True(t, opened, out)
			u.must("setup")
			require.Contains(t, u.read(".cordelia/keys/human.key"), "argon2id")
			require.Contains(t, u.must("setup", "--passphrase"), "had a passphrase already")
		},
		"a lost key refuses all": func(t *testing.T, u *user) {
			for key, hint := range map[string]string{"human.key": "put a backup of that file back",
				"claude-code.key": "cordelia key unwrap claude-code"} {
				u.must("setup")
				kept, err := os.ReadFile(u.path(".cordelia/keys/" + key))
				require.NoError(t, err)
				require.NoError(t, os.Remove(u.path(".cordelia/keys/"+key)))
				before := u.tree(true)
				// another place for the program, or the record would stay as it is
				for _, more := range [][]string{nil, {"--dry-run"}} {
					out, code := u.run(append([]string{"setup", "--bin-dir", u.path("elsewhere")}, more...)...)
					require.Equal(t, cli.ExitMissing, code, out)
					require.Contains(t, out, hint)
					require.Equal(t, before, u.tree(true), "%s: something was touched", key)
				}
				require.NoError(t, os.WriteFile(u.path(".cordelia/keys/"+key), kept, 0o600))
			}
		},
		"a home that no setup made": func(t *testing.T, u *user) {
			before := u.tree(false)
			cmd := u.command("mcp")
			cmd.Stdin = strings.NewReader(doctor.DiscoverRequest)
			require.NoError(t, cmd.Run())
			require.FileExists(t, u.path(".cordelia/keys/human.key"))
			u.must("uninstall", "--purge", "--yes")
			require.Equal(t, before, u.tree(false))
		},
		"a lost manifest still takes the entries out": func(t *testing.T, u *user) {
			u.must("setup")
			require.NoError(t, os.Remove(u.path(".cordelia/setup-manifest.json")))
			u.must("uninstall")
			require.NoDirExists(t, u.path(".claude/skills/cordelia"))
			require.Equal(t, codexSettings, u.read(".codex/config.toml"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newUser(t, program, both))
		})
	}
}
