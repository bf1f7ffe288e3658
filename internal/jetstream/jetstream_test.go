package jetstream_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/jetstream"
	"cordelia/internal/jetstream/jetstreamtest"
	"cordelia/schemas"
)

// patience is how long something that must happen may take.
const patience = 30 * time.Second

func open(t *testing.T, c jetstream.Config) *jetstream.Publisher {
	t.Helper()
	p, err := jetstream.New(c)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

// A message arrives once under its id, also by another connection, and with a server that was
// away meanwhile.
func TestAMessageArrivesOnce(t *testing.T) {
	s := jetstreamtest.New(t)
	c := jetstream.Config{URL: s.URL(), Credentials: s.Credentials}
	p := open(t, c)
	require.NoError(t, p.Publish(t.Context(), "cordelia.harbour.a", "1", []byte(`{}`)))
	require.NoError(t, p.Publish(t.Context(), "cordelia.harbour.a", "1", []byte(`{}`)))
	require.NoError(t, open(t, c).Publish(t.Context(), "cordelia.harbour.a", "1", []byte(`{}`)))
	s.Stop()
	require.ErrorIs(t, p.Publish(t.Context(), "cordelia.harbour.a", "2", nil), schemas.ErrUnavailable)
	s.Start()
	require.Eventually(t, func() bool { return p.Publish(t.Context(), "cordelia.harbour.a", "2", []byte(`2`)) == nil },
		patience, patience/100)
	require.Equal(t, []jetstreamtest.Message{{Subject: "cordelia.harbour.a", ID: "1", Body: []byte(`{}`)},
		{Subject: "cordelia.harbour.a", ID: "2", Body: []byte(`2`)}}, s.Messages())
}

// What stands in the way is said with the next step.
func TestRefusals(t *testing.T) {
	s := jetstreamtest.New(t)
	open := func(c jetstream.Config) *jetstream.Publisher { return open(t, c) }
	good := jetstream.Config{URL: s.URL(), Credentials: s.Credentials}
	s.Drop()
	require.ErrorContains(t, open(good).Publish(t.Context(), "cordelia.harbour.a", "1", nil), "nats stream add")
	require.ErrorContains(t, open(jetstream.Config{URL: s.URL()}).Publish(t.Context(), "cordelia.a", "1", nil),
		"does not let this node in")
	nowhere := open(jetstream.Config{URL: "nats://127.0.0.1:1"})
	require.ErrorContains(t, nowhere.Publish(t.Context(), "cordelia.a", "1", nil), "cannot be reached")

	readable := filepath.Join(t.TempDir(), "creds")
	raw, err := os.ReadFile(s.Credentials)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(readable, raw, 0o644))
	for _, c := range []struct {
		config jetstream.Config
		says   string
	}{
		{jetstream.Config{}, "cannot be read"},
		{jetstream.Config{URL: "host:4222"}, "cannot be read"},
		{jetstream.Config{URL: "http://host"}, "cannot be read"},
		{jetstream.Config{URL: s.URL() + ",nats://host:4222"}, "without TLS"},
		{jetstream.Config{URL: "nats://ann:hunter2@host"}, "holds a user or a password"},
		{jetstream.Config{URL: "nats://127.0.0.1,nats://ann:hun%ter2@host"}, "holds a user or a password"},
		{jetstream.Config{URL: s.URL(), Credentials: "/absent"}, "cannot be read"},
		{jetstream.Config{URL: s.URL(), Credentials: t.TempDir()}, "is no file"},
		{jetstream.Config{URL: s.URL(), Credentials: readable}, "read by other users"},
	} {
		_, err := jetstream.New(c.config)
		require.ErrorContains(t, err, c.says)
		require.NotContains(t, err.Error(), "hunter2")
	}
}
