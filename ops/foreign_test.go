package ops

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/node"
	"cordelia/schemas"
)

func TestAnAgentOfAnotherNodeStartsLow(t *testing.T) {
	home, away := newHouse(t), newHouseOf(t, "bob")
	away.worker("scout")
	record, err := away.node.RecordOf(t.Context(), away.person().Principal, "claude-code")
	require.NoError(t, err)
	_, err = home.node.Adopt(t.Context(), away.person().Principal, node.Adoption{Record: record})
	require.Error(t, err, "only this node's person adopts")

	ann := home.person()
	home.must(ann, "memory_group", map[string]any{"action": "create", "group": "team"})
	home.must(ann, "memory_write_warm", with(note("Retries need jitter"), map[string]any{"group": "team"}))
	forged := record
	forged.AgentID = schemas.EntityID("ab" + string(record.AgentID[2:]))
	_, err = home.node.Adopt(t.Context(), ann.Principal, node.Adoption{Record: forged})
	require.ErrorIs(t, err, schemas.ErrInvalid)
	for _, change := range []func(r *node.ForeignRecord){
		func(r *node.ForeignRecord) { r.AgentType = "" },
		func(r *node.ForeignRecord) { r.AgentType = "human" },
		func(r *node.ForeignRecord) { r.DisplayName = "" },
		func(r *node.ForeignRecord) { r.DisplayName = "a\x00b" },
		func(r *node.ForeignRecord) { r.DisplayName = strings.Repeat("x", 201) },
	} {
		odd := record
		change(&odd)
		_, err = home.node.Adopt(t.Context(), ann.Principal, node.Adoption{Record: odd})
		require.ErrorIs(t, err, schemas.ErrInvalid)
	}
	_, err = home.node.Adopt(t.Context(), ann.Principal,
		node.Adoption{Record: record, Name: "visitor", Groups: []string{"team"}})
	require.NoError(t, err)

	// It proves itself with the key that only its own node has.
	file, err := away.node.OpenIdentity(t.Context(), "")
	require.NoError(t, err)
	challenge, err := home.node.Challenge(t.Context(), file.EntityID)
	require.NoError(t, err)
	token, err := home.node.Token(t.Context(), challenge, file.Identity.Sign(challenge.SigningBytes()))
	require.NoError(t, err)
	p, err := home.node.Authenticate(t.Context(), token.Token.Reveal())
	require.NoError(t, err)
	visitor := Caller{Principal: p}
	found := home.must(visitor, "memory_search", map[string]any{"query": "jitter"})
	require.Contains(t, mustText(t, found), "Retries need jitter")
	proposed := home.must(visitor, "memory_write_warm", with(note("Trust me"), map[string]any{"group": "team"}))
	require.NotEmpty(t, proposed["proposal"], "at tier low a write to a group waits")
	require.Empty(t, home.must(ann, "memory_search", map[string]any{"query": "trust me"})["results"])
	home.must(visitor, "memory_write_warm", note("my own"))
}
