package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/ops"
)

func TestTaskSettings(t *testing.T) {
	home := ops.Home(t.TempDir())
	read := func(text string) (ops.Config, error) {
		require.NoError(t, os.WriteFile(filepath.Join(string(home), "config.json"), []byte(text), 0o600))
		c := ops.Config{Home: home}
		return c, configure(&c)
	}
	c, err := read(`{"tasks": {"patience": "1h", "retries": 0, "judged_by_kin": true, "table": "v0.8", "kill_switch": true}}`)
	require.NoError(t, err)
	require.Equal(t, time.Hour, c.Tasks.Patience)
	require.Zero(t, c.Tasks.Retries)
	require.True(t, c.Tasks.Kin && c.Tasks.Loss.KillSwitch)
	require.Equal(t, "v0.8", c.Tasks.Loss.Table.Version)
	for _, wrong := range []string{`{"tasks": {"table": "v0.9"}}`, `{"tasks": {"retries": -1}}`, `{"tasks": {"patience": "1ms"}}`, `{"tasks": {"kin": true}}`} {
		_, err := read(wrong)
		require.Error(t, err, wrong)
	}
}
