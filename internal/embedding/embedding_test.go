package embedding

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/embedding/embeddingtest"
	"cordelia/internal/endpoint"
	"cordelia/schemas"
)

const secret = "sk-test-4f9d1c77aa"

// answering is a server whose every answer comes from f, and a client of it.
func answering(t *testing.T, c Config, f http.HandlerFunc) *Client {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	c.URL, c.Model = s.URL+"/v1", "hash-of-words"
	if !c.Key.Given() {
		t.Setenv("EMBED_TEST_KEY", secret)
		var err error
		c.Key, err = endpoint.KeyFromEnv("EMBED_TEST_KEY")
		require.NoError(t, err)
	}
	client, err := New(c)
	require.NoError(t, err)
	return client
}

func TestVectorsComeInOrder(t *testing.T) {
	model := embeddingtest.New(t, 512, nil)
	var got request
	var header http.Header
	c := answering(t, Config{Dimensions: 512, QueryPrefix: "query: ", DocumentPrefix: "doc: "},
		func(w http.ResponseWriter, r *http.Request) {
			raw, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(raw, &got))
			require.Equal(t, "/v1/embeddings", r.URL.Path)
			header = r.Header
			r.Body = io.NopCloser(bytes.NewReader(raw))
			model.ServeHTTP(w, r)
		})
	vectors, err := c.Documents(t.Context(), []string{"apple", "pear tree"})
	require.NoError(t, err)
	require.Equal(t, request{Model: "hash-of-words", Input: []string{"doc: apple", "doc: pear tree"}, Dimensions: 512,
		Format: "float"}, got)
	require.Equal(t, "Bearer "+secret, header.Get("Authorization"))
	again, err := c.Documents(t.Context(), []string{"pear tree", "apple"})
	require.NoError(t, err)
	require.Equal(t, vectors[0], again[1])
	require.NotEqual(t, vectors[0], vectors[1])
	_, err = c.Query(t.Context(), "apple")
	require.NoError(t, err)
	require.Equal(t, []string{"query: apple"}, got.Input)
	require.Equal(t, `hash-of-words 512 "doc: "`, c.Model())
	require.True(t, c.Loopback())
}

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s"}}`, secret)
	}
}

func body(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

// Whatever a server does, the answer is an error with the next step, and the key
// is in none of what can be printed.
func TestServersThatMisbehave(t *testing.T) {
	vector := func(numbers string) http.HandlerFunc {
		return body(`{"data":[{"index":0,"embedding":[` + numbers + `]}]}`)
	}
	for name, tt := range map[string]struct {
		f    http.HandlerFunc
		code schemas.Code
		says string
	}{
		"401": {status(401), schemas.CodeUnauthenticated, "refused the key"},
		"403": {status(403), schemas.CodeUnauthenticated, "refused the key"},
		"400": {status(400), schemas.CodeInvalid, "refused the text"},
		"413": {status(413), schemas.CodeInvalid, "refused the text"},
		"404": {status(404), schemas.CodeUnavailable, "does not know"},
		"500": {status(500), schemas.CodeUnavailable, "busy or broken"},
		"429": {status(429, "Retry-After", "120"), schemas.CodeUnavailable, "busy or broken"},
		"204": {status(204), schemas.CodeUnavailable, "status 204"},
		"redirect": {status(307, "Location", "http://127.0.0.1:1/v1/embeddings"), schemas.CodeUnavailable,
			"sends elsewhere"},
		"no JSON":       {body("<html>" + secret), schemas.CodeUnavailable, "not the JSON"},
		"key as number": {vector(`"` + secret + `"`), schemas.CodeUnavailable, "not the JSON"},
		"none":          {body(`{"data":[]}`), schemas.CodeUnavailable, "0 vectors for 1 texts"},
		"index":         {body(`{"data":[{"index":7,"embedding":[1,2,3]}]}`), schemas.CodeUnavailable, "index 7"},
		"wrong dims":    {vector("1,2"), schemas.CodeUnavailable, "2 dimensions, not 3"},
		"empty":         {vector(""), schemas.CodeUnavailable, "0 dimensions"},
		"zero":          {vector("0,0,0"), schemas.CodeUnavailable, "zero or not finite"},
		"too large":     {vector("1e39,0,0"), schemas.CodeUnavailable, "not the JSON"},
		"cut short": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"data":`)
		}, schemas.CodeUnavailable, "broke off"},
		"no HTTP": {func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				fmt.Fprintf(c, "%s\r\n\r\n", secret)
				c.Close()
			}
		}, schemas.CodeUnavailable, "broke off"},
		"huge": {func(w http.ResponseWriter, _ *http.Request) {
			for { // without an end: what is not read is not sent
				if _, err := w.Write(bytes.Repeat([]byte(" "), 1<<20)); err != nil {
					return
				}
			}
		}, schemas.CodeUnavailable, "more than"},
		"huge once unpacked": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			for range maxAnswer>>20 + 2 {
				if _, err := z.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		}, schemas.CodeUnavailable, "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			c := answering(t, Config{Dimensions: 3}, tt.f)
			_, err := c.Query(t.Context(), "x")
			require.Equal(t, tt.code, schemas.CodeOf(err), "%v", err)
			require.ErrorContains(t, err, tt.says)
			e, ok := errors.AsType[*schemas.Error](err)
			require.True(t, ok)
			require.NotEmpty(t, e.Hint)
			raw, _ := json.Marshal(e) //nolint:errcheck // only looked at
			logger.Error("all of it", "err", err, "cause", e.Err, "client", c, "config", c.cfg, "key", c.cfg.Key)
			for _, printed := range []string{log.String(), string(raw),
				fmt.Sprintf("%v %+v %#v %v %#v", err, err, err, e.Err, c.cfg), fmt.Sprintf("%v %+v", c, *c.to)} {
				require.NotContains(t, printed, secret)
			}
		})
	}
}

func TestAServerThatIsNotThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	c, err := New(Config{URL: "http://" + l.Addr().String() + "/v1", Model: "m"})
	require.NoError(t, err)
	_, err = c.Query(t.Context(), "x")
	require.ErrorIs(t, err, schemas.ErrUnavailable)
	require.ErrorContains(t, err, "refused")
}

func TestASlowServerIsLeftInTime(t *testing.T) {
	released := make(chan struct{})
	c := answering(t, Config{}, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-released:
		}
	})
	defer close(released)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := c.Query(ctx, "x")
	require.ErrorIs(t, err, schemas.ErrUnavailable)
	require.ErrorContains(t, err, "in time")
}

// A redirect is not followed: the key stays with the host it is for.
func TestTheKeyIsNotCarriedElsewhere(t *testing.T) {
	var asked atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	for _, code := range []int{301, 302, 303, 307, 308} {
		c := answering(t, Config{}, status(code, "Location", other.URL))
		_, err := c.Query(t.Context(), "x")
		require.ErrorIs(t, err, schemas.ErrUnavailable)
	}
	require.Zero(t, asked.Load())
}

// What may pass is repeated, for texts to be stored; a query is asked once.
func TestWhatMayPassIsRepeated(t *testing.T) {
	model := embeddingtest.New(t, 8, nil)
	var asked atomic.Int32
	failing := func(code, times int, header ...string) *Client {
		asked.Store(0)
		return answering(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
			if int(asked.Add(1)) <= times {
				status(code, header...)(w, r)
				return
			}
			model.ServeHTTP(w, r)
		})
	}
	_, err := failing(503, 2).Documents(t.Context(), []string{"a"})
	require.NoError(t, err)
	require.EqualValues(t, 3, asked.Load())
	_, err = failing(500, 9).Documents(t.Context(), []string{"a"})
	require.ErrorIs(t, err, schemas.ErrUnavailable)
	require.EqualValues(t, attempts, asked.Load())
	_, err = failing(429, 1, "Retry-After", "1").Documents(t.Context(), []string{"a"})
	require.NoError(t, err)
	require.EqualValues(t, 2, asked.Load())
	for _, code := range []int{400, 401, 404} {
		_, err = failing(code, 9).Documents(t.Context(), []string{"a"})
		require.Error(t, err)
		require.EqualValues(t, 1, asked.Load(), "%d does not pass by itself", code)
	}
	_, err = failing(503, 1).Query(t.Context(), "a")
	require.Error(t, err)
	require.EqualValues(t, 1, asked.Load())
}

// A server that asks for a long pause gets it: no call goes out meanwhile.
func TestALongPauseIsKept(t *testing.T) {
	var asked atomic.Int32
	c := answering(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		status(429, "Retry-After", "3600")(w, r)
	})
	for range 3 {
		_, err := c.Documents(t.Context(), []string{"a"})
		require.ErrorIs(t, err, schemas.ErrUnavailable)
	}
	require.EqualValues(t, 1, asked.Load())
}

func TestAddressesThatAreRefused(t *testing.T) {
	for _, bad := range []Config{
		{URL: "", Model: "m"}, {URL: "localhost:11434", Model: "m"}, {URL: "ftp://127.0.0.1/v1", Model: "m"},
		{URL: "http://example.org/v1", Model: "m"}, {URL: "http://127.0.0.1.example.org/v1", Model: "m"},
		{URL: "http://10.0.0.1/v1", Model: "m"},
		{URL: "https://me:" + secret + "@example.org/v1", Model: "m"},
		{URL: "https://example.org/v1?key=" + secret, Model: "m"},
		{URL: "https://example.org/v1"}, {URL: "https://example.org/v1", Model: "m", Dimensions: -1},
		{URL: "https://example.org/v1", Model: "m", Dimensions: 1 << 20},
		{URL: "https://example.org/v1", Model: "m", QueryPrefix: strings.Repeat("x", 201)},
		{URL: "https://[::1", Model: "m"},
	} {
		_, err := New(bad)
		require.ErrorIs(t, err, schemas.ErrInvalid, "%+v", bad)
		require.NotContains(t, err.Error(), secret)
	}
	for _, good := range []string{"https://example.org/v1", "http://localhost:1/v1/", "http://[::1]:1/v1"} {
		c, err := New(Config{URL: good, Model: "m"})
		require.NoError(t, err)
		require.True(t, strings.HasSuffix(c.to.Path, "/v1/embeddings"), c.to)
	}
}

func FuzzAnswer(f *testing.F) {
	for _, s := range []string{"", "{}", `{"data":[{"index":0,"embedding":[1,2,3]}]}`,
		`{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, `{"data":[{"embedding":[1e38,1e38]}]}`} {
		f.Add([]byte(s), uint8(1))
	}
	c := &Client{}
	f.Fuzz(func(t *testing.T, raw []byte, n uint8) {
		vectors, err := c.vectors(raw, int(n))
		if err != nil {
			return
		}
		require.Len(t, vectors, int(n))
		for _, v := range vectors {
			require.Len(t, v, len(vectors[0]))
			require.NotEmpty(t, v)
		}
	})
}
