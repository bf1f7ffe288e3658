package review

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/memory"
	"cordelia/memory/hot"
	"cordelia/schemas"
)

func TestCompareChains(t *testing.T) {
	here := hot.Chain{SessionCount: 7, ChainHash: hot.Hash{1}, PreviousHash: hot.Hash{2}}
	for _, tt := range []struct {
		sessions int64
		chain    hot.Hash
		want     schemas.Divergence
		apart    int64
	}{
		{7, hot.Hash{1}, schemas.ChainMatch, 0},
		{7, hot.Hash{3}, schemas.ChainFork, 0},
		{6, hot.Hash{2}, schemas.ChainFork, 1},
		{0, hot.Hash{1}, schemas.ChainFork, 7},
		{8, hot.Hash{1}, schemas.ChainGap, 1},
		{19, hot.Hash{4}, schemas.ChainGap, 12},
	} {
		got, apart := compare(here, tt.sessions, tt.chain)
		require.Equal(t, tt.want, got, "%+v", tt)
		require.Equal(t, tt.apart, apart, "%+v", tt)
	}
}

// What a difference keeps and takes away is the one text, what it keeps and adds
// the other.
func TestDifferenceReadsBack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func() (out []string) {
		for range random.IntN(9) {
			out = append(out, string(rune('a'+random.IntN(4))))
		}
		return out
	}
	changes := 0
	for range 2000 {
		before, after := text(), text()
		var one, other []string
		for _, l := range difference(before, after) {
			switch l.Op {
			case "-":
				one = append(one, l.Text)
			case "+":
				other = append(other, l.Text)
			case " ":
				one, other = append(one, l.Text), append(other, l.Text)
			}
			if l.Op != " " {
				changes++
			}
		}
		require.Equal(t, before, one)
		require.Equal(t, after, other)
	}
	require.Positive(t, changes)
	require.Equal(t, []Line{{" ", "a"}, {"-", "b"}, {"+", "x"}, {" ", "c"}},
		difference([]string{"a", "b", "c"}, []string{"a", "x", "c"}))
}

// Two long texts that share nothing are not compared cell by cell.
func TestDifferenceIsBounded(t *testing.T) {
	long := func(word string) (out []string) {
		for i := range 20_000 {
			out = append(out, fmt.Sprint(word, i))
		}
		return out
	}
	d := difference(long("a"), long("b"))
	require.Len(t, d, 40_000)
	require.Equal(t, []Line{{"-", "a0"}, {"+", "b0"}}, changed(d, 2))
}

func TestReadableLines(t *testing.T) {
	require.Equal(t, []string{"content: one", "      |: two", "tags: x", "tags: y", "type: insight"},
		readableLines(json.RawMessage(`{"type":"insight","tags":["x","y"],"content":"one\ntwo"}`)))
	require.Len(t, []rune(changed([]Line{{"+", strings.Repeat("é", 500)}}, 2)[0].Text), shownLine+1)
}

func TestPrepareNamesAllThatIsWrong(t *testing.T) {
	low := 0.2
	_, err := Prepare(Claim{SessionCount: -1, ChainHash: "x", Memories: []Memory{
		{Type: memory.LearningItem, Data: json.RawMessage(`{"type":"insight","content":"a"}`)},
		{Type: memory.LearningItem, Data: json.RawMessage(`{"type":"insight","content":"b"}`), Group: "g",
			Source: memory.FromUser},
		{Type: memory.LearningItem, Data: json.RawMessage(`{"type":"insight","content":"c"}`), Group: "g",
			Confidence: &low},
		{Type: memory.LearningItem, Data: json.RawMessage(`{"type":"insight","content":"d","validated":true}`),
			Group: "g"},
		{Type: memory.LearningItem, Data: json.RawMessage(`{"type":"insight","author":"ann"}`), Group: "g"},
	}}, "", nil)
	bad, ok := err.(*schemas.Error)
	require.True(t, ok, "%v", err)
	var paths []string
	for _, v := range bad.Violations {
		paths = append(paths, v.Path)
	}
	require.Subset(t, paths, []string{"/session_count", "/chain_hash", "/memories/0/group", "/memories/1/source",
		"/memories/2/confidence",
		"/memories/3/data/validated", "/memories/4/data/author", "/memories/4/data/content"})
}

func TestPrepareBounds(t *testing.T) {
	hash := strings.Repeat("0", 64)
	m := Memory{Type: memory.LearningItem, Data: json.RawMessage(`{"type":"insight","content":"a"}`), Group: "g"}
	many := make([]Memory, MaxMemories+1)
	for i := range many {
		many[i] = m
	}
	_, err := Prepare(Claim{ChainHash: hash, Memories: many}, "", nil)
	require.ErrorContains(t, err, "201 memories")
	_, err = Prepare(Claim{ChainHash: hash, Memories: many[1:]}, "", nil)
	require.NoError(t, err)
	large := m
	large.Data = json.RawMessage(`{"type":"insight","content":"` + strings.Repeat("a", 15_000) + `"}`)
	for i := range many {
		many[i] = large
	}
	_, err = Prepare(Claim{ChainHash: hash, Memories: many[:40]}, "", nil)
	require.ErrorContains(t, err, "bytes")
}

// Every statement of another return has other bytes.
func TestStatementCoversAll_INV_RETURN(t *testing.T) {
	claim := func(change func(*Claim)) schemas.Reintegration {
		c := Claim{SessionCount: 3, ChainHash: strings.Repeat("a", 64), Memories: []Memory{
			{Type: memory.LearningItem, Data: json.RawMessage(`{"type":"insight","content":"a"}`), Group: "g"}}}
		change(&c)
		b, err := Prepare(c, "", nil)
		require.NoError(t, err)
		return b.Statement(schemas.AuthChallenge{NodeID: "n", AgentID: "a", Purpose: schemas.PurposeReintegrate})
	}
	same := claim(func(*Claim) {})
	require.Equal(t, same, claim(func(c *Claim) {
		c.Memories[0].Data = json.RawMessage(
			`{ "content": "a", "type": "insight" }`)
	}))
	for name, change := range map[string]func(*Claim){
		"count":    func(c *Claim) { c.SessionCount++ },
		"chain":    func(c *Claim) { c.ChainHash = strings.Repeat("b", 64) },
		"target":   func(c *Claim) { c.Memories[0].Group = "h" },
		"text":     func(c *Claim) { c.Memories[0].Data = json.RawMessage(`{"type":"insight","content":"b"}`) },
		"source":   func(c *Claim) { c.Memories[0].Source = memory.FromTool },
		"one less": func(c *Claim) { c.Memories = nil },
	} {
		require.NotEqual(t, same.SigningBytes(), claim(change).SigningBytes(), name)
	}
}

// From every state, by every trigger, a review goes where the table says or nowhere.
func TestReviewEdges_INV_REVIEW_EDGE(t *testing.T) {
	st := newStore(t)
	sql := func(query string, args ...any) {
		require.NoError(t, st.Write(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(query, args...)
			return err
		}))
	}
	sql(`INSERT INTO entities(id, kind, root_id, depth, name, display_name, public_key, enc_public_key, enc_binding,
		status, status_by, status_at, created_at)
		VALUES ('ann', 'human', 'ann', 0, 'ann', 'Ann', x'00', x'00', x'00', 'active', 'node', 0, 0)`)
	sql(`INSERT INTO returns(id, agent, divergence, sessions, session_count, chain_hash, batch_hash, statement,
		signature, at)
		VALUES ('b', 'ann', 'match', 0, 0, x'00', x'00', x'00', x'00', 0)`)
	sql(insertReview, "r", "b", "item", "lab", []byte{1}, []byte{2}, false)
	state := func() (s schemas.ReviewState) {
		require.NoError(t, st.Read(t.Context(),
			func(tx *store.Tx) error { return tx.QueryRow(`SELECT state FROM reviews`).Scan(&s) }))
		return s
	}
	auth := access.New(st, access.Config{})
	by := schemas.EntityID("")
	move := func(r row, on schemas.Trigger) error {
		return auth.Do(t.Context(), access.Principal{Method: access.ByNode},
			access.Op{Tool: "review_decide", Effect: access.Write},
			func(g access.Grant) error { _, err := r.move(g, on, by, "", ""); return err })
	}
	moved, reached := 0, map[schemas.ReviewState]bool{schemas.ReviewPending: true}
	triggers := []schemas.Trigger{schemas.ReviewApprove, schemas.ReviewReject, schemas.ReviewMerge,
		schemas.ReviewWithdraw, schemas.ReviewExpire}
	for _, from := range schemas.ReviewStates() {
		for i := range 3 * len(triggers) {
			on := triggers[i/3]
			by = []schemas.EntityID{"ann", "bob", access.NodeEntity}[i%3]
			sql(`UPDATE reviews SET state = ?`, from)
			to, ok := schemas.NextReview(from, on, access.InReview(by, "ann"))
			err := move(row{id: "r", author: "ann", state: from}, on)
			if !ok {
				require.ErrorIs(t, err, schemas.ErrConflict, "%s from %s by %s", on, from, by)
				require.Equal(t, from, state())
				continue
			}
			require.NoError(t, err, "%s from %s", on, from)
			require.False(t, from.Final())
			require.Equal(t, to, state())
			reached[to] = true
			moved++
			// Who read it before another decided comes too late.
			require.ErrorIs(t, move(row{id: "r", author: "ann", state: from}, on), schemas.ErrConflict)
			require.Equal(t, to, state())
		}
	}
	require.Len(t, schemas.ReviewEdges(), moved)
	for _, s := range schemas.ReviewStates() {
		require.True(t, reached[s], s)
	}
}
