package scenario

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/drive"
	"cordelia/internal/keys"
	"cordelia/ops"
)

// INV-NONCE: a challenge makes one token, however often its answer is sent.
func TestChallengeIsSpentOnce(t *testing.T) {
	n := newNode(t)
	address, err := n.Serve(t.Context())
	require.NoError(t, err)
	file, err := keys.LoadFile(ops.Home(n.Home).DefaultAgentKey(), nil)
	require.NoError(t, err)
	var challenge struct {
		Message, Nonce []byte
		Expires        int64
	}
	require.NoError(t, drive.Post(t.Context(), address+"/auth/challenge", map[string]any{"agent_id": file.EntityID}, &challenge))
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
