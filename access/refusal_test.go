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
		"suspended":    {worker, schemas.Suspended, ask, `the parent or the user can resume it: agent_lifecycle {"agent": "work", "action": "resume"}`},
		"deactivated":  {worker, schemas.Deactivated, ask, `the parent or the user can reactivate it: agent_lifecycle {"agent": "work", "action": "reactivate"}`},
		"removed":      {worker, schemas.Removed, ask, `the parent can register a new one with agent_register`},
		"expired":      {worker, schemas.Registered, ask, `the parent can give it more time, counted from its registration: agent_capabilities {"agent": "work", "capabilities": {"ttl_seconds": 86400}}`},
		"above it":     {lead, schemas.Suspended, ask, `ask the user: agent_list shows which one, and why`},
		"without tool": {worker, schemas.Active, access.Op{Tool: "trust_assess", Effect: access.Write}, `the parent can add it: agent_capabilities {"agent": "work", "tools": ["+trust_assess"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			n.sql(`UPDATE entities SET capabilities = json_insert(capabilities, '$.tools[#]', 'trust_assess') WHERE id = ?`, lead)
			n.status(c.who, c.is)
			if name == "expired" {
				n.sql(`UPDATE entities SET expires_at = 1 WHERE id = ?`, worker)
			}
			err := n.a.Do(t.Context(), as(worker), c.op, func(access.Grant) error { return nil })
			var refused *schemas.Error
			require.ErrorAs(t, err, &refused)
			require.Equal(t, schemas.CodeDenied, refused.Code)
			require.Equal(t, c.hint, refused.Hint)
		})
	}
}
