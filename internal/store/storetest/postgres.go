package storetest

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
)

// Engine names, in the environment, the engine that Options chooses: "postgres" starts a
// server for the process; an address of one that runs is used as it is.
const Engine = "CORDELIA_TEST_DB"

// Options completes o for the engine under test: o.Path stays the name of the database.
func Options(t testing.TB, o store.Options) store.Options {
	t.Helper()
	switch choice := os.Getenv(Engine); choice {
	case "":
	case "postgres":
		o.URL, o.Path = Database(t, Server(t), o.Path), ""
	default:
		o.URL, o.Path = Database(t, choice, o.Path), ""
	}
	return o
}

// Database gives the address of the database of that name on the server, which it makes as
// needed; name can be any text.
func Database(t testing.TB, server, name string) string {
	t.Helper()
	short := shortName(name)
	address := server + " dbname="
	admin(t, server, func(run func(string) bool) {
		run("SELECT pg_advisory_lock(1)") // tests of other processes ask for the template, too
		if run("CREATE DATABASE " + template + " TEMPLATE template0") {
			s, err := store.Open(context.Background(), store.Options{URL: address + template})
			require.NoError(t, err)
			require.NoError(t, s.Close())
		}
		run("CREATE DATABASE " + short + " TEMPLATE " + template)
	})
	drop(t, server, short)
	return address + short
}

// PooledDatabase is Database at a pooler's address.
func PooledDatabase(t testing.TB, name string) string {
	t.Helper()
	pooled := Pooled(t)
	Database(t, Server(t), name)
	return pooled + " pooler=transaction dbname=" + shortName(name)
}

// Empty is Database without a schema.
func Empty(t testing.TB, server, name string) string {
	t.Helper()
	short := shortName(name)
	admin(t, server, func(run func(string) bool) { run("CREATE DATABASE " + short + " TEMPLATE template0") })
	drop(t, server, short)
	return server + " dbname=" + short
}

// Admin runs statements on the server, in the database that address names.
func Admin(t testing.TB, address string, statements ...string) {
	t.Helper()
	ctx := context.Background()
	pg, err := pgconn.Connect(ctx, address)
	require.NoError(t, err)
	defer pg.Close(ctx) //nolint:errcheck // only a test
	for _, s := range statements {
		_, err := pg.Exec(ctx, s).ReadAll()
		require.NoError(t, err, s)
	}
}

// Cut ends all connections to the database of that name.
func Cut(t testing.TB, server, name string) {
	t.Helper()
	admin(t, server, func(run func(string) bool) {
		run("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '" + shortName(name) + "'")
	})
}

func shortName(name string) string { return fmt.Sprintf("t%x", sha256.Sum256([]byte(name)))[:24] }

func drop(t testing.TB, server, short string) {
	t.Cleanup(func() {
		admin(t, server, func(run func(string) bool) { run("DROP DATABASE IF EXISTS " + short + " WITH (FORCE)") })
	})
}

// template is the database that others are copies of: the schema need not be made for each.
const template = "cordelia_template"

// admin gives do what runs a statement on the server, and reports whether it had something
// left to make.
func admin(t testing.TB, server string, do func(run func(string) bool)) {
	t.Helper()
	ctx := context.Background()
	pg, err := pgconn.Connect(ctx, server+" dbname=postgres")
	require.NoError(t, err)
	defer pg.Close(ctx) //nolint:errcheck // only a test
	do(func(statement string) bool {
		_, err = pg.Exec(ctx, statement).ReadAll()
		if err != nil && strings.Contains(err.Error(), "already exists") {
			return false
		}
		require.NoError(t, err)
		return true
	})
}

// supervise runs a server of its own in the folder $1 with the programs in $2, until its
// input ends; as root it runs as the user postgres, for the server refuses root. The user
// locked needs a password, others none.
const supervise = `
set -e
trap '' INT TERM
as=
mkdir "$1/run"
if [ "$(id -u)" = 0 ]; then
  as="setpriv --reuid=postgres --regid=postgres --clear-groups"
  chown -R postgres: "$1"
fi
chmod 755 "$1"
cd "$1"
$as "$2/initdb" -D "$1/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync > "$1/log" 2>&1
$as sed -i '1i local all locked scram-sha-256' "$1/data/pg_hba.conf"
$as "$2/postgres" -D "$1/data" -c listen_addresses= -k "$1/run" -c max_connections=400 >> "$1/log" 2>&1 < /dev/null &
server=$!
for i in $(seq 300); do
  [ -S "$1/run/.s.PGSQL.5432" ] && break
  sleep 0.1
done
echo ready
cat > /dev/null || true
kill -QUIT $server
wait $server || true
rm -rf "$1"
`

var running struct {
	once    sync.Once
	address string
	folder  string // of its socket
	err     error
	input   io.Closer // the server ends with it, and so with this process
}

// Server gives the address of a PostgreSQL server for the tests of this process. Where its
// programs are absent the test is skipped; in CI it fails.
func Server(t testing.TB) string {
	t.Helper()
	running.once.Do(func() { running.address, running.err = start() })
	if os.IsNotExist(running.err) && os.Getenv("CI") == "" {
		t.Skip("the programs of PostgreSQL are not installed: apt-get install postgresql")
	}
	require.NoError(t, running.err)
	return running.address
}

// supervised runs script with its arguments until in ends, and waits until it says that it is
// ready. What it runs writes to the file log of the folder.
func supervised(script, folder, program string) (in io.Closer, err error) {
	cmd := osexec.Command("sh", "-c", script, "sh", folder, program)
	cmd.Stderr = os.Stderr
	in, err = cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		log, _ := os.ReadFile(filepath.Join(folder, "log"))
		return nil, fmt.Errorf("it did not start: %s", log)
	}
	return in, nil
}

func start() (string, error) {
	programs, err := programs()
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp("", "cordelia-pg")
	if err != nil {
		return "", err
	}
	if running.input, err = supervised(supervise, folder, programs); err != nil {
		return "", fmt.Errorf("postgres: %w", err)
	}
	running.folder = filepath.Join(folder, "run")
	address := "host=" + running.folder + " user=postgres sslmode=disable"
	for limit := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) { // until it answers
		pg, err := pgconn.Connect(context.Background(), address+" dbname=postgres")
		if err == nil {
			return address, pg.Close(context.Background())
		}
		if time.Now().After(limit) {
			return "", err
		}
	}
}

// programs is the folder of the newest server's programs.
func programs() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // Debian's, which are on no path
	if err != nil {
		return "", err
	}
	if path, err := osexec.LookPath("initdb"); len(found) == 0 && err == nil {
		found = []string{path}
	}
	if len(found) == 0 {
		return "", os.ErrNotExist
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1]), nil
}

// Refused gives what the server answers to a statement that it must refuse.
func Refused(t testing.TB, address, statement string) string {
	t.Helper()
	ctx := context.Background()
	pg, err := pgconn.Connect(ctx, address)
	require.NoError(t, err)
	defer pg.Close(ctx) //nolint:errcheck // only a test
	_, err = pg.Exec(ctx, statement).ReadAll()
	require.Error(t, err, statement)
	return err.Error()
}
