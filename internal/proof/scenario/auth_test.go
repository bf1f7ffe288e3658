package scenario

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/drive"
	"cordelia/internal/keys"
	"cordelia/node"
)

// INV-NONCE: a challenge makes one token, however often its answer is sent.
func TestChallengeIsSpentOnce(t *testing.T) {
	n := newNode(t)
	address, err := n.Serve(t.Context())
	require.NoError(t, err)
	file, err := keys.LoadFile(node.Home(n.Home).DefaultAgentKey(), nil)
	require.NoError(t, err)
	var challenge struct {
		Message, Nonce []byte
		Expires        int64
	}
	require.NoError(t, drive.Post(t.Context(), address+"/auth/challenge", map[string]any{"agent_id": file.EntityID},
		&challenge))
	answer := map[string]any{"agent_id": file.EntityID, "nonce": challenge.Nonce, "expires": challenge.Expires,
		"signature": base64.StdEncoding.EncodeToString(file.Identity.Sign(challenge.Message))}
	var issued struct{ Token string }
	require.NoError(t, drive.Post(t.Context(), address+"/auth/token", answer, &issued))
	require.NotEmpty(t, issued.Token)
	require.ErrorContains(t, drive.Post(t.Context(), address+"/auth/token", answer, &issued), "401")
}

// A token counts for the agent it was made for, until its time is over.
func TestTokenEnds(t *testing.T) {
	n := newNode(t)
	address, err := n.Serve(t.Context())
	require.NoError(t, err)
	c, err := n.Dial(t.Context(), address, "claude-code.key")
	require.NoError(t, err)
	must(t, c, "agent_list", `{}`)
	require.NoError(t, n.MoveClock(15*60*1e9))
	a, err := c.Call(t.Context(), "agent_list", []byte(`{}`))
	require.NoError(t, err)
	require.Equal(t, "unauthenticated", a.Code)
	a, err = drive.NewRemote(address, "made-up").Call(t.Context(), "agent_list", []byte(`{}`))
	require.NoError(t, err)
	require.Equal(t, "unauthenticated", a.Code)
}

// A token, the nonce of its challenge and the seed of the key that answered it are in no file
// of the home but the key file, nor in an answer.
func TestSecretsAreInNoOtherFile(t *testing.T) {
	n := newNode(t)
	open(t, n, "") // makes the identities
	address, err := n.Serve(t.Context())
	require.NoError(t, err)
	keyFile := node.Home(n.Home).DefaultAgentKey()
	file, err := keys.LoadFile(keyFile, nil)
	require.NoError(t, err)
	var challenge struct {
		Message, Nonce []byte
		Expires        int64
	}
	agent := map[string]any{"agent_id": file.EntityID}
	require.NoError(t, drive.Post(t.Context(), address+"/auth/challenge", agent, &challenge))
	answer := map[string]any{"agent_id": file.EntityID, "nonce": challenge.Nonce, "expires": challenge.Expires,
		"signature": base64.StdEncoding.EncodeToString(file.Identity.Sign(challenge.Message))}
	var issued struct{ Token string }
	require.NoError(t, drive.Post(t.Context(), address+"/auth/token", answer, &issued))
	c := drive.NewRemote(address, issued.Token)
	must(t, c, "memory_write_warm",
		`{"type": "learning", "data": {"type": "insight", "content": "written with a token"}}`)
	printed := must(t, c, "agent_list", `{}`).Raw

	raw, err := os.ReadFile(keyFile)
	require.NoError(t, err)
	var stored struct{ Body []byte } // the seed
	require.NoError(t, json.Unmarshal(raw, &stored))
	require.Len(t, stored.Body, keys.SeedSize)
	var secrets [][]byte
	for _, secret := range [][]byte{challenge.Nonce, stored.Body} {
		secrets = append(secrets, secret, []byte(hex.EncodeToString(secret)),
			[]byte(base64.RawStdEncoding.EncodeToString(secret)), []byte(base64.RawURLEncoding.EncodeToString(secret)))
	}
	secrets = append(secrets, []byte(issued.Token))
	meets := func(text []byte) bool {
		for _, secret := range secrets {
			if bytes.Contains(text, secret) {
				return true
			}
		}
		return false
	}
	require.True(t, meets(raw), "the key file holds the seed")
	require.False(t, meets(printed))
	files := 0
	require.NoError(t, filepath.WalkDir(n.Home, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || name == keyFile {
			return err
		}
		files++
		text, err := os.ReadFile(name)
		require.False(t, meets(text), "%s holds a secret", name)
		return err
	}))
	require.Greater(t, files, 2)
}
