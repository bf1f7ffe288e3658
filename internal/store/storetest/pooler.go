package storetest

import (
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// poolerSettings are those of PgBouncer before the server whose socket is in a folder: each
// transaction gets the session that rested longest, and so mostly another than the one before.
const poolerSettings = `[databases]
* = host=%s user=postgres
[pgbouncer]
unix_socket_dir = %s
listen_port = 6432
auth_type = any
pool_mode = transaction
server_round_robin = 1
min_pool_size = 3
default_pool_size = 30
max_client_conn = 500
`

// superviseOne runs the program $2 with the settings of the folder $1 until its input ends.
const superviseOne = `
trap '' INT TERM
as=
if [ "$(id -u)" = 0 ]; then
  as="setpriv --reuid=postgres --regid=postgres --clear-groups"
  chown -R postgres: "$1"
fi
chmod 755 "$1"
$as "$2" -q "$1/settings" > "$1/log" 2>&1 < /dev/null &
pooler=$!
for i in $(seq 300); do
  [ -S "$1/.s.PGSQL.6432" ] && break
  sleep 0.1
done
echo ready
cat > /dev/null || true
kill -KILL $pooler
wait $pooler 2> /dev/null
rm -rf "$1"
`

var pooling struct {
	once   sync.Once
	folder string
	err    error
	input  io.Closer // the pooler ends with it, and so with this process
}

// Pooled gives the address at which a pooler hands each transaction of this process a session
// of the server; pooler=transaction is not yet in it. Where PgBouncer is absent the test is
// skipped; in CI it fails.
func Pooled(t testing.TB) string {
	t.Helper()
	Server(t)
	pooling.once.Do(func() { pooling.folder, pooling.err = startPooler() })
	if os.IsNotExist(pooling.err) && os.Getenv("CI") == "" {
		t.Skip("the pooler is not installed: apt-get install pgbouncer")
	}
	require.NoError(t, pooling.err)
	return "host=" + pooling.folder + " port=6432 user=postgres sslmode=disable"
}

func startPooler() (string, error) {
	program, err := osexec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer" // Debian's, which is not on each user's path
		if _, err := os.Stat(program); err != nil {
			return "", err
		}
	}
	folder, err := os.MkdirTemp("", "cordelia-pool") // a socket's path is short
	if err != nil {
		return "", err
	}
	settings := fmt.Sprintf(poolerSettings, running.folder, folder)
	if err := os.WriteFile(filepath.Join(folder, "settings"), []byte(settings), 0o644); err != nil {
		return "", err
	}
	if pooling.input, err = supervised(superviseOne, folder, program); err != nil {
		return "", fmt.Errorf("the pooler: %w", err)
	}
	if _, err := os.Stat(filepath.Join(folder, ".s.PGSQL.6432")); err != nil {
		log, _ := os.ReadFile(filepath.Join(folder, "log"))
		return "", fmt.Errorf("the pooler did not start: %s", log)
	}
	return folder, nil
}
