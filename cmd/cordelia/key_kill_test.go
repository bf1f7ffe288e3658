//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/cmd/cordelia/cli"
	"cordelia/internal/proof/soak"
)

// knows runs a command with a passphrase and reports whether that opened the key.
func (u *user) knows(passphrase string, args ...string) (out string, opened bool) {
	u.t.Helper()
	cmd := u.command(append(args, "--passphrase-fd", "0")...)
	cmd.Stdin = strings.NewReader(passphrase + "\n")
	raw, err := cmd.CombinedOutput()
	if err != nil {
		require.Equal(u.t, cli.ExitDenied, cmd.ProcessState.ExitCode(), string(raw))
	}
	return string(raw), err == nil
}

// A change of the passphrase that is killed at any moment leaves a key that one of the two
// opens, and as many entries in the audit record as there were changes.
func TestPassphraseChangeIsKilled(t *testing.T) {
	u := newUser(t, buildProgram(t), nil)
	now, next := "one", "two"
	_, made := u.knows(now, "setup", "--passphrase")
	require.True(t, made)
	rounds, random := soak.Count(t, 6, 60), rand.New(rand.NewPCG(6, 60))
	killed, changes := 0, 0
	for round := range rounds {
		cmd := u.command("key", "passphrase", "--passphrase-fd", "0")
		cmd.Stdin = strings.NewReader(now + "\n" + next + "\n")
		var said bytes.Buffer
		cmd.Stderr = &said
		require.NoError(t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for err := errors.New("running"); err != nil && !cli.Exists(u.path(".cordelia/keys/human.key.protected")); {
			select {
			case err = <-ended:
				require.NoError(t, err, said.String())
				ended <- nil
			default:
			}
		}
		if round%2 == 1 { // on the way from there
			soak.Strike(random, 50*time.Millisecond)
		}
		cmd.Process.Signal(syscall.SIGKILL) //nolint:errcheck // it may just have ended
		if <-ended != nil {
			killed++
		}
		_, kept := u.knows(now, "key", "info")
		_, changed := u.knows(next, "key", "info")
		require.NotEqual(t, kept, changed, "round %d: one of two opens it", round)
		if changed {
			changes++
			now, next = next, now
		}
		require.NoFileExists(t, u.path(".cordelia/keys/human.key.protected"))
		out, _ := u.knows(now, "audit", "tail", "--action", "key_protect", "--limit", "100", "--json")
		entries := 0
		for d := json.NewDecoder(strings.NewReader(out)); d.More(); entries++ {
			require.NoError(t, d.Decode(&struct{}{}), out)
		}
		require.Equal(t, changes, entries, "round %d", round)
	}
	t.Logf("%d of %d were killed, %d changed the passphrase", killed, rounds, changes)
	require.NotZero(t, killed)
}
