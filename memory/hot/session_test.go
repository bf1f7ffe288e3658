package hot

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

func (n *node) start(id schemas.EntityID, client string) (s Session, err error) {
	err = n.do(id, access.Write, func(g access.Grant) error {
		s, err = StartSession(g, id, client, n.view)
		return err
	})
	return s, err
}

func (n *node) mustStart(id schemas.EntityID, client string) Session {
	n.t.Helper()
	s, err := n.start(id, client)
	require.NoError(n.t, err)
	return s
}

func (n *node) checkpoint(id schemas.EntityID, client string, note Note) (s Session, err error) {
	err = n.do(id, access.Write, func(g access.Grant) error {
		s, err = CheckpointSession(g, id, client, note, n.view)
		return err
	})
	return s, err
}

func (n *node) end(id schemas.EntityID, client string, note Note) (s Session, err error) {
	err = n.do(id, access.Write, func(g access.Grant) error {
		s, err = EndSession(g, id, client, note, n.view)
		return err
	})
	return s, err
}

func (n *node) mustEnd(id schemas.EntityID, client string, note Note) Session {
	n.t.Helper()
	s, err := n.end(id, client, note)
	require.NoError(n.t, err)
	return s
}

func TestSession(t *testing.T) {
	n := newNode(t)
	first := n.mustStart(workerAgent, "s1")
	require.False(t, first.Resumed)
	require.EqualValues(t, 0, first.Chain.SessionCount)
	require.Equal(t, "2026-01-31T16:00:00.123457Z", first.Doc.text("ephemeral", "current_session_start"))

	n.clock.Move(time.Minute)
	audited := n.audited()
	again := n.mustStart(workerAgent, "s1")
	require.True(t, again.Resumed)
	require.Equal(t, first.Doc, again.Doc, "resuming changes nothing")
	require.Equal(t, audited, n.audited())

	n.clock.Move(time.Minute)
	half, err := n.checkpoint(workerAgent, "s1", Note{Summary: "half way", Focus: "tests",
		OpenThreads: []string{"a", "b"}})
	require.NoError(t, err)
	require.Equal(t, first.Chain, half.Chain)
	require.Equal(t, "tests", half.Doc.text("active", "focus"))

	n.clock.Move(time.Minute)
	end := n.mustEnd(workerAgent, "s1", Note{Summary: "all done"})
	require.EqualValues(t, 1, end.Chain.SessionCount)
	require.Equal(t, first.Chain.ChainHash, end.Chain.PreviousHash)
	require.NotEqual(t, first.Chain.ChainHash, end.Chain.ChainHash)
	require.Equal(t, "all done", end.Doc.text("ephemeral", "last_summary"))
	require.Equal(t, []string{"a", "b"}, end.Doc.texts("ephemeral", "open_threads"), "absent stays")
	require.Equal(t, "2026-01-31T16:03:00.123456Z", end.Doc.text("ephemeral", "last_session_end"))
	require.Empty(t, end.Doc.text("ephemeral", "current_session_start"))
	require.Equal(t, end.Doc.UpdatedAt, end.Doc.text("ephemeral", "last_session_end"))

	second := n.mustStart(workerAgent, "s2")
	require.Equal(t, end.Chain, second.Chain)
	require.Empty(t, second.Note)
	require.Contains(t, second.Doc.Digest(), "Last session: all done")
	closed := n.mustEnd(workerAgent, "s2", Note{OpenThreads: []string{}})
	require.Equal(t, []any{}, holder(closed.Doc.Context, "ephemeral")["open_threads"], "empty clears")
}

func TestSessionsOfAgentsAreIndependent(t *testing.T) {
	n := newNode(t)
	n.mustStart(workerAgent, "s")
	n.mustEnd(workerAgent, "s", Note{Summary: "mine"})
	require.EqualValues(t, 0, n.mustStart(strangerAgent, "s").Chain.SessionCount)
	require.Empty(t, n.read(strangerAgent).text("ephemeral", "last_summary"))
}

func TestAnotherClientsSessionIsAbandoned(t *testing.T) {
	n := newNode(t)
	n.mustStart(workerAgent, "s1")
	_, err := n.checkpoint(workerAgent, "s1", Note{Summary: "kept"})
	require.NoError(t, err)
	second := n.mustStart(workerAgent, "s2")
	require.Contains(t, second.Note, "abandoned")
	require.EqualValues(t, 1, second.Chain.SessionCount)
	require.Equal(t, "kept", second.Doc.text("ephemeral", "last_summary"))
	_, err = n.end(workerAgent, "s1", Note{Summary: "late"})
	require.ErrorIs(t, err, schemas.ErrConflict)
	_, err = n.checkpoint(workerAgent, "s1", Note{Summary: "late"})
	require.ErrorIs(t, err, schemas.ErrConflict)
	n.mustEnd(workerAgent, "s2", Note{})
	_, err = n.end(workerAgent, "s2", Note{})
	require.ErrorIs(t, err, schemas.ErrConflict)
	require.ErrorContains(t, err, `memory_session {"action": "start"}`)
	require.NoError(t, n.verify(workerAgent))
	_, err = n.start(workerAgent, strings.Repeat("x", sessionNameLimit+1))
	require.ErrorIs(t, err, schemas.ErrInvalid)
}

func TestDigest(t *testing.T) {
	n := newNode(t)
	n.write(workerAgent, Replace, `{
		"identity":{"name":"Ada","roles":["engineer","reviewer"],"style":["terse"]},
		"active":{"project":"cordelia","focus":null,"blockers":["ci"],"next":["ship","rest"],"notes":"n"},
		"ephemeral":{"last_summary":"wrote\nIgnore this line","open_threads":["one \u202eevil\u0007","two"]},
		"agent":{"task":{"goal":"L1","progress":0.6,"findings":["it works"]}}
	}`)
	require.Equal(t, strings.Join([]string{
		"Name: Ada; engineer; reviewer",
		"Task: L1 (60 % done)",
		"Project: cordelia",
		"Last session: wrote Ignore this line",
		"Open threads: one evil; two",
		"Blockers: ci",
		"Next: ship; rest",
		"Style: terse",
		"Findings: it works",
		"Notes: n",
	}, "\n"), n.read(workerAgent).Digest())

	long := `"` + strings.Repeat("é€😀", 900) + `"`
	d := n.write(workerAgent, Patch, `{"identity":{"name":`+long+`,"style":[`+long+`]},"active":{"project":`+long+
		`,"focus":`+long+`,"blockers":[`+long+`],"next":[`+long+`]},"ephemeral":{"last_summary":`+long+`}}`)
	digest := d.Digest()
	require.LessOrEqual(t, len(digest), digestLimit)
	require.Greater(t, len(digest), digestLimit-digestLine)
	require.NotContains(t, digest, "\ufffd")
	require.Equal(t, strings.ToValidUTF8(digest, "?"), digest)
	require.Empty(t, Doc{}.Digest())
}
