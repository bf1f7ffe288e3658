//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/cmd/cordelia/cli"
	"cordelia/internal/proof/soak"
	"cordelia/node"
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

// A rotation of the person's own key that is killed at any moment leaves a home that its person
// opens, with the old key or the new one.
func TestRotationOfTheirKeyIsKilled(t *testing.T) {
	u := newUser(t, buildProgram(t), nil)
	u.must("setup")
	rounds, random := soak.Count(t, 6, 60), rand.New(rand.NewPCG(7, 60))
	killed, rotated, number := 0, 0, 1
	for round := range rounds {
		cmd := u.command("key", "rotate")
		require.NoError(t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for err := errors.New("running"); err != nil && !cli.Exists(u.path(".cordelia/keys/human.key.next")); {
			select {
			case err = <-ended:
				require.NoError(t, err)
				ended <- nil
			default:
			}
		}
		if round%2 == 1 { // on the way from there
			soak.Strike(random, 10*time.Millisecond)
		}
		cmd.Process.Signal(syscall.SIGKILL) //nolint:errcheck // it may just have ended
		if <-ended != nil {
			killed++
		}
		var info node.KeyInfo
		require.NoError(t, json.Unmarshal([]byte(u.must("key", "info", "--json")), &info), "round %d", round)
		require.True(t, info.Current, "round %d", round)
		require.Contains(t, []int{number, number + 1}, int(info.KeySeq), "round %d", round)
		if int(info.KeySeq) > number {
			rotated++
		}
		number = int(info.KeySeq)
	}
	t.Logf("%d of %d were killed, %d changed the key", killed, rounds, rotated)
	require.NotZero(t, killed)
}

// A rotation of the person's own key that ended between its commit and the new key's place is
// known to doctor, and the next command finishes it, another rotation too.
func TestRotationOfTheirKeyCutShort(t *testing.T) {
	u := newUser(t, buildProgram(t), nil)
	u.must("setup")
	for number, finish := range [][]string{{"key", "info", "--json"}, {"key", "rotate", "--json"}} {
		inTheWay := u.path(fmt.Sprintf(".cordelia/keys/human.key.old-%d", number+1))
		require.NoError(t, os.Mkdir(inTheWay, 0o700))
		out, code := u.run("key", "rotate")
		require.NotZero(t, code, out)
		require.NoError(t, os.Remove(inTheWay))
		checks, _ := u.diagnosis()
		require.Contains(t, u.fixes(checks, "keys match database"), "cordelia key info, which ends it")
		var info struct {
			KeySeq int `json:"key_seq"`
		}
		require.NoError(t, json.Unmarshal([]byte(u.must(finish...)), &info))
		require.Equal(t, number+2, info.KeySeq)
		require.FileExists(t, inTheWay)
		require.NoFileExists(t, u.path(".cordelia/keys/human.key.next"))
		_, code = u.diagnosis()
		require.Zero(t, code)
	}
}
