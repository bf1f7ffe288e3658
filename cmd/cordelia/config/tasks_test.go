package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/node"
	"cordelia/pipeline"
)

func TestTaskSettings(t *testing.T) {
	home := node.Home(t.TempDir())
	read := func(text string) (node.Config, error) {
		require.NoError(t, os.WriteFile(filepath.Join(string(home), "config.json"), []byte(text), 0o600))
		c := node.Config{Home: home}
		return c, Configure(&c)
	}
	c, err := read(`{"tasks": {"patience": "1h", "retries": 0, "judged_by_kin": true, "table": "v0.8", "kill_switch": true}}`)
	require.NoError(t, err)
	require.Equal(t, time.Hour, c.Tasks.Patience)
	require.Zero(t, c.Tasks.Retries)
	require.True(t, c.Tasks.Kin && c.Tasks.Loss.KillSwitch)
	require.Equal(t, "v0.8", c.Tasks.Loss.Table.Version)
	require.True(t, c.Tasks.Loss.Letter && !c.Tasks.Loss.Patient, "as it did under its older name")

	c, err = read(`{}`)
	require.NoError(t, err)
	require.True(t, c.Tasks.Loss.Steady && !c.Tasks.Loss.Letter, "steady is the default")
	require.Nil(t, c.Tasks.Loss.General)
	c, err = read(`{"tasks": {"policy": "v0.7"}}`)
	require.NoError(t, err)
	letter := pipeline.Defaults()
	letter.TimeBudgetMS = pipeline.AgentBudgetMS
	require.Equal(t, letter, c.Tasks.Loss)

	c, err = read(`{"tasks": {"general_tools": [], "loss": {"alpha": 0.5, "beta": 0, "lambda": 0.1, "w1": 0.2, "w2": 0.3, "epsilon": 0.05, "delta": 0.4, "rho": 0.6,
		"abandon_omega": 0.9, "max_replans": 5, "time_budget": "2h"}}}`)
	require.NoError(t, err)
	l := c.Tasks.Loss
	require.Equal(t, []float64{0.5, 0, 0.1, 0.2, 0.3, 0.05, 0.4, 0.6, 0.9},
		[]float64{l.Alpha, l.Beta, l.Lambda, l.W1, l.W2, l.Epsilon, l.Delta, l.Rho, l.AbandonOmega})
	require.Equal(t, 5, l.MaxReplans)
	require.EqualValues(t, 7_200_000, l.TimeBudgetMS)
	require.NotNil(t, l.General)
	require.Empty(t, l.General)
	for _, wrong := range []string{`{"tasks": {"table": "v0.9"}}`, `{"tasks": {"retries": -1}}`,
		`{"tasks": {"patience": "1ms"}}`, `{"tasks": {"kin": true}}`,
		`{"tasks": {"policy": "eager"}}`, `{"tasks": {"policy": "patient", "table": "v0.7"}}`,
		`{"tasks": {"loss": {"alpha": 1.5}}}`, `{"tasks": {"loss": {"rho": -1}}}`,
		`{"tasks": {"loss": {"max_replans": 0}}}`, `{"tasks": {"loss": {"max_replans": 21}}}`,
		`{"tasks": {"loss": {"time_budget": "0s"}}}`, `{"tasks": {"loss": {"gamma": 1}}}`} {
		_, err := read(wrong)
		require.Error(t, err, wrong)
	}
}
