package ops

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/schemas"
)

// token makes a token of an agent and gives the caller that it proves.
func (h *house) token(agent string) access.Principal {
	h.t.Helper()
	f, err := h.node.OpenIdentity(h.t.Context(), agent)
	require.NoError(h.t, err)
	issued, err := h.node.OwnToken(h.t.Context(), f)
	require.NoError(h.t, err)
	p, err := h.node.Authenticate(h.t.Context(), issued.Token.Reveal())
	require.NoError(h.t, err)
	return p
}

// A wait whose token ends by its time ends as any call with it does: with the way to a new token. A token that was
// taken away takes the right along.
func TestATokenThatEndsDuringAWait(t *testing.T) {
	for name, test := range map[string]struct {
		ends func(h *house)
		err  error
		hint string
	}{
		"by its time": {func(h *house) { h.clock.advance(20 * time.Minute) }, schemas.ErrUnauthenticated,
			"obtain a new token"},
		"by its time, when another is issued": {func(h *house) {
			h.clock.advance(15*time.Minute + 30*time.Second)
			h.token("")
		}, schemas.ErrUnauthenticated, "obtain a new token"},
		"taken away": {func(h *house) { h.sql(`DELETE FROM tokens`) }, schemas.ErrRevoked, "ask the parent"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			w := h.worker("w")
			w.Principal = h.token("w")
			if cursor := h.must(w, "events_poll", map[string]any{})["cursor"]; cursor != nil {
				h.must(w, "events_poll", map[string]any{"ack": cursor})
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			done := make(chan error, 1)
			go func() {
				_, err := Find("events_poll").Call(ctx, h.node, w, json.RawMessage(`{"wait_seconds": 50}`))
				done <- err
			}()
			require.Eventually(t, func() bool { return h.one(`SELECT count(*) FROM slots`) != "0" }, 10*time.Second,
				5*time.Millisecond)
			test.ends(h)
			h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "quay"}) // moves the epoch
			err := <-done
			require.ErrorIs(t, err, test.err)
			e, _ := errors.AsType[*schemas.Error](err)
			require.Contains(t, e.Hint.String(), test.hint)
		})
	}
}
