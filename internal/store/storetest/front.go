package storetest

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// Front gives the address of a port of this machine until the test ends. Each connection is served, and
// then closed.
func Front(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() }) //nolint:errcheck // only a test
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close() //nolint:errcheck // only a test
				serve(client)
			}()
		}
	}()
	return listener.Addr().String()
}
