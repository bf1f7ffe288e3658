package setup

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/node"
	"cordelia/schemas"
)

// FuzzManifest reads setup-manifest.json of any bytes: what it accepts it writes
// down again so that it reads the same.
func FuzzManifest(f *testing.F) {
	f.Add(Manifest{Version: manifestVersion}.Encode())
	f.Add([]byte(`{"version":1,"version":2}`))
	f.Add([]byte(`{"Version":1} {}`))
	home := f.TempDir()
	path := filepath.Join(home, "setup-manifest.json")
	f.Fuzz(func(t *testing.T, raw []byte) {
		require.NoError(t, os.WriteFile(path, raw, 0o600))
		_, m, err := ReadManifest(node.Home(home))
		if err != nil {
			require.ErrorIs(t, err, schemas.ErrInvalid)
			return
		}
		require.True(t, json.Valid(raw), "accepted: %q", raw)
		require.NoError(t, os.WriteFile(path, m.Encode(), 0o600))
		_, again, err := ReadManifest(node.Home(home))
		require.NoError(t, err)
		require.Equal(t, m.Encode(), again.Encode())
	})
}
