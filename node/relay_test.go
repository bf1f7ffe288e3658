package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/node"
	"cordelia/schemas"
)

// Each group has subjects of its own, whatever its name holds.
func TestGroupsShareNoSubject(t *testing.T) {
	of := map[string]schemas.GroupID{}
	for _, g := range []schemas.GroupID{"quay.north", "quay_north", "quay-north", "quay", "quay.north.memory"} {
		require.NoError(t, schemas.CheckGroupID(string(g)))
		subject := node.Subject(g, schemas.EventMemoryWritten)
		require.Regexp(t, `^cordelia\.[^.*> ]+\.memory\.written$`, subject)
		require.Empty(t, of[subject], subject)
		of[subject] = g
	}
}
