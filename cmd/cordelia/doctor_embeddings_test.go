package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/cmd/cordelia/cli"
	"cordelia/cmd/cordelia/config"
	"cordelia/internal/embedding/embeddingtest"
	"cordelia/node"
	"cordelia/ops"
	"cordelia/schemas"
)

const embedSecret = "sk-embed-51b0c3"

func TestConfigureEmbeddings(t *testing.T) {
	home := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(home, name), []byte(text), 0o600))
	}
	configured := func(embeddings string) (node.Config, error) {
		write("config.json", `{"embeddings":`+embeddings+`}`)
		c := node.Config{Home: node.Home(home)}
		return c, config.Configure(&c)
	}
	write("embed.key", embedSecret+"\n")
	t.Setenv("EMBED_KEY", embedSecret)
	for text, private := range map[string]bool{
		`{"url":"http://127.0.0.1:11434/v1","model":"nomic-embed-text"}`:                                                         true,
		`{"url":"http://localhost:11434/v1","model":"m","include_private":false}`:                                                false,
		`{"url":"https://api.example.org/v1","model":"m","key_file":"embed.key","dimensions":512,"timeout":"300ms"}`:             false,
		`{"url":"https://api.example.org/v1","model":"m","key_env":"EMBED_KEY","include_private":true,"query_prefix":"query: "}`: true,
	} {
		c, err := configured(text)
		require.NoError(t, err, text)
		require.NotNil(t, c.Embedder, text)
		require.Equal(t, private, c.Embeddings.Private, text)
		require.NotContains(t, fmt.Sprintf("%v %+v %#v", c, c, c.Embedder), embedSecret)
	}
	c, err := configured(`{"url":"http://127.0.0.1:1/v1","model":"m","timeout":"2s"}`)
	require.NoError(t, err)
	require.Equal(t, 2*time.Second, c.Embeddings.Wait)
	require.NoError(t, os.Remove(filepath.Join(home, "config.json")))
	c = node.Config{Home: node.Home(home)}
	require.NoError(t, config.Configure(&c))
	require.Nil(t, c.Embedder, "off by default")

	for _, bad := range []string{
		`{}`, `{"url":"http://127.0.0.1:1/v1"}`, `{"url":"http://example.org/v1","model":"m"}`,
		`{"url":"https://a:` + embedSecret + `@example.org/v1","model":"m"}`,
		`{"url":"http://127.0.0.1:1/v1","model":"m","key":"` + embedSecret + `"}`,
		`{"url":"http://127.0.0.1:1/v1","model":"m","key_env":"EMBED_KEY","key_file":"embed.key"}`,
		`{"url":"http://127.0.0.1:1/v1","model":"m","key_env":"NO_SUCH_KEY"}`,
		`{"url":"http://127.0.0.1:1/v1","model":"m","key_file":"none"}`,
		`{"url":"http://127.0.0.1:1/v1","model":"m","dimensions":-1}`,
		`{"url":"http://127.0.0.1:1/v1","model":"m","timeout":"0s"}`, `[]`,
	} {
		_, err := configured(bad)
		require.ErrorIs(t, err, schemas.ErrInvalid, bad)
		require.NotContains(t, fmt.Sprintf("%v", err), embedSecret)
		require.ErrorContains(t, err, "config.json")
	}
}

// The doctor asks the model, and says what is wrong with it.
func TestDoctorOfEmbeddings(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	a := &cli.App{Home: home, Durability: "relaxed", ErrOut: os.Stderr}
	n, err := a.OpenNode(t.Context())
	require.NoError(t, err)
	caller, err := n.Establish(t.Context(), "ann", nil, nil)
	require.NoError(t, err)
	require.NotEmpty(t, caller)
	require.NoError(t, n.Close())
	server := embeddingtest.New(t, 32, nil)
	write := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(home, "config.json"), []byte(text), 0o600))
	}
	examine := func() finding {
		x := &examination{app: a, home: home}
		x.database(t.Context(), node.Home(home), nil)
		before := len(x.findings)
		x.settings(t.Context(), node.Home(home))
		if len(x.findings) == before {
			return finding{}
		}
		require.Len(t, x.findings, before+1)
		return x.findings[before]
	}
	require.Empty(t, examine(), "off")
	write(`{"presense":"1h"}`)
	require.Equal(t, problem, examine().Verdict)
	write(`{"embeddings":{"url":"` + server.URL + `","model":"stand-in"}}`)
	require.Contains(t, examine().Detail, "nothing is embedded with it yet")

	n, err = a.OpenNode(t.Context())
	require.NoError(t, err)
	file, err := n.OpenIdentity(t.Context(), "")
	require.NoError(t, err)
	who, err := n.Caller(t.Context(), file, "test")
	require.NoError(t, err)
	_, err = ops.Find("memory_write_warm").Call(t.Context(), n, who,
		[]byte(`{"type":"learning","data":{"type":"insight","content":"a car"}}`))
	require.NoError(t, err)
	for more := true; more; {
		more, err = n.RefreshEmbeddings(t.Context())
		require.NoError(t, err)
	}
	require.NoError(t, n.Close())
	f := examine()
	require.Equal(t, fine, f.Verdict)
	require.Contains(t, f.Detail, "1 item embedded, 0 to look at")

	server.Resize(16)
	f = examine()
	require.Equal(t, problem, f.Verdict)
	require.Contains(t, f.Fix, "set dimensions to 32")
	server.Fail(http.StatusUnauthorized)
	f = examine()
	require.Equal(t, problem, f.Verdict)
	require.Contains(t, f.Fix, "key_env")
	server.Fail(http.StatusNotFound)
	f = examine()
	require.Equal(t, warning, f.Verdict)
	require.Contains(t, f.Fix, "ollama pull stand-in")
}
