//go:build unix

package storetest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// Instance is a PostgreSQL server of one test, which can be killed, started again and
// followed by a standby.
type Instance struct {
	testing.TB
	programs, folder string
	args             []string  // of the server, beside its own
	input            io.Closer // the server ends with it, and so with this process
	shell            *osexec.Cmd
}

// keepAlive runs the server in the folder $1 with the programs in $2 until its input ends; $3
// is what runs a program as another user, or empty. Further arguments are the server's.
const keepAlive = `
trap '' INT TERM
folder=$1 programs=$2 as=$3
shift 3
$as "$programs/postgres" -D "$folder/data" -c listen_addresses= -k "$folder/run" -c max_connections=200 \
  -c hot_standby_feedback=on "$@" >> "$folder/log" 2>&1 < /dev/null &
server=$!
echo started
cat > /dev/null || true
kill -QUIT $server 2> /dev/null
wait $server
`

// asOther runs a program as the user postgres where this one is root, whom the server refuses.
const asOther = "setpriv --reuid=postgres --regid=postgres --clear-groups"

// NewInstance makes a server with these arguments, which runs. Users need no password at its
// socket, and one at its addresses.
func NewInstance(t testing.TB, args ...string) *Instance {
	t.Helper()
	i := newInstance(t)
	i.args = args
	i.program("initdb", "-D", filepath.Join(i.folder, "data"), "-U", "postgres", "--auth-local=trust",
		"--auth-host=scram-sha-256", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
	i.Start()
	return i
}

func newInstance(t testing.TB) *Instance {
	Server(t) // skips the test where the programs are absent
	found, err := programs()
	require.NoError(t, err)
	folder, err := os.MkdirTemp("", "cordelia-pg") // a socket's path is short
	require.NoError(t, err)
	i := &Instance{TB: t, programs: found, folder: folder}
	require.NoError(t, os.Mkdir(filepath.Join(folder, "run"), 0o755))
	require.NoError(t, os.Chmod(folder, 0o755))
	if os.Getuid() == 0 {
		require.NoError(t, osexec.CommandContext(context.Background(), "chown", "-R", "postgres:", folder).Run())
	}
	t.Cleanup(func() {
		i.stop()
		require.NoError(t, os.RemoveAll(folder))
	})
	return i
}

// Standby makes a server that follows i, and waits until i's commits wait for it.
func (i *Instance) Standby() *Instance {
	i.Helper()
	s := i.Follower(i.Folder())
	i.Await()
	return s
}

// Follower makes a server that follows i, whose socket it finds in a folder. Commits of i do not
// wait for it.
func (i *Instance) Follower(socket string) *Instance {
	i.Helper()
	s := newInstance(i.TB)
	s.program("pg_basebackup", "-D", filepath.Join(s.folder, "data"), "-h", socket, "-U", "postgres", "-R", "-c", "fast",
		"--no-sync")
	s.Start()
	i.replicates("async")
	return s
}

// Await has i's commits wait for its follower.
func (i *Instance) Await() {
	i.Helper()
	Admin(i, i.Address()+" dbname=postgres", `ALTER SYSTEM SET synchronous_standby_names = '*'`, `SELECT pg_reload_conf()`)
	i.replicates("sync")
}

// replicates waits until a follower streams in that way.
func (i *Instance) replicates(way string) {
	i.Helper()
	require.Eventually(i, func() bool {
		pg, err := pgconn.Connect(context.Background(), i.Address()+" dbname=postgres")
		if err != nil {
			return false
		}
		defer pg.Close(context.Background()) //nolint:errcheck // only a test
		r := pg.ExecParams(context.Background(), `SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'
			AND sync_state = $1`, [][]byte{[]byte(way)}, nil, nil, nil).Read()
		return r.Err == nil && len(r.Rows) == 1
	}, time.Minute, 100*time.Millisecond, "the standby follows")
}

// Promote has a standby take writes.
func (i *Instance) Promote() {
	i.Helper()
	i.program("pg_ctl", "promote", "-w", "-D", filepath.Join(i.folder, "data"))
}

// Address is the server's, without a database.
func (i *Instance) Address() string {
	return "host=" + i.Folder() + " user=postgres sslmode=disable"
}

// Folder is where the server's socket is.
func (i *Instance) Folder() string { return filepath.Join(i.folder, "run") }

// Program runs a program of PostgreSQL at the server's socket, as its administrator, to its end.
func (i *Instance) Program(name string, args ...string) {
	i.Helper()
	i.program(name, append([]string{"-h", i.Folder(), "-U", "postgres"}, args...)...)
}

// program runs a program of PostgreSQL to its end.
func (i *Instance) program(name string, args ...string) {
	i.Helper()
	words := append([]string{filepath.Join(i.programs, name)}, args...)
	if os.Getuid() == 0 {
		words = append(strings.Fields(asOther), words...)
	}
	cmd := osexec.CommandContext(context.Background(), words[0], words[1:]...)
	cmd.Dir = i.folder
	out, err := cmd.CombinedOutput()
	require.NoError(i, err, "%s: %s", name, out)
}

// Start starts the server and waits until it answers.
func (i *Instance) Start() {
	i.Helper()
	as := ""
	if os.Getuid() == 0 {
		as = asOther
	}
	limit := time.Now().Add(time.Minute)
	for { // memory of the one that was killed may be in use for a moment
		words := append([]string{"-c", keepAlive, "sh", i.folder, i.programs, as}, i.args...)
		i.shell = osexec.CommandContext(context.Background(), "sh", words...)
		in, err := i.shell.StdinPipe()
		require.NoError(i, err)
		out, err := i.shell.StdoutPipe()
		require.NoError(i, err)
		require.NoError(i, i.shell.Start())
		i.input = in
		_, err = bufio.NewReader(out).ReadString('\n')
		require.NoError(i, err)
		for tries := 0; tries < 100; tries++ {
			pg, err := pgconn.Connect(context.Background(), i.Address()+" dbname=postgres")
			if err == nil {
				require.NoError(i, pg.Close(context.Background()))
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		i.stop()
		log, _ := os.ReadFile(filepath.Join(i.folder, "log")) //nolint:errcheck // only shown
		require.True(i, time.Now().Before(limit), "the server does not start: %s", log)
	}
}

// Kill ends the server as a crash would.
func (i *Instance) Kill() {
	i.Helper()
	raw, err := os.ReadFile(filepath.Join(i.folder, "data", "postmaster.pid"))
	require.NoError(i, err)
	line, _, _ := strings.Cut(string(raw), "\n")
	pid, err := strconv.Atoi(line)
	require.NoError(i, err, fmt.Sprintf("%q", line))
	require.NoError(i, syscall.Kill(pid, syscall.SIGKILL))
	i.stop()
}

func (i *Instance) stop() {
	if i.input == nil {
		return
	}
	i.input.Close() //nolint:errcheck // it may have ended
	i.shell.Wait()  //nolint:errcheck // killed or not
	i.input = nil
}
