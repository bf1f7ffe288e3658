package config

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/node"
	"cordelia/schemas"
	"cordelia/trust"
)

func TestTrustSettings(t *testing.T) {
	home := node.Home(t.TempDir())
	read := func(text string) (trust.Prior, error) {
		require.NoError(t, os.WriteFile(File(home), []byte(text), 0o600))
		c := node.Config{Home: home}
		err := Configure(&c)
		return c.Prior, err
	}
	for text, want := range map[string]struct {
		mean     float64
		strength int
	}{
		`{}`: {0.6, 5}, `{"trust":{}}`: {0.6, 5}, `{"trust":{"prior":{}}}`: {0.6, 5},
		`{"trust":{"prior":{"mean":null}}}`: {0.6, 5},
		`{"trust":{"prior":{"mean":0.55}}}`: {0.55, 5}, `{"trust":{"prior":{"strength":12}}}`: {0.6, 12},
		`{"trust":{"prior":{"mean":7.5e-1,"strength":50}}}`: {0.75, 50},
	} {
		prior, err := trust.NewPrior(want.mean, want.strength)
		require.NoError(t, err)
		got, err := read(text)
		require.NoError(t, err, text)
		require.Equal(t, prior, got, text)
	}
	for _, bad := range []string{`{"trust":{"prior":{"mean":0.9}}}`, `{"trust":{"prior":{"mean":0.05}}}`,
		`{"trust":{"prior":{"mean":-0.0}}}`, `{"trust":{"prior":{"strength":51}}}`,
		`{"trust":{"prior":{"strength":99999999999999999999}}}`, `{"trust":{"prior":0.6}}`,
		`{"trust":{"prior":{"alpha":3}}}`, `{"trust":{"prior_mean":0.6}}`, `{"trust":null,"trust":{}}`} {
		_, err := read(bad)
		require.ErrorIs(t, err, schemas.ErrInvalid, bad)
		require.ErrorContains(t, err, "Next: ", bad)
	}
}
