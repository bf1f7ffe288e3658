package doctor

import (
	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/platform"
	"cordelia/events"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A database nobody may write to is a problem, even for who may do everything: a
// program that runs cannot be written to.
func TestDoctorFindsAnUnwritableDatabase(t *testing.T) {
	running, err := os.Executable()
	require.NoError(t, err)
	fine := filepath.Join(t.TempDir(), "cordelia.db")
	require.NoError(t, os.WriteFile(fine, nil, 0o600))
	x := &examination{app: &cli.App{}}
	x.writable(fine)
	require.Empty(t, x.findings)
	x.writable(running)
	require.Len(t, x.findings, 1)
	require.Equal(t, Problem, x.findings[0].Verdict)
	require.Contains(t, x.findings[0].Fix, "chmod")
}

// From its second day on, a home of which no checkpoint left the machine is told so,
// with what mends it; a copy on another disk is enough.
func TestDoctorWantsCheckpointsElsewhere(t *testing.T) {
	home, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	near := t.TempDir()
	type given struct {
		name    string
		age     time.Duration
		folders []string
		want    Verdict
		detail  string
	}
	cases := []given{
		{"first day", staleCheckpoint - time.Hour, nil, Fine, "none left this machine"},
		{"second day", staleCheckpoint + time.Hour, nil, Warning, "none left this machine"},
		{"same disk", time.Hour, []string{near}, Warning, "folders with copies: 1, all on the home's own disk"},
	}
	// memory is a disk of its own, where there is one
	if away, err := os.MkdirTemp("/dev/shm", "cordelia-doctor-"); err == nil {
		t.Cleanup(func() { os.RemoveAll(away) })
		if !platform.SameDisk(away, home) {
			cases = append(cases, given{"another disk", staleCheckpoint + time.Hour, []string{near, away}, Fine,
				"folders with copies: 2, of them on the home's own disk: 1"})
		}
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			first, last := events.Checkpoint{At: time.Now().Add(
				-tt.age).UnixMicro()}, events.Checkpoint{At: time.Now().UnixMicro()}
			folders := append([]string{home}, tt.folders...)
			var files []events.CheckpointFile
			for _, folder := range folders {
				path := filepath.Join(folder, "node")
				require.NoError(t, os.WriteFile(path, nil, 0o600))
				files = append(files, events.CheckpointFile{Path: path, List: []events.Checkpoint{first, last}})
			}
			screen, err := os.Create(out)
			require.NoError(t, err)
			defer screen.Close()
			x := &examination{app: &cli.App{Out: screen}, home: home}
			x.checkpoints(folders, files, events.Verified{Entries: 9, Covered: 9, Checkpoints: 2})
			require.Len(t, x.findings, 1)
			require.Equal(t, tt.want, x.findings[0].Verdict, "%v", x.findings)
			require.Contains(t, x.findings[0].Detail, tt.detail)
			require.NoError(t, x.print())
			shown, err := os.ReadFile(out)
			require.NoError(t, err)
			require.Equal(t, tt.want == Warning, strings.Contains(string(shown), "fix: name a folder on another disk"),
				"%s", shown)
		})
	}
}

// Of two releases one is newer; of commits nobody can say.
func TestReleasesHaveAnOrder(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"v1.2.0", "v1.10.0", -1}, {"1.10.0", "v1.2.0", 1}, {"v1.0.0", "1.0.0", 0}, {"v1.0.0-rc.1", "v1.0.0", -1},
		{"devel", "v1.0.0", 0}, {"devel-0123456789ab", "devel-ba9876543210", 0},
	} {
		require.Equal(t, tt.want, identity{tt.a, 1}.against(identity{tt.b, 1}), "%s and %s", tt.a, tt.b)
	}
}

// What cannot be looked up is nobody, not an error.
func TestLockHoldersOfNothing(t *testing.T) {
	path := t.TempDir() + "/lock"
	require.Empty(t, platform.LockHolders(path), "no file")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.Empty(t, platform.LockHolders(path), "not locked")
	detail, fix := heldFor(nil)
	require.Contains(t, detail, "another process")
	require.Contains(t, fix, "ps -C cordelia")
}
