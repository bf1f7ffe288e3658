//go:build unix

package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"modernc.org/sqlite"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/doctor"
)

// diagnosis runs the doctor and returns its findings by check.
func (u *user) diagnosis() (map[string][]doctor.Finding, int) {
	u.t.Helper()
	cmd := u.command("doctor", "--json")
	out, _ := cmd.Output() //nolint:errcheck // the exit code tells
	var report struct {
		OK     bool
		Checks []doctor.Finding
	}
	require.NoError(u.t, json.Unmarshal(out, &report), string(out))
	code := cmd.ProcessState.ExitCode()
	require.Equal(u.t, report.OK, code == 0)
	checks := map[string][]doctor.Finding{}
	for _, f := range report.Checks {
		checks[f.Check] = append(checks[f.Check], f)
	}
	return checks, code
}

// alter runs SQL in the database behind cordelia's back.
func (u *user) alter(statement string) {
	u.t.Helper()
	// As the store does: the first open in a process decides. Only Linux has it.
	_, err := sqlite.OFDLocking(true)
	require.True(u.t, err == nil || errors.Is(err, sqlite.ErrOFDLockingUnavailable), err)
	db, err := sql.Open("sqlite", "file:"+u.path(".cordelia/cordelia.db"))
	require.NoError(u.t, err)
	defer db.Close()
	_, err = db.Exec(statement)
	require.NoError(u.t, err)
}

func TestDoctor(t *testing.T) {
	program := buildProgram(t)
	t.Run("healthy", func(t *testing.T) {
		u := newUser(t, program, homes()["both"])
		require.Contains(t, u.must("setup"), "Connected: Claude Code, Codex")
		before := u.tree(false)
		checks, code := u.diagnosis()
		require.Zero(t, code)
		require.Equal(t, before, u.tree(false), "the doctor changed something")
		for check, list := range checks {
			for _, f := range list {
				if check == "PATH" {
					require.Equal(t, doctor.Warning, f.Verdict)
				} else {
					require.Equal(t, doctor.Fine, f.Verdict, "%v", f)
				}
			}
		}
		require.Contains(t, checks["MCP handshake"][0].Detail, "answered in")
		said := u.must("doctor")
		require.Contains(t, said, "fix: ")
		require.True(t, strings.HasSuffix(said, "\nNo problem, 1 warning.\n"), said)
		u.env = []string{"PATH=" + u.path(".local/bin")}
		require.Contains(t, u.must("doctor"), "Everything is in order.")
	})

	t.Run("agents without a key file", func(t *testing.T) {
		t.Parallel()
		u := newUser(t, program, homes()["both"])
		u.must("setup")
		for _, name := range []string{"scout", "clerk"} {
			u.must("agent", "register", "--name", name, "--type", "custom", "--display-name", name)
		}
		checks, _ := u.diagnosis()
		require.NotContains(t, checks["keys match database"][0].Detail, "none here")
		require.Len(t, checks["agents' keys"], 1, "one line for all that are in order")
		require.Equal(t, "2 key files of agents, each in order", checks["agents' keys"][0].Detail)
		require.NoError(t, os.RemoveAll(u.path(".cordelia/keys/agents")))
		checks, code := u.diagnosis()
		require.Zero(t, code)
		f := checks["keys match database"][0]
		require.Equal(t, doctor.Fine, f.Verdict, "they may work elsewhere")
		require.Contains(t, f.Detail, "2 agents of yours have none here, such as scout")
		require.Contains(t, f.Fix, "cordelia key unwrap ")
	})

	replace := func(name, old, with string) func(*user) {
		return func(u *user) {
			content := u.read(name)
			require.Contains(u.t, content, old)
			require.NoError(u.t, os.WriteFile(u.path(name), []byte(strings.ReplaceAll(content, old, with)), 0o600))
		}
	}
	mode := func(name string, mode os.FileMode) func(*user) {
		return func(u *user) { require.NoError(u.t, os.Chmod(u.path(name), mode)) }
	}
	remove := func(name string) func(*user) {
		return func(u *user) { require.NoError(u.t, os.RemoveAll(u.path(name))) }
	}
	alter := func(statement string) func(*user) { return func(u *user) { u.alter(statement) } }
	settings := func(text string, mode os.FileMode) func(*user) {
		return func(u *user) {
			text := strings.ReplaceAll(text, "HERE", u.home)
			require.NoError(u.t, os.Mkdir(u.path("share"), 0o700))
			require.NoError(u.t, os.WriteFile(u.path(".cordelia/config.json"), []byte(text), 0o600))
			require.NoError(u.t, os.Chmod(u.path(".cordelia/config.json"), mode))
		}
	}
	onPath := func(version string) func(*user) { // puts a program there that says it is of that version
		return func(u *user) {
			require.NoError(u.t, os.Mkdir(u.path("tools"), 0o755))
			// By another process: one forked here meanwhile could inherit the open file.
			script := exec.Command("sh", "-c", `printf '#!/bin/sh\necho %s\n' "'$1'" > "$0" && chmod 755 "$0"`,
				u.path("tools/cordelia"), version)
			require.NoError(u.t, script.Run())
			u.env = []string{"PATH=" + u.path("tools")}
		}
	}
	for _, tt := range []struct {
		name   string
		hurt   func(*user)
		check  string
		want   doctor.Verdict
		detail string
		fix    string
	}{
		{"no home", remove(".cordelia"), "home folder", doctor.Problem, "does not exist", "cordelia setup"},
		{"open home", mode(".cordelia", 0o755), "home folder", doctor.Problem, "mode 0755", "chmod 700"},
		{"open key folder", mode(".cordelia/keys", 0o770), "key folder", doctor.Problem, "mode 0770", "chmod 700"},
		{"open key", mode(".cordelia/keys/human.key", 0o644), "your key", doctor.Problem, "open to other users",
			"chmod 600"},
		{"no human key", remove(".cordelia/keys/human.key"), "your key", doctor.Problem, "no key file",
			"put a backup of that file back"},
		{"no node key", remove(".cordelia/keys/node.key"), "node key", doctor.Problem, "no key file", "setup"},
		{"half a key", func(u *user) {
			path, old := u.path(".cordelia/keys/.new-key-1"), time.Now().Add(-2*time.Hour)
			require.NoError(u.t, os.WriteFile(path, []byte("half"), 0o600))
			require.NoError(u.t, os.Chtimes(path, old, old))
		}, "half-made keys", doctor.Warning, "left by a process that was killed", "cordelia setup"},
		{"a whole key that is nowhere else", func(u *user) {
			other := newUser(u.t, program, nil)
			other.must("setup")
			path, old := u.path(".cordelia/keys/.new-key-1"), time.Now().Add(-2*time.Hour)
			require.NoError(u.t, os.Rename(other.path(".cordelia/keys/human.key"), path))
			require.NoError(u.t, os.Chtimes(path, old, old))
		}, "half-made keys", doctor.Warning, "no file beside it holds", "rm "},
		{"a passphrase half changed", func(u *user) {
			require.NoError(u.t, os.WriteFile(u.path(".cordelia/keys/human.key.protected"), []byte("half"), 0o600))
		}, "passphrase", doctor.Warning, "cut short", "cordelia key info"},
		{"damaged key", replace(".cordelia/keys/claude-code.key", "{", "["), "client agent's key", doctor.Problem,
			"not a JSON object", "backup"},
		{"an old key", alter(`UPDATE entities SET public_key = zeroblob(32) WHERE kind = 'human'`),
			"keys match database", doctor.Problem, "old key", "put a backup of that file back"},
		{"client agent ended", func(u *user) { u.must("agent", "deactivate", "claude-code") }, "keys match database",
			doctor.Problem, "is deactivated", "agent reactivate claude-code"},
		{"key of another database", func(u *user) {
			other := newUser(u.t, program, nil)
			other.must("setup")
			require.NoError(u.t, os.Rename(other.path(".cordelia/keys/claude-code.key"),
				u.path(".cordelia/keys/claude-code.key")))
		}, "keys match database", doctor.Problem, "does not know", "backup"},
		{"client agent suspended", func(u *user) {
			u.must("events", "poll", "--as", "claude-code") // which makes it active
			u.must("agent", "suspend", "claude-code")
		}, "keys match database", doctor.Problem, "is suspended", "agent resume claude-code"},
		{"key of nobody", func(u *user) {
			other := newUser(u.t, program, nil)
			other.must("setup")
			require.NoError(u.t, os.MkdirAll(u.path(".cordelia/keys/agents"), 0o700))
			require.NoError(u.t, os.Rename(other.path(".cordelia/keys/claude-code.key"),
				u.path(".cordelia/keys/agents/x.key")))
		}, "keys match database", doctor.Warning, "does not know the agent", "rm "},
		{"no database", remove(".cordelia/cordelia.db"), "database", doctor.Problem, "does not exist",
			"cordelia setup"},
		{"no database file", func(u *user) {
			require.NoError(u.t, os.WriteFile(u.path(".cordelia/cordelia.db"), []byte(strings.Repeat("garbage ", 1000)),
				0o600))
		}, "database", doctor.Problem, "damaged", "cordelia restore"},
		{"cut database", func(u *user) {
			info, err := os.Stat(u.path(".cordelia/cordelia.db"))
			require.NoError(u.t, err)
			require.NoError(u.t, os.Truncate(u.path(".cordelia/cordelia.db"), info.Size()/2))
		}, "database", doctor.Problem, "damaged", "cordelia restore"},
		{"newer schema", alter(`INSERT INTO schema_version(version, name, at) VALUES (99, 'later', 0)`), "database",
			doctor.Problem, "schema 99", "newer program"},
		{"older schema", alter(`DELETE FROM schema_version WHERE version = (SELECT max(version) FROM schema_version)`),
			"schema", doctor.Warning, "this program's", "backup"},
		{"changed audit record", alter(`DROP TRIGGER audit_no_update; UPDATE audit SET action = 'other' WHERE seq = 2`),
			"audit record", doctor.Problem, "entry 2 was changed", "backup"},
		{"audit record cut off", alter(
			`DROP TRIGGER audit_no_delete; DELETE FROM audit_details WHERE seq > 2; DELETE FROM audit WHERE seq > 2`),
			"audit record", doctor.Problem, "are missing", "audit verify"},
		{"no checkpoint", remove(".cordelia/checkpoints"), "checkpoints", doctor.Warning, "none: ", "audit checkpoint"},
		{"share is away", func(u *user) {
			require.NoError(u.t, os.WriteFile(u.path(".cordelia/config.json"),
				[]byte(`{"checkpoint_dirs":["/nowhere/share"]}`), 0o600))
		}, "checkpoints", doctor.Warning, "is not there", "checkpoint_dirs"},
		{"checkpoints never left, on the first day", func(*user) {}, "checkpoints", doctor.Fine,
			"none left this machine",
			"checkpoint_dirs"},
		{"checkpoints did not arrive", settings(`{"checkpoint_dirs":["HERE/share"]}`, 0o600), "checkpoints",
			doctor.Warning,
			"reach entry 0", "audit checkpoint"},
		{"checkpoints on the same disk", func(u *user) {
			settings(`{"checkpoint_dirs":["HERE/share"]}`, 0o600)(u)
			u.must("audit", "checkpoint")
		}, "checkpoints", doctor.Warning, "all on the home's own disk", "another disk"},
		{"open database", mode(".cordelia/cordelia.db", 0o644), "file modes", doctor.Problem, "cordelia.db",
			"chmod go-rwx"},
		{"settings that others write", settings(`{}`, 0o622), "file modes", doctor.Problem, "config.json",
			"chmod go-rwx"},
		{"settings that do not parse", settings(`{"presence":`, 0o600), "settings", doctor.Problem,
			"config.json cannot be used", "mend it"},
		{"unknown setting", settings(`{"presense":"1h"}`, 0o600), "settings", doctor.Problem, `presense`, "mend it"},
		{"checks reach the keys", settings(`{"check_roots":["HERE"]}`, 0o600), "machine checks", doctor.Warning,
			"reach its keys", "check_roots"},
		{"open notifier", func(u *user) {
			require.NoError(u.t, os.MkdirAll(u.path(".cordelia/cordelia.db.bells"), 0o755))
			require.NoError(u.t, os.Chmod(u.path(".cordelia/cordelia.db.bells"), 0o755))
		}, "notifier", doctor.Warning, "is not yours alone", "rm -r"},
		{"not on PATH", func(*user) {}, "PATH", doctor.Warning, "not on PATH", "add the folder"},
		{"older program on PATH", onPath(`{"version":"v0.0.1","schema":1}`), "installed program", doctor.Problem,
			"is older (0.0.1, schema 1)", "before it on PATH"},
		{"newer program on PATH", onPath(`{"version":"v99.0.0","schema":99}`), "installed program", doctor.Warning,
			"is newer",
			"use that one"},
		{"broken program on PATH", onPath("oops"), "installed program", doctor.Problem, "does not run",
			"before it on PATH"},
		{"installed program is gone", remove(".local/bin/cordelia"), "installed program", doctor.Problem, "is gone",
			"setup"},
		{"no record of set-up", func(u *user) {
			require.NoError(u.t, os.WriteFile(u.path(".cordelia/setup-manifest.json"), []byte("{"), 0o600))
		}, "record of set-up", doctor.Problem, "damaged", "move it away"},
		{"changed trust score", alter(`UPDATE trust_scores SET alpha = 9000`), "trust scores", doctor.Problem,
			"is not what the ledger gives", "backup"},
		{"verdict taken out", alter(`DROP TRIGGER assessments_no_delete; DELETE FROM assessments`), "trust scores",
			doctor.Problem, "assessment 1 is missing", "backup"},
		{"no program", remove(".local/bin/cordelia"), "Claude Code", doctor.Problem, "not there",
			"setup --client claude-code"},
		{"program of another version", func(u *user) {
			// By another process: one forked here meanwhile could inherit the open file.
			script := exec.Command("sh", "-c", `printf '#!/bin/sh\necho "{\\"version\\":\\"v0\\"}"\n' > "$0"`,
				u.path(".local/bin/cordelia"))
			require.NoError(u.t, script.Run())
		}, "Codex", doctor.Problem, "starts version v0", "setup --client codex"},
		{"malformed settings", replace(".codex/config.toml", "mcp_servers.cordelia]", "mcp_servers.cordelia"), "Codex",
			doctor.Problem, "not in order at line", "mend"},
		{"a malformed plugin", replace(pluginManifest, "}", ""), "Claude Code", doctor.Problem, "not in order at line",
			"setup --client claude-code"},
		{"half an entry", replace(pluginManifest, `,
      "args": ["mcp"]`, ""), "Claude Code", doctor.Problem, "incomplete", "--force"},
		{"a plugin of another version", replace(pluginHooks, "timeout", "time"), "Claude Code", doctor.Warning,
			"hooks.json is not as this version has it", "setup --client claude-code"},
		{"an entry beside the plugin", func(u *user) {
			replace(".claude.json", `"other": {"command": "x"`,
				`"cordelia": {"command": "`+u.path(".local/bin/cordelia")+
					`", "args": ["mcp"]}, "other": {"command": "x"`)(u)
		}, "Claude Code", doctor.Problem, "reach no server", "setup --client claude-code"},
		{"someone else's entry", replace(".codex/config.toml", `/cordelia"`, `/other"`), "Codex", doctor.Problem,
			"another program", "--force"},
		{"not connected", replace(".codex/config.toml", "mcp_servers.cordelia", "mcp_servers.c"), "Codex",
			doctor.Warning,
			"not connected", "setup --client codex"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t, program, homes()["both"])
			u.must("setup")
			tt.hurt(u)
			before := u.tree(false)
			checks, code := u.diagnosis()
			require.Equal(t, before, u.tree(false), "the doctor changed something")
			if tt.want == doctor.Problem {
				require.Equal(t, cli.ExitFailed, code)
			} else {
				require.Zero(t, code)
			}
			require.NotEmpty(t, checks[tt.check], "%v", checks)
			f := checks[tt.check][0]
			require.Equal(t, tt.want, f.Verdict, "%v", checks)
			require.Contains(t, f.Detail, tt.detail)
			require.Contains(t, f.Fix, tt.fix)
			for _, list := range checks {
				for _, f := range list {
					require.True(t, f.Fix != "" || f.Verdict == doctor.Fine || f.Verdict == doctor.Skipped,
						"no fix: %v", f)
				}
			}
		})
	}

	t.Run("turn held", func(t *testing.T) {
		t.Parallel()
		u := newUser(t, program, nil)
		u.must("setup")
		holdLock(t, u.path(".cordelia/cordelia.db.lock"))
		checks, code := u.diagnosis()
		require.Equal(t, cli.ExitFailed, code)
		f := checks["write lock"][0]
		require.Equal(t, doctor.Problem, f.Verdict)
		if runtime.GOOS == "linux" {
			require.Contains(t, f.Detail, fmt.Sprintf("process %d (", os.Getpid()))
			require.Contains(t, f.Fix, fmt.Sprintf("kill %d", os.Getpid()))
		}
	})

	t.Run("stale socket", func(t *testing.T) {
		dir, err := os.MkdirTemp("", "cd") // socket names are short
		require.NoError(t, err)
		t.Cleanup(func() { os.RemoveAll(dir) })
		u := &user{t: t, program: program, home: dir}
		u.must("setup")
		bells := u.path(".cordelia/cordelia.db.bells")
		require.NoError(t, os.MkdirAll(bells, 0o700))
		for _, name := range []string{"live", "dead"} {
			c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(bells, name), Net: "unixgram"})
			require.NoError(t, err)
			if name == "dead" {
				require.NoError(t, c.Close()) // which leaves the file
			} else {
				defer c.Close()
			}
		}
		checks, code := u.diagnosis()
		require.Zero(t, code)
		require.Equal(t, doctor.Warning, checks["notifier"][0].Verdict)
		require.Contains(t, checks["notifier"][0].Detail, "1 process waits, 1 socket is left")
	})
}
