//go:build unix

package main

import (
	"bytes"
	"cordelia/cmd/cordelia/cli"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKilled kills setup and uninstall at the moment they reach a file, and
// lets the next run finish.
func TestKilled(t *testing.T) {
	program := buildProgram(t)
	u := newUser(t, program, homes()["both"])
	before := u.tree(false)
	killed, runs := 0, 0
	count := func(was bool) {
		if runs++; was {
			killed++
		}
	}
	there := func(name string) func() bool {
		return func() bool { return cli.Exists(u.path(name)) }
	}
	written := func(name, was string) func() bool {
		return func() bool {
			raw, err := os.ReadFile(u.path(name))
			return err == nil && string(raw) != was
		}
	}
	for name, reached := range map[string]func() bool{
		"home":     there(".cordelia/setup-manifest.json"),
		"copying":  there(".local/bin/.cordelia.cordelia-new"),
		"program":  there(".local/bin/cordelia"),
		"node key": there(".cordelia/keys/node.key"),
		"database": there(".cordelia/cordelia.db"),
		"human":    there(".cordelia/keys/human.key"),
		"agent":    there(".cordelia/keys/claude-code.key"),
		"plugin":   there(pluginManifest),
		"hooks":    there(pluginHooks),
		"codex":    written(".codex/config.toml", codexSettings),
	} {
		t.Run(name, func(t *testing.T) {
			u.t = t
			count(u.killWhen(reached, "setup"))
			if cli.Exists(u.path(pluginManifest)) {
				require.True(t, json.Valid([]byte(u.read(pluginManifest))), "half a file")
			}
			u.must("uninstall", "--purge", "--yes")
			require.Equal(t, before, u.tree(false), "from what the killed setup left")
			count(u.killWhen(reached, "setup"))
			u.must("setup")
			u.must("doctor")
			u.must("uninstall", "--purge", "--yes")
			require.Equal(t, before, u.tree(false))
		})
	}
	for name, reached := range map[string]func() bool{
		"settings": func() bool { return u.read(".codex/config.toml") == codexSettings },
		"plugin":   func() bool { return !cli.Exists(u.path(pluginHooks)) },
		"program":  func() bool { return !cli.Exists(u.path(".local/bin/cordelia")) },
		"database": func() bool { return !cli.Exists(u.path(".cordelia/cordelia.db")) },
		"keys":     func() bool { return !cli.Exists(u.path(".cordelia/keys/human.key")) },
		"manifest": func() bool { return !cli.Exists(u.path(".cordelia/setup-manifest.json")) },
	} {
		t.Run("uninstall "+name, func(t *testing.T) {
			u.t = t
			u.must("setup")
			count(u.killWhen(reached, "uninstall", "--purge", "--yes"))
			u.must("uninstall", "--purge", "--yes")
			require.Equal(t, before, u.tree(false))
		})
	}
	t.Logf("killed %d of %d", killed, runs)
	require.GreaterOrEqual(t, killed, runs/3, "too few of %d runs were killed on their way", runs)
}

// killWhen starts the program and kills it as soon as reached. It reports false
// if the program had ended before that was seen.
func (u *user) killWhen(reached func() bool, args ...string) bool {
	u.t.Helper()
	cmd := u.command(args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(u.t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cmd.Wait() //nolint:errcheck // killed
	}()
	for {
		select {
		case <-ended:
			require.True(u.t, cmd.ProcessState.Success(), out.String())
			return false
		default:
		}
		if reached() {
			cmd.Process.Kill() //nolint:errcheck // it may just have ended
			<-ended
			return !cmd.ProcessState.Exited()
		}
	}
}
