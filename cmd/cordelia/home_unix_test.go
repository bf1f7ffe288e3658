//go:build unix

package main

import (
	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/doctor"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A home whose keys or database cannot be had is neither made anew nor given up.
func TestAHomeThatLacksSomething(t *testing.T) {
	program := buildProgram(t)
	both := homes()["both"]
	const human, client = ".cordelia/keys/human.key", ".cordelia/keys/claude-code.key"
	cases := map[string]func(*testing.T, *user){
		"the person's key is lost": func(t *testing.T, u *user) {
			u.must("setup")
			require.NoError(t, os.Rename(u.path(human), u.path("away")))
			before := u.tree(false)
			for _, line := range [][]string{{"agent", "list"}, {"setup"}, {"mcp"}, {"key", "unwrap", "claude-code"}} {
				out, code := u.run(line...)
				if line[0] == "mcp" && code == 0 {
					continue // it needs that of its agent alone
				}
				require.Equal(t, cli.ExitMissing, code, out)
				require.Contains(t, out, human+" is missing")
				require.Contains(t, out, "put a backup of that file back")
				require.NoFileExists(t, u.path(human))
			}
			require.Equal(t, before[human], u.tree(false)[human])
			checks, code := u.diagnosis()
			require.Equal(t, cli.ExitFailed, code)
			require.Contains(t, checks[doctor.YourKey][0].Fix, "put a backup of that file back")
			require.NoError(t, os.Rename(u.path("away"), u.path(human)))
			u.must("agent", "list")
		},
		"another's key is in the place of the person's": func(t *testing.T, u *user) {
			u.must("setup")
			require.NoError(t, os.Rename(u.path(human), u.path("away")))
			other := newUser(t, program, nil)
			other.must("setup")
			require.NoError(t, os.Rename(other.path(human), u.path(human)))
			out, code := u.run("agent", "list")
			require.Equal(t, cli.ExitDenied, code, out)
			require.Contains(t, out, "put a backup of that file back")
			require.NotContains(t, out, "key unwrap")
			checks, _ := u.diagnosis()
			require.Contains(t, checks["keys match database"][0].Fix, "put a backup of that file back")
		},
		"the client agent's key is lost": func(t *testing.T, u *user) {
			u.must("setup")
			require.NoError(t, os.Remove(u.path(client)))
			for _, line := range [][]string{{"mcp"}, {"setup"}} {
				out, code := u.run(line...)
				require.Equal(t, cli.ExitMissing, code, out)
				require.Contains(t, out, "next: run: cordelia key unwrap claude-code")
				require.NoFileExists(t, u.path(client))
			}
			checks, _ := u.diagnosis()
			require.Equal(t, "run: cordelia key unwrap claude-code", checks[doctor.ClientKey][0].Fix)
			u.must("key", "unwrap", "claude-code")
			require.FileExists(t, u.path(client))
			require.Contains(t, u.must("setup"), "nothing changed")
			_, code := u.diagnosis()
			require.Zero(t, code)
		},
		"the database is lost": func(t *testing.T, u *user) {
			u.must("setup")
			require.NoError(t, os.Remove(u.path(".cordelia/cordelia.db")))
			checks, _ := u.diagnosis()
			out, code := u.run("setup")
			require.Equal(t, cli.ExitMissing, code)
			require.Contains(t, out, checks["database"][0].Fix, "the doctor says what setup says")
			verified, code := u.run("audit", "verify")
			require.Equal(t, cli.ExitMissing, code)
			require.Contains(t, verified, "has keys, but its database is gone")
		},
		"there is no home yet": func(t *testing.T, u *user) {
			for _, line := range [][]string{{"audit", "verify"}, {"audit", "tail"}} {
				out, code := u.run(line...)
				require.Equal(t, cli.ExitMissing, code, out)
				require.Contains(t, out, "is no home of cordelia yet")
				require.Contains(t, out, "next: run: cordelia setup")
			}
		},
		"the database was moved": func(t *testing.T, u *user) {
			u.must("setup")
			file := u.path(".cordelia/cordelia.db")
			for _, day := range []string{"27", "26"} {
				require.NoError(t, os.WriteFile(file+".moved-202611"+day+"T074839.000000Z", nil, 0o600))
			}
			require.NoError(t, os.Remove(file))
			out, code := u.run("agent", "list")
			require.Equal(t, cli.ExitMissing, code)
			require.Contains(t, out, "was moved to a PostgreSQL database on 2026-11-27 07:48 UTC")
			require.Contains(t, out, "next: name the address of that database: cordelia config set database ADDRESS")
			require.NotContains(t, out, "purge")
			checks, _ := u.diagnosis()
			require.Contains(t, out, checks["database"][0].Fix)
		},
		"the home folder is not named": func(t *testing.T, u *user) {
			u.env = []string{"HOME="}
			for _, line := range [][]string{{"agent", "list"}, {"mcp"}, {"setup"}, {"audit", "verify"},
				{"restore", "x"}} {
				out, code := u.run(line...)
				require.Equal(t, cli.ExitUsage, code, out)
				require.Contains(t, out, "set HOME")
			}
			require.NoDirExists(t, u.path(".cordelia"))
		},
		"mcp came before setup": func(t *testing.T, u *user) {
			before := u.tree(false)
			u.must("mcp")
			u.must("setup")
			u.must("uninstall", "--purge", "--yes")
			require.Equal(t, before, u.tree(false))
		},
	}
	if os.Geteuid() != 0 { // who may read everything
		cases["the home folder is closed"] = func(t *testing.T, u *user) {
			u.must("setup")
			require.NoError(t, os.Chmod(u.path(".cordelia"), 0))
			defer os.Chmod(u.path(".cordelia"), 0o700) //nolint:errcheck // the test's folder
			for _, line := range [][]string{{"agent", "list"}, {"mcp"}, {"setup"}} {
				out, code := u.run(line...)
				require.Equal(t, cli.ExitDenied, code, out)
				require.Contains(t, out, "may not be read by this user")
				require.NotContains(t, out, "purge")
			}
		}
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newUser(t, program, both))
		})
	}
}
