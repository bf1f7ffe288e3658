package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/events"
	"cordelia/internal/machinecheck"
	"cordelia/node"
	"cordelia/schemas"
)

func TestConfigure(t *testing.T) {
	home := t.TempDir()
	write := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(home, "config.json"), []byte(text), 0o600))
	}
	c := node.Config{Home: node.Home(home)}
	require.NoError(t, Configure(&c), "no file, no change")
	write(`{"presence":"1h","grace":"48h","refused_per_minute":5}`)
	require.NoError(t, Configure(&c))
	require.Equal(t, time.Hour, c.Access.Presence)
	require.Equal(t, 48*time.Hour, c.Periods.Grace)
	require.Equal(t, 5*time.Minute, c.Periods.Cooldown, "left out keeps its default")
	require.Equal(t, 5, c.Access.RefusedPerMinute)
	require.Empty(t, c.Checks.Roots)
	require.False(t, c.Checks.Commands, "commands are the operator's to allow")
	write(`{"check_roots":["` + filepath.ToSlash(home) +
		`"],"checks":{"commands":true,"timeout":"5m","max_output":1000}}`)
	require.NoError(t, Configure(&c))
	require.Equal(t, machinecheck.Env{Roots: []string{filepath.ToSlash(home)}, Commands: true, Timeout: 5 * time.Minute,
		MaxOutput: 1000}, c.Checks)
	require.Zero(t, c.Retention, "events are kept for ever")
	write(`{"retention":{"events_days":30,"unread_days":90}}`)
	require.NoError(t, Configure(&c))
	require.Equal(t, events.Retention{Events: 720 * time.Hour, Unread: 2160 * time.Hour}, c.Retention)
	for _, bad := range []string{`{"presense":"1h"}`, `{"presence":60}`, `{"grace":"-1h"}`, `{"failed_per_minute":-1}`,
		`{"check_roots":["src"]}`, `{"retention":{"events_days":-1}}`, `{"retention":{"events_days":40000}}`,
		`{"retention":{"unread_days":90}}`, `{"retention":{"events_days":90,"unread_days":89}}`,
		`{"checks":{"commands":"yes"}}`, `{"checks":{"command":true}}`, `{"checks":{"max_output":-1}}`,
		`{"checks":{"timeout":"0s"}}`, `{`} {
		write(bad)
		require.ErrorIs(t, Configure(&c), schemas.ErrInvalid, bad)
	}
}

// What is wrong with the settings is said in their words.
func TestSettingsAreRefusedInTheirWords(t *testing.T) {
	home := t.TempDir()
	for text, want := range map[string]string{
		`{"presense":"1h"}`:           `there is no setting "presense"; did you mean presence?`,
		`{"checks":{"comands":true}}`: `there is no setting "checks/comands"; did you mean commands?`,
		`{"presence":60}`:             `presence: a duration is a string, such as "30m"`,
		`{"grace":"a week"}`:          `grace: "a week" is no duration, such as "30m" or "1h30m"`,
		`{"check_roots":"src"}`:       `check_roots must not be a string`,
		`{"checks":[]}`:               `checks must not be a list`,
		`{"checks":true}`:             `checks must not be true or false`,
		`{"refused_per_minute":1.5}`:  `refused_per_minute must be a whole number, and not that large`,
		`{"grace":"1h","grace":"2h"}`: `a setting stands there twice`,
		`[]`:                          `it must not be a list`,
		`{`:                           `it is not JSON`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(home, "config.json"), []byte(text), 0o600))
		_, err := Read(node.Home(home))
		require.EqualError(t, err, want, text)
	}
}

// Settings can switch commands on, so only the user may be able to write them.
func TestSettingsThatOthersMayWriteAreRefused(t *testing.T) {
	if os.PathSeparator != '/' {
		t.Skip("modes are of unix")
	}
	home := t.TempDir()
	file := filepath.Join(home, "config.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"checks":{"commands":true}}`), 0o600))
	s, err := Read(node.Home(home))
	require.NoError(t, err)
	require.True(t, s.Checks.Commands)
	for mode, refused := range map[os.FileMode]bool{0o600: false, 0o644: false, 0o620: true, 0o602: true, 0o666: true} {
		require.NoError(t, os.Chmod(file, mode))
		_, err := Read(node.Home(home))
		require.Equal(t, refused, err != nil, "%04o", mode)
		if refused {
			require.ErrorIs(t, Unusable(node.Home(home), err), schemas.ErrDenied)
			require.ErrorContains(t, err, "other users may write settings file")
		}
	}
	require.NoError(t, os.Chmod(file, 0o600))
	require.NoError(t, os.Chmod(home, 0o777))
	_, err = Read(node.Home(home))
	require.ErrorContains(t, err, "other users may write the key folder")
	require.NoError(t, os.Chmod(home, 0o700))
	require.NoError(t, os.Rename(file, file+".else"))
	require.NoError(t, os.Symlink(file+".else", file))
	_, err = Read(node.Home(home))
	require.ErrorContains(t, err, "not a regular file")
}
