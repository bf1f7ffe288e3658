package hot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/memory/canonical"
	"cordelia/schemas"
)

func TestArchiveRestoreDelete(t *testing.T) {
	n := newNode(t)
	n.write(workerAgent, Replace, `{
		"identity":{"name":"Ada","orgs":[{"id":"seed-drill","name":"Seed Drill"}]},
		"active":{"project":"cordelia","focus":"L1","blockers":["ci"],"next":["ship"]},
		"ephemeral":{"last_summary":"wrote it","open_threads":["docs"]},
		"agent":{"task":{"goal":"build","progress":0.6,"findings":["it works"]},"working_memory":{"decisions":["use JCS",7]}}
	}`)
	n.clock.Move(time.Hour)
	archive := func(as schemas.EntityID) (r schemas.SessionRecord, err error) {
		err = n.routine(as, func(g access.Grant) error {
			r, err = Archive(g, workerAgent, "Ada", n.view)
			return err
		})
		return r, err
	}
	record, err := archive(leadAgent)
	require.NoError(t, err)
	require.Equal(t, schemas.SessionRecord{
		Type: "session", ID: "agent-archive-" + string(workerAgent) + "-20260131T170000.123456Z", Date: "2026-01-31",
		Focus: "Agent Ada final state",
		Highlights: []string{"Last session: wrote it", "Focus: L1", "Task: build (60 % done)", "Finding: it works",
			"Blocked by: ci", "Open: docs", "Next: ship"},
		Decisions:         []string{"use JCS"},
		EntitiesMentioned: []string{string(workerAgent), string(leadAgent), "cordelia", "seed-drill"},
	}, record)
	value, err := canonical.Plain(record)
	require.NoError(t, err)
	wrong, err := validate("session", value)
	require.NoError(t, err)
	require.Empty(t, wrong)

	n.clock.Move(time.Hour)
	again, err := archive(access.NodeEntity)
	require.NoError(t, err)
	require.Equal(t, record, again)

	_, err = n.tryWrite(workerAgent, Patch, `{"active":{"focus":"x"}}`, "")
	require.ErrorIs(t, err, schemas.ErrConflict)
	_, err = n.start(workerAgent, "s")
	require.ErrorIs(t, err, schemas.ErrConflict)
	read, err := n.tryRead(person, workerAgent)
	require.NoError(t, err)
	require.Contains(t, read.Warnings[0].String(), "archived since")

	restore := func(g access.Grant) error { return Restore(g, workerAgent) }
	require.NoError(t, n.routine(leadAgent, restore))
	require.Equal(t, "L1", n.write(workerAgent, Patch, `{}`).text("active", "focus"))
	require.NoError(t, n.verify(workerAgent))

	remove := func(g access.Grant) error { return Delete(g, workerAgent) }
	require.NoError(t, n.routine(access.NodeEntity, remove))
	_, err = n.tryRead(workerAgent, workerAgent)
	require.ErrorIs(t, err, schemas.ErrNotFound)
	require.ErrorIs(t, n.routine(leadAgent, restore), schemas.ErrNotFound)
	require.NoError(t, n.routine(access.NodeEntity, remove), "there may be none")
}

// routine runs f as part of a routine of the node in an operation of id.
func (n *node) routine(id schemas.EntityID, f func(access.Grant) error) error {
	return n.do(id, access.Write, func(g access.Grant) error { return g.Routine(func() error { return f(g) }) })
}

// The node's routines serve only the node and those above, and only as routines
// (INV-SOVEREIGN).
func TestLifecycleRoutinesAreFenced(t *testing.T) {
	n := newNode(t)
	routines := map[string]func(access.Grant) error{
		"archive": func(g access.Grant) error { _, err := Archive(g, workerAgent, "", View{}); return err },
		"restore": func(g access.Grant) error { return Restore(g, workerAgent) },
		"delete":  func(g access.Grant) error { return Delete(g, workerAgent) },
		"create":  func(g access.Grant) error { return Create(g, workerAgent) },
	}
	before := n.audited()
	for name, f := range routines {
		require.ErrorIs(t, n.routine(strangerAgent, f), schemas.ErrNotFound, name)
		if name != "create" {
			require.ErrorContains(t, n.do(leadAgent, access.Write, f), "INV-SOVEREIGN", name)
		}
	}
	require.ErrorIs(t, n.routine(leadAgent, routines["create"]), schemas.ErrConflict)
	require.NoError(t, n.routine(access.NodeEntity, routines["delete"]))
	require.ErrorContains(t, n.do(leadAgent, access.Write, routines["create"]), "INV-SOVEREIGN")
	require.NoError(t, n.routine(leadAgent, routines["create"]))
	require.Equal(t, before+2, n.audited())
}
