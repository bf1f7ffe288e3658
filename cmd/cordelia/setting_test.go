package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/cmd/cordelia/cli"
	"cordelia/ops"
	"cordelia/schemas"
)

// A word is a value, and where a list is wanted a list of it alone.
func TestAWordIsAValue(t *testing.T) {
	for _, one := range [][3]string{{"seats.client", "house", `["house"]`}, {"seats.client", `"house"`, `["house"]`},
		{"seats.client", `["a", "b"]`, `["a", "b"]`}, {"check_roots", "/src", `["/src"]`}, {"cooldown", "10m", `"10m"`},
		{"tasks.retries", "3", "3"}} {
		require.JSONEq(t, one[2], string(valueOf(one[0], one[1])), one)
	}
}

// A group of settings that is null is as one that is not there.
func TestASettingIsPutInANull(t *testing.T) {
	for raw, want := range map[string]string{
		`{"tasks": null, "seats": {}}`: `{"tasks": {"retries": 2}, "seats": {}}`,
		"null":                         `{"tasks": {"retries": 2}}`,
		`{"tasks": {"retries": null}}`: `{"tasks": {"retries": 2}}`,
	} {
		changed, err := withSetting([]byte(raw), []string{"tasks", "retries"}, []byte("2"))
		require.NoError(t, err, raw)
		require.JSONEq(t, want, string(changed), raw)
	}
}

// The limit set is the one in force.
func TestASettingIsInForce(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	a := &cli.App{Home: home, Durability: "relaxed", ErrOut: os.Stderr}
	n, err := a.OpenNode(t.Context())
	require.NoError(t, err)
	_, err = n.Establish(t.Context(), "ann", nil, nil)
	require.NoError(t, err)
	require.NoError(t, n.Close())
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.json"), []byte(`{"refused_per_minute":2}`), 0o600))

	n, err = a.OpenNode(t.Context())
	require.NoError(t, err)
	defer n.Close() //nolint:errcheck // the test is over
	file, err := n.OpenIdentity(t.Context(), "")
	require.NoError(t, err)
	caller, err := n.Caller(t.Context(), file, "test")
	require.NoError(t, err)
	read := func() error {
		_, err := ops.Find("memory_read_warm").Call(t.Context(), n, caller,
			[]byte(`{"ids":["01010101-0101-7101-8101-010101010101"]}`))
		return err
	}
	require.ErrorIs(t, read(), schemas.ErrNotFound)
	require.ErrorIs(t, read(), schemas.ErrBusy, "slowed down at half of the limit")
}
