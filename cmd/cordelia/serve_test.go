package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/cmd/cordelia/cli"
	"cordelia/schemas"
)

// Beyond loopback the server listens only if it was told to, and with TLS.
func TestServeKeepsToLoopback(t *testing.T) {
	for _, f := range []serveFlags{
		{listen: "0.0.0.0:0"}, {listen: "[::]:0"}, {listen: ":0"},
		{listen: "0.0.0.0:0", public: true},
		{listen: "0.0.0.0:0", cert: "cert.pem", key: "key.pem"},
	} {
		_, _, err := listen(f)
		require.ErrorIs(t, err, schemas.ErrDenied, "%+v", f)
	}
	l, _, err := listen(serveFlags{listen: "127.0.0.1:0"})
	require.NoError(t, err)
	require.NoError(t, l.Close())
}

// A server on all addresses of its machine names none of them: [::] reaches it nowhere.
func TestServeOnAllAddressesIsReachedByName(t *testing.T) {
	l, err := net.Listen("tcp", ":0")
	require.NoError(t, err)
	defer l.Close() //nolint:errcheck // it was never used
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	require.Equal(t, "https://NAME:"+port, base(l, serveFlags{cert: "cert.pem"}))
}

// A server that starts says where each of its addresses is, and how to open the console: of this
// server, in this home.
func TestServeSaysWhereItIs(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	notes, err := os.Create(filepath.Join(t.TempDir(), "notes"))
	require.NoError(t, err)
	defer notes.Close()
	a := &cli.App{Durability: "relaxed", ErrOut: notes}
	require.NoError(t, rootCommand(a, nil).PersistentFlags().Parse([]string{"--home", home}))
	n, err := a.OpenNode(t.Context())
	require.NoError(t, err)
	_, err = n.Establish(t.Context(), "ann", nil, nil)
	require.NoError(t, err)
	require.NoError(t, n.Close())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serveHTTP(ctx, a, serveFlags{listen: "127.0.0.1:0", connections: 8}) }()
	says := regexp.MustCompile(`^cordelia: serving MCP on (http://127\.0\.0\.1:\d+)/mcp, ` +
		`webhooks on (\S+)/hooks/SOURCE, the console on (\S+)/console/ ` +
		`\(to open it: cordelia --home (\S+) console --url (\S+)\)\n$`)
	var found []string
	require.Eventually(t, func() bool {
		raw, err := os.ReadFile(notes.Name())
		require.NoError(t, err)
		found = says.FindStringSubmatch(string(raw))
		return found != nil
	}, 20*time.Second, 10*time.Millisecond)
	require.Equal(t, []string{found[1], found[1], home, found[1]}, found[2:])
	stop()
	require.NoError(t, <-ended)
}
