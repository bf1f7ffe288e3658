package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/node"
	"cordelia/schemas"
)

// FuzzConfig reads config.json of any bytes: what is accepted is one JSON object
// with no limit below zero, and says the same to every reader.
func FuzzConfig(f *testing.F) {
	for _, s := range []string{
		`{"presence":"30m","grace":"168h","cooldown":"5m","refused_per_minute":60,"failed_per_minute":20}`,
		`{"presence":"-1s"}`, `{"refused_per_minute":-1}`, `{"PRESENCE":"1h"}`, `{} x`, `{"grace":"1h","grace":"2h"}`,
		`null`, `[]`, "",
		`{"trust":{"prior":{"mean":0.55,"strength":9}}}`, `{"trust":{"prior":{"mean":1e999}}}`,
	} {
		f.Add([]byte(s))
	}
	home := f.TempDir()
	f.Fuzz(func(t *testing.T, raw []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(home, "config.json"), raw, 0o600))
		c := node.Config{Home: node.Home(home)}
		if err := Configure(&c); err != nil {
			require.ErrorIs(t, err, schemas.ErrInvalid)
			return
		}
		var exact map[string]any
		require.NoError(t, json.Unmarshal(raw, &exact), "accepted: %q", raw)
		require.GreaterOrEqual(t, c.Access.RefusedPerMinute, 0)
		require.GreaterOrEqual(t, c.Access.FailedPerMinute, 0)
		require.GreaterOrEqual(t, c.Access.Presence, node.Config{}.Access.Presence)
		require.Positive(t, c.Periods.Grace)
		require.Positive(t, c.Periods.Cooldown)
		if _, said := exact["presence"]; !said {
			require.Zero(t, c.Access.Presence, "a default replaced by a field of another name: %q", raw)
		}
	})
}
