package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// smallDisk is a folder on a disk of two megabytes and a function that makes it
// larger; "" where we may not mount one.
func smallDisk(t *testing.T) (dir string, grow func()) {
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
		return "", nil
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir, func() {
		require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=64m"))
	}
}

// A disk that is really full is told of in words, costs nothing acknowledged,
// and the process goes on when there is space again. TestDiskFaults shows the
// same where no disk can be mounted.
func TestFullDisk(t *testing.T) {
	dir, grow := smallDisk(t)
	if dir == "" {
		t.Skip("needs the right to mount a tmpfs")
	}
	s := openAt(t, filepath.Join(dir, "n.db"))
	acked := map[string]bool{}
	value := strings.Repeat("x", 20_000)
	var err error
	for i := 0; err == nil; i++ {
		name := fmt.Sprint(i)
		if err = put(t.Context(), s, name, value); err == nil {
			acked[name] = true
		}
	}
	require.ErrorIs(t, err, schemas.ErrUnavailable)
	require.ErrorContains(t, err, "no restart is needed")
	require.NotEmpty(t, acked)
	require.Equal(t, acked, names(t, s), "reading goes on")
	grow()
	for i := range 100 {
		name := fmt.Sprint("more", i)
		require.NoError(t, put(t.Context(), s, name, value))
		acked[name] = true
	}
	require.Equal(t, acked, names(t, s))
	require.NoError(t, s.Close())
	requireSound(t, s.Path())
}

func TestNetworkFileSystemsAreRefused(t *testing.T) {
	for magic, want := range map[uint32]string{
		0x6969: "NFS", 0x517b: "SMB", 0xff534d42: "CIFS", 0xfe534d42: "SMB2", 0x5346414f: "AFS",
		0x01021997: "9P", 0x00c36400: "Ceph", 0x0bd00bd0: "Lustre", 0x73757245: "Coda",
		0x01161970: "GFS2", 0x7461636f: "OCFS2", 0x786f4256: "VirtualBox shared folder",
		0xef53: "", 0x58465342: "", 0x9123683e: "", 0x01021994: "", 0x794c7630: "", // ext4 XFS btrfs tmpfs overlay
	} {
		name, bad := networkKind(magic)
		require.Equal(t, want, name, "%#x", magic)
		require.Equal(t, want != "", bad, "%#x", magic)
	}
	_, bad := NetworkFileSystem(os.TempDir())
	require.False(t, bad)
}
