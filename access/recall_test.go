package access_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/proof/soak"
	"cordelia/schemas"
)

// handClock shows the time it was set to.
type handClock struct{ at atomic.Int64 }

func (c *handClock) Now() time.Time { return time.UnixMicro(c.at.Load()) }

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// A door that remembers says of every call what one says that remembers nothing, while
// statuses, capabilities, keys, lifetimes and the clock change.
func TestADoorRemembersNothingThatCounts_INV_REVOKE(t *testing.T) {
	n, r := newNode(t), rand.New(rand.NewPCG(17, 4))
	clock := &handClock{}
	clock.at.Store(time.Now().UnixMicro())
	warm, st := n.door(clock)
	said := map[schemas.Code]int{}
	for i := range soak.Count(t, 1000, 20_000) {
		if r.IntN(4) == 0 {
			n.change(r, clock.at.Load())
		}
		if r.IntN(5) == 0 {
			clock.at.Add(r.Int64N(1_000_000) * pick[int64](r, 1, 1, 3000, -1))
		}
		p := access.Principal{Entity: pick(r, person, lead, worker, other, "nobody"), KeySeq: pick(r, 1, 1, 1, 1, 2),
			Method: pick(r, access.ByKey, access.ByKey, access.ByKey, access.ByHuman, access.ByToken, access.ByNode)}
		if p.Method == access.ByNode {
			p.Entity = access.NodeEntity
		}
		op := access.Op{Tool: pick(r, "memory_search", "memory_write_warm", "agent_list"), Effect: access.Write,
			Human: r.IntN(8) == 0,
			As:    pick(r, "", "", "", string(worker), string(p.Entity), "work"), InPerson: r.IntN(8) == 0}
		call := func(a *access.Authorizer) []any {
			var actor schemas.EntityID
			via, code, words := 0, schemas.Code(""), ""
			err := a.Do(t.Context(), p, op, func(g access.Grant) error {
				actor, via = g.Actor(),
					len(g.Via())
				return nil
			})
			if err != nil {
				code, words = schemas.CodeOf(err), err.Error()
			}
			return []any{code, words, actor, via}
		}
		want := call(access.New(st, access.Config{}))
		if got := call(warm); strings.Contains(want[1].(string), "no sign of life") {
			said["unattended"]++ // the other saw the parent call
		} else {
			require.Equal(t, want, got, "%d: %+v %+v", i, p, op)
		}
		said[want[0].(schemas.Code)]++
	}
	for _, code := range []schemas.Code{"", schemas.CodeDenied, schemas.CodeUnauthenticated, schemas.CodeNotFound,
		schemas.CodeBusy} {
		require.Positive(t, said[code], "%q of %v", code, said)
	}
}

// change is something that befalls one of the node's entities.
func (n *node) change(r *rand.Rand, now int64) {
	id := pick(r, person, lead, worker, other)
	capable := func(c schemas.Capabilities) string {
		raw, err := json.Marshal(c)
		require.NoError(n.t, err)
		return string(raw)
	}
	switch r.IntN(5) {
	case 0:
		n.status(id, pick(r, schemas.Active, schemas.Suspended, schemas.Registered, schemas.Deactivated))
	case 1:
		c := wide
		c.Autonomous, c.MaxParallelOps = pick(r, true, false), r.IntN(2)
		c.Tools = pick(r, wide.Tools, []string{"memory_search"}, []string{"memory_write_warm"})
		n.sql(`UPDATE entities SET capabilities = ? WHERE id = ? AND kind = 'agent'`, capable(c), id)
	case 2:
		n.sql(`UPDATE entities SET expires_at = ? WHERE id = ? AND kind = 'agent'`,
			now+r.Int64N(2_000_000)*pick[int64](r, 0, 1), id)
	case 3:
		n.sql(`UPDATE entities SET key_seq = ? WHERE id = ?`, 1+r.IntN(2), id)
	case 4:
		n.sql(`UPDATE entities SET status = 'active', key_seq = 1`)
		n.sql(`UPDATE entities SET capabilities = ?, expires_at = 0 WHERE kind = 'agent'`, capable(wide))
	}
}

// Presence is asked for at every call, also where no right moved since the last one.
func TestADoorAsksForPresenceAgain(t *testing.T) {
	n := newNode(t)
	alone := wide
	alone.Autonomous = false
	raw, err := json.Marshal(alone)
	require.NoError(t, err)
	clock := &handClock{}
	clock.at.Store(time.Now().UnixMicro())
	door, _ := n.door(clock)
	n.sql(`UPDATE entities SET capabilities = ? WHERE id = ?`, string(raw), worker)
	nothing := func(access.Grant) error { return nil }
	require.NoError(t, door.Do(t.Context(), as(lead), write, nothing), "its parent is there")
	require.NoError(t, door.Do(t.Context(), as(worker), write, nothing))
	clock.at.Add((31 * time.Minute).Microseconds())
	require.ErrorIs(t, door.Do(t.Context(), as(worker), write, nothing), schemas.ErrDenied)
}
