//go:build unix

package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"cordelia/cmd/cordelia/cli"
	"github.com/stretchr/testify/require"
)

// Who may write a folder above the home may put another home in its place; in a sticky
// folder nobody moves what is not theirs.
func TestDoctorLooksAboveTheHome(t *testing.T) {
	above := filepath.Join(t.TempDir(), "above")
	home := filepath.Join(above, "mine", "home")
	require.NoError(t, os.MkdirAll(home, 0o700))
	for _, tt := range []struct {
		mode os.FileMode
		want Verdict
	}{
		{0o755, Fine}, {0o775, Warning}, {0o757, Warning}, {0o777 | os.ModeSticky, Fine}, {0o700, Fine},
	} {
		require.NoError(t, os.Chmod(above, tt.mode))
		x := &examination{app: &cli.App{}, home: home}
		x.folder()
		require.Len(t, x.findings, 1)
		require.Equal(t, tt.want, x.findings[0].Verdict, "%v: %s", tt.mode, x.findings[0].Detail)
		if tt.want == Warning {
			require.Contains(t, x.findings[0].Fix, above)
		}
	}
}
