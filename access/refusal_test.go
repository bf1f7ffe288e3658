package access_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

// A refusal names the call that ends it, with the agent's name where it is the agent's
// own limit; who is above it is not named.
func TestRefusalsSayWhatToDo(t *testing.T) {
	ask := access.Op{Tool: "memory_search", Effect: access.Read}
	for name, c := range map[string]struct {
		who  schemas.EntityID
		is   schemas.AgentStatus
		op   access.Op
		hint string
	}{
		"suspended": {worker, schemas.Suspended, ask,
			`the parent or the user can resume it: agent_lifecycle {"agent": "work", "action": "resume"}`},
		"deactivated": {worker, schemas.Deactivated, ask,
			`the parent or the user can reactivate it: agent_lifecycle {"agent": "work", "action": "reactivate"}`},
		"removed": {worker, schemas.Removed, ask, `the parent can register a new one with agent_register`},
		"expired": {worker, schemas.Registered, ask,
			`the parent or the user can reactivate it: agent_lifecycle {"agent": "work", "action": "reactivate"}`},
		"above it": {lead, schemas.Suspended, ask, `ask the user: agent_list shows which one, and why`},
		"ended above it": {lead, schemas.Deactivated, ask,
			`ask the user: agent_list {"include_ended": true} shows which one, and why`},
		"without tool": {worker, schemas.Active, access.Op{Tool: "trust_assess", Effect: access.Write},
			`the parent can add it: agent_capabilities {"agent": "work", "tools": ["+trust_assess"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			n.sql(`UPDATE entities SET capabilities = json_insert(capabilities, '$.tools[#]', 'trust_assess')
				WHERE id = ?`, lead)
			n.status(c.who, c.is)
			n.sql(`UPDATE entities SET status_by = 'ann', status_reason = 'looks odd' WHERE id = ?`, c.who)
			if name == "expired" {
				n.sql(`UPDATE entities SET expires_at = 1 WHERE id = ?`, worker)
			}
			err := n.a.Do(t.Context(), as(worker), c.op, func(access.Grant) error { return nil })
			var refused *schemas.Error
			require.ErrorAs(t, err, &refused)
			require.Equal(t, schemas.CodeDenied, refused.Code)
			require.Equal(t, c.hint, refused.Hint.String())
		})
	}
}

// A suspension by the node says why it is, until when, and when to call again; one by a
// person says their reason, and only to the agent itself.
func TestSuspensionsSayWhyAndUntilWhen(t *testing.T) {
	ask := access.Op{Tool: "memory_search", Effect: access.Read}
	n := newNode(t)
	refused := func(who schemas.EntityID, by, reason string) *schemas.Error {
		n.status(who, schemas.Suspended)
		n.sql(`UPDATE entities SET status_by = ?, status_reason = ?, status_at = unixepoch() * 1000000 WHERE id = ?`,
			by, reason, who)
		var e *schemas.Error
		require.ErrorAs(t, n.a.Do(t.Context(), as(worker), ask, func(access.Grant) error { return nil }), &e)
		n.status(who, schemas.Active)
		return e
	}
	e := refused(worker, "node", "error_limit")
	require.Regexp(t, `^this agent is suspended by the node until 20\d\d-.*Z, for \d+ more seconds: too many calls with wrong arguments within a minute$`, e.Msg)
	require.Regexp(t, `^wait \d+ seconds, then repeat the call; the suspension ends by itself; the user may end it at once: cordelia agent resume work$`, e.Hint.String())
	e = refused(lead, "node", "rate_limit")
	require.Regexp(t, `^an ancestor of this agent is suspended by the node until .*: too many refused calls within a minute$`, e.Msg)
	require.Regexp(t, `^wait \d+ seconds, then repeat the call; the suspension ends by itself$`, e.Hint.String())
	require.Equal(t, "this agent is suspended: looks odd; until its parent or the user resumes it",
		refused(worker, "ann", "looks odd").Msg)
	require.Equal(t, "an ancestor of this agent is suspended; until its parent or the user resumes it",
		refused(lead, "ann", "looks odd").Msg)
}

// Each fault past half of a limit doubles the wait, up to half a minute; a call that comes
// too early is refused before it does anything.
func TestCallersAreSlowedDown(t *testing.T) {
	n := newNode(t)
	ask := access.Op{Tool: "memory_search", Effect: access.Read}
	ran := 0
	call := func(who access.Principal, err error) error {
		return n.a.Do(t.Context(), who, ask, func(access.Grant) error { ran++; return err })
	}
	for range 30 {
		require.ErrorIs(t, call(as(worker), schemas.NotFoundf("x")), schemas.ErrNotFound)
	}
	before := ran
	var slow *schemas.Error
	require.ErrorAs(t, call(as(worker), nil), &slow)
	require.Equal(t, schemas.CodeBusy, slow.Code)
	require.Regexp(t, `a wait of [12] seconds`, slow.Expected)
	require.Equal(t, before, ran)
	require.ErrorIs(t, n.a.Failed(as(worker)), schemas.ErrBusy)
	require.NoError(t, call(as(lead), nil), "another's calls are its own")
}
