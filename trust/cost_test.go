package trust

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Asking for a tier costs a read nothing: scores are read with the chain, once
// for each set of rights.
func TestTiersAreReadOncePerEpoch(t *testing.T) {
	n := newNode(t)
	n.Group("plaza", ann, work)
	asked := 0
	n.Auth = access.New(n.Store, access.Config{Presence: 10 * 365 * 24 * time.Hour,
		TiersOf: func(tx *store.Tx, agent schemas.EntityID) ([]access.Tiering, error) {
			if agent == work {
				asked++
			}
			return TiersOf(tx, agent)
		}})
	read := func() {
		for _, g := range []schemas.GroupID{"plaza", "hidden", "absent"} {
			n.do(work, access.Read, func(gr access.Grant) error { //nolint:errcheck // what is asked is counted, not answered
				return gr.Need(access.Need{Kind: access.KindRead, Layer: schemas.L2, Visibility: schemas.Group,
					Group: g})
			})
		}
	}
	n.Group("hidden", ann)
	read()
	require.Equal(t, 1, asked)
	read()
	require.Equal(t, 1, asked)
	asked = 0
	n.bring(work, schemas.Low)
	require.Positive(t, asked, "a verdict that moves the tier is seen")
	asked = 0
	read()
	require.Zero(t, asked)
}
