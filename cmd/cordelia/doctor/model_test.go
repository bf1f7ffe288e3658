package doctor

import (
	"cordelia/cmd/cordelia/cli"
	"cordelia/internal/embedding/embeddingtest"
	"cordelia/node"
	"cordelia/ops"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

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
	examine := func() Finding {
		x := &examination{app: a, home: home}
		x.database(t.Context(), node.Home(home), nil)
		before := len(x.findings)
		x.settings(t.Context(), node.Home(home))
		if len(x.findings) == before {
			return Finding{}
		}
		require.Len(t, x.findings, before+1)
		return x.findings[before]
	}
	require.Empty(t, examine(), "off")
	write(`{"presense":"1h"}`)
	require.Equal(t, Problem, examine().Verdict)
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
	require.Equal(t, Fine, f.Verdict)
	require.Contains(t, f.Detail, "1 item embedded, 0 to look at")

	server.Resize(16)
	f = examine()
	require.Equal(t, Problem, f.Verdict)
	require.Contains(t, f.Fix, "set dimensions to 32")
	server.Fail(http.StatusUnauthorized)
	f = examine()
	require.Equal(t, Problem, f.Verdict)
	require.Contains(t, f.Fix, "key_env")
	server.Fail(http.StatusNotFound)
	f = examine()
	require.Equal(t, Warning, f.Verdict)
	require.Contains(t, f.Fix, "ollama pull stand-in")
}
