package store_test

import (
	"bytes"
	"context"
	"net"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
	"cordelia/schemas"
)

// A connection that is lost amid a command is told as that, with what to do next.
func TestAConnectionThatIsLost(t *testing.T) {
	server := storetest.Server(t)
	file, err := store.Open(t.Context(), store.Options{Path: filepath.Join(t.TempDir(), "n.db")})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	writing := func(ctx context.Context, address string, f func(*store.Tx) error) error {
		s, err := store.Open(ctx, store.Options{URL: address})
		require.NoError(t, err)
		defer func() { require.NoError(t, s.Close()) }()
		return s.Write(ctx, f)
	}
	for _, c := range []struct {
		amid    string
		address string
		do      func(address string) error
	}{
		{"CREATE TABLE", storetest.Empty(t, server, t.Name()), func(address string) error {
			_, err := store.Open(t.Context(), store.Options{URL: address})
			return err
		}},
		{"COPY ", storetest.Database(t, server, t.Name()+" copy"), func(address string) error {
			return file.Read(t.Context(), func(from *store.Tx) error {
				return writing(t.Context(), address, func(to *store.Tx) error {
					_, err := store.Copy(from, to)
					return err
				})
			})
		}},
		{"DELETE FROM counters", storetest.Database(t, server, t.Name()+" change"), func(address string) error {
			return writing(t.Context(), address, func(to *store.Tx) error {
				_, err := to.Exec(`DELETE FROM counters`)
				return err
			})
		}},
	} {
		err := c.do(cutAmid(t, c.address, c.amid))
		require.ErrorIs(t, err, schemas.ErrUnavailable, c.amid)
		require.ErrorContains(t, err, "was lost; nothing was written", c.amid)
		require.ErrorContains(t, err, "repeat the call", c.amid)
	}
}

// A server that has no TLS and then goes away is not said to want TLS, unless the address asks for it.
func TestAServerThatGoesAway(t *testing.T) {
	address := at(t, "host=here user=ann dbname=x", func(client net.Conn) {
		asked := make([]byte, 8)
		if n, err := client.Read(asked); err == nil && string(asked[4:n]) == "\x04\xd2\x16\x2f" { // for TLS
			client.Write([]byte("N")) //nolint:errcheck // only a test
		}
	})
	for mode, says := range map[string]string{"prefer": "cannot be reached", "require": "TLS"} {
		_, err := store.Open(t.Context(), store.Options{URL: address + " sslmode=" + mode})
		require.ErrorIs(t, err, schemas.ErrUnavailable, mode)
		require.ErrorContains(t, err, says, mode)
	}
}

var socketFolder = regexp.MustCompile(`host=(\S+)`)

// cutAmid gives an address that leads to the one given; what holds these words does not arrive, and
// its connection ends.
func cutAmid(t *testing.T, address, words string) string {
	t.Helper()
	socket := filepath.Join(socketFolder.FindStringSubmatch(address)[1], ".s.PGSQL.5432")
	return at(t, address, func(client net.Conn) {
		there, err := net.Dial("unix", socket)
		if err != nil {
			return
		}
		defer there.Close() //nolint:errcheck // only a test
		go func() {
			defer client.Close() //nolint:errcheck // only a test
			answer := make([]byte, 64<<10)
			for n, err := there.Read(answer); err == nil; n, err = there.Read(answer) {
				if _, err := client.Write(answer[:n]); err != nil {
					return
				}
			}
		}()
		asked := make([]byte, 1<<20)
		for n, err := client.Read(asked); err == nil; n, err = client.Read(asked) {
			if bytes.Contains(asked[:n], []byte(words)) {
				return
			}
			if _, err := there.Write(asked[:n]); err != nil {
				return
			}
		}
	})
}

// at gives address with another server, whose connections are served and then closed.
func at(t *testing.T, address string, serve func(net.Conn)) string {
	t.Helper()
	host, port, err := net.SplitHostPort(storetest.Front(t, serve))
	require.NoError(t, err)
	return socketFolder.ReplaceAllString(address, "host="+host+" port="+port)
}
