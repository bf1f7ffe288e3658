package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/cmd/cordelia/config"
	vectors "cordelia/memory/embedding"
	"cordelia/node"
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
	require.IsType(t, vectors.Words{}, c.Embedder, "the table of words, which leaves this machine with nothing")

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
