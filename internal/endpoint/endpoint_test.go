package endpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

const secret = "sk-test-4f9d1c77aa"

func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		require.Equal(t, 5*time.Second, RetryAfter("5", now))
		require.Equal(t, time.Minute, RetryAfter(now.Add(time.Minute).UTC().Format(http.TimeFormat), now))
		require.Equal(t, longest, RetryAfter("99999999", now))
		for _, h := range []string{"", "-1", "soon", "99999999999999999999999",
			now.Add(-time.Hour).UTC().Format(http.TimeFormat)} {
			require.Zero(t, RetryAfter(h, now), h)
		}
	})
}

// A name for this machine that leads elsewhere gets no plain text.
func TestPlainTextStaysOnThisMachine(t *testing.T) {
	require.Error(t, onlyLoopback("tcp", "192.0.2.1:80", nil))
	require.Error(t, onlyLoopback("tcp6", "[2001:db8::1]:80", nil))
	require.NoError(t, onlyLoopback("tcp", "127.0.0.1:80", nil))
	require.NoError(t, onlyLoopback("tcp6", "[::1]:80", nil))
	u, err := url.Parse("http://localhost:1/v1")
	require.NoError(t, err)
	transport, ok := NewClient(u, 0).Transport.(*http.Transport)
	require.True(t, ok)
	_, err = transport.DialContext(t.Context(), "tcp", "192.0.2.1:80")
	require.ErrorContains(t, err, "this machine alone")
}

func TestAddressesThatAreRefused(t *testing.T) {
	for _, bad := range []string{"", "localhost:11434", "ftp://127.0.0.1/v1", "http://example.org/v1",
		"http://127.0.0.1.example.org/v1", "http://10.0.0.1/v1", "https://me:" + secret + "@example.org/v1",
		"https://example.org/v1?key=" + secret, "https://[::1"} {
		_, err := Parse("seats", bad)
		require.ErrorIs(t, err, schemas.ErrInvalid, bad)
		require.NotContains(t, err.Error(), secret)
	}
	for _, good := range []string{"https://example.org/v1", "http://localhost:1/v1/", "http://[::1]:1/v1"} {
		_, err := Parse("seats", good)
		require.NoError(t, err)
	}
}

func TestKeys(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	k, err := KeyFromFile(file("good", secret+"\n", 0o600))
	require.NoError(t, err)
	require.Equal(t, secret, k.secret())
	bad := []string{file("empty", "\n", 0o600), file("two", secret+"\nmore", 0o600),
		file("long", strings.Repeat("x", maxKey+2), 0o600), dir, filepath.Join(dir, "none")}
	if os.PathSeparator == '/' {
		bad = append(bad, file("open", secret, 0o644))
	}
	for _, path := range bad {
		_, err := KeyFromFile(path)
		require.ErrorIs(t, err, schemas.ErrUnauthenticated, path)
		require.NotContains(t, fmt.Sprintf("%v %+v", err, errors.Unwrap(err)), secret)
	}
	t.Setenv("A_KEY", secret)
	k, err = KeyFromEnv("A_KEY")
	require.NoError(t, err)
	require.Equal(t, secret, k.secret())
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", k, k, k), secret)
	require.Equal(t, "no [secret] here", k.Hide("no "+secret+" here"))
	odd := `a<"b"&\c`
	t.Setenv("A_KEY", odd)
	strange, err := KeyFromEnv("A_KEY")
	require.NoError(t, err)
	raw, err := json.Marshal([]string{"no " + odd + " here"})
	require.NoError(t, err)
	require.JSONEq(t, `["no [secret] here"]`, string(strange.HideJSON(raw)))
	require.Equal(t, `["x"]`, string(Key{}.HideJSON([]byte(`["x"]`))))
	h := http.Header{}
	k.Send(h, "X-Key", "Bearer ")
	require.Equal(t, "Bearer "+secret, h.Get("X-Key"))
	_, err = KeyFromEnv("NO_SUCH_KEY")
	require.ErrorIs(t, err, schemas.ErrUnauthenticated)
	Key{}.Send(h, "X-None", "")
	require.Empty(t, h.Get("X-None"))
	require.Equal(t, "text", Key{}.Hide("text"))
	require.False(t, Key{}.Given())
}
