package hot

import (
	"encoding/hex"
	"os"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/memory/canonical"
	"cordelia/schemas"
)

// The vectors were made by another program, in another language.
func TestChainVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/chain_vectors.json")
	require.NoError(t, err)
	var vectors struct {
		Cases []struct {
			Name         string           `json:"name"`
			EntityID     schemas.EntityID `json:"entity_id"`
			Document     string           `json:"document"`
			Canonical    string           `json:"canonical"`
			ContentHash  string           `json:"content_hash"`
			Genesis      string           `json:"genesis"`
			PreviousHash string           `json:"previous_hash"`
			SessionCount uint64           `json:"session_count"`
			ChainHash    string           `json:"chain_hash"`
		} `json:"cases"`
	}
	require.NoError(t, json.Unmarshal(text, &vectors))
	require.GreaterOrEqual(t, len(vectors.Cases), 6)
	for _, c := range vectors.Cases {
		t.Run(c.Name, func(t *testing.T) {
			doc := decoded(t, c.Document).(map[string]any)
			content, err := ContentHash(doc)
			require.NoError(t, err)
			require.Equal(t, c.ContentHash, content.String())
			require.Equal(t, decoded(t, c.Document), doc, "the document was changed")
			form, err := canonical.JSON([]byte(c.Canonical))
			require.NoError(t, err)
			require.Equal(t, c.Canonical, string(form))
			require.Equal(t, c.Genesis, Genesis(c.EntityID).String())
			var previous Hash
			_, err = hex.Decode(previous[:], []byte(c.PreviousHash))
			require.NoError(t, err)
			require.Equal(t, c.ChainHash, ChainHash(previous, c.SessionCount, content).String())
		})
	}
}

// Anyone who holds the context as read after a session's end can check it.
func TestChainIsVerifiableFromOutside(t *testing.T) {
	n := newNode(t)
	previous := Genesis(workerAgent)
	for i := uint64(1); i <= 3; i++ {
		n.mustStart(workerAgent, "s")
		n.write(workerAgent, Replace, `{"agent":{"working_memory":{"round":`+string('0'+rune(i))+`}}}`)
		end := n.mustEnd(workerAgent, "s", Note{Summary: "round"})
		content, err := ContentHash(n.read(workerAgent).Context)
		require.NoError(t, err)
		chain := ChainHash(previous, i, content)
		require.Equal(t, chain, end.Chain.ChainHash)
		require.Equal(t, previous, end.Chain.PreviousHash)
		require.EqualValues(t, i, end.Chain.SessionCount)
		previous = chain
	}
}

// The chain moves at a session's end, and at nothing else.
func TestOnlyASessionEndAdvancesTheChain(t *testing.T) {
	n := newNode(t)
	n.mustStart(workerAgent, "s")
	n.mustEnd(workerAgent, "s", Note{Summary: "one"})
	integrity := func() any { return holder(n.read(workerAgent).Context, "ephemeral")["integrity"] }
	before := integrity()
	n.write(workerAgent, Patch, `{"active":{"focus":"x"}}`)
	n.write(workerAgent, Replace, `{"active":{"focus":"y"}}`)
	n.mustStart(workerAgent, "t")
	_, err := n.checkpoint(workerAgent, "t", Note{Summary: "half", OpenThreads: []string{"a"}, Focus: "z"})
	require.NoError(t, err)
	require.Equal(t, before, integrity())
	n.mustEnd(workerAgent, "t", Note{})
	require.NotEqual(t, before, integrity())
}

// What was changed behind the node's back is an error, at the session's start
// and on demand, that says which and what to do: INV-L1-CHAIN.
func TestBrokenChain_INV_L1_CHAIN(t *testing.T) {
	for _, c := range []struct{ name, sql, says, hint string }{
		{"content", `UPDATE l1 SET doc = '{"active":{"focus":"evil"}}' WHERE entity_id = ?`, "changed outside the node",
			`{"operation": "replace", "data": {…}}`},
		{"content no longer JSON", `UPDATE l1 SET doc = 'x' WHERE entity_id = ?`, "changed outside the node",
			`{"operation": "replace", "data": {…}}`},
		{"chain hash", `UPDATE l1 SET chain_hash = zeroblob(32) WHERE entity_id = ?`, "session 2 does not follow",
			"cordelia restore"},
		{"previous hash", `UPDATE l1 SET previous_hash = zeroblob(32) WHERE entity_id = ?`, "session 2 does not follow",
			"cordelia restore"},
		{"content hash", `UPDATE l1 SET content_hash = zeroblob(32) WHERE entity_id = ?`, "session 2 does not follow",
			"cordelia restore"},
		{"count up", `UPDATE l1 SET session_count = 3 WHERE entity_id = ?`, "session 3 does not follow",
			"cordelia restore"},
		{"count to one", `UPDATE l1 SET session_count = 1 WHERE entity_id = ?`, "session 1 does not follow its genesis",
			"cordelia restore"},
		{"count to none", `UPDATE l1 SET session_count = 0 WHERE entity_id = ?`, "does not begin at its genesis",
			"cordelia restore"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := newNode(t)
			for range 2 {
				n.mustStart(workerAgent, "s")
				n.mustEnd(workerAgent, "s", Note{Summary: "x"})
			}
			require.NoError(t, n.verify(workerAgent))
			n.sql(c.sql, workerAgent)
			require.NoError(t, n.verify(strangerAgent))
			_, start := n.start(workerAgent, "s2")
			for _, err := range []error{n.verify(workerAgent), start} {
				require.ErrorIs(t, err, schemas.ErrConflict)
				require.ErrorContains(t, err, c.says)
				require.ErrorContains(t, err, c.hint)
			}
			require.NotEmpty(t, n.read(workerAgent).Warnings)
			_, err := n.tryWrite(workerAgent, Patch, `{"active":{"next":["x"]}}`, "")
			require.ErrorIs(t, err, schemas.ErrConflict, "a patch must not seal what it did not see")
		})
	}
}

// A replace says what is right, and the session can start again.
func TestReplaceRepairsContent(t *testing.T) {
	n := newNode(t)
	n.mustStart(workerAgent, "s")
	n.mustEnd(workerAgent, "s", Note{Summary: "x"})
	n.sql(`UPDATE l1 SET doc = '{"active":{"focus":"evil"}}' WHERE entity_id = ?`, workerAgent)
	n.write(workerAgent, Replace, `{"active":{"focus":"good"}}`)
	require.NoError(t, n.verify(workerAgent))
	n.mustStart(workerAgent, "s2")
}

func (n *node) verify(id schemas.EntityID) error {
	return n.do(id, access.Read, func(g access.Grant) error { return Verify(g, id) })
}
