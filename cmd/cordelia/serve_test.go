package main

import (
	"testing"

	"github.com/stretchr/testify/require"

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
