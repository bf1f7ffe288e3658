package access_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// node is one database with a person, a lead below them and a worker below the
// lead; a and b are the doors of two processes that share it.
type node struct {
	t      *testing.T
	path   string
	a, b   *access.Authorizer
	sa, sb *store.Store
}

const (
	person = schemas.EntityID("ann")
	lead   = schemas.EntityID("lead000000000000000000000000000000000000000000000000000000000000")
	worker = schemas.EntityID("work000000000000000000000000000000000000000000000000000000000000")
	other  = schemas.EntityID("othe000000000000000000000000000000000000000000000000000000000000")
)

var (
	full = schemas.MemoryScope{Layers: []schemas.Layer{schemas.L1, schemas.L2}, Groups: []string{"*"},
		Visibility: []schemas.Visibility{schemas.Private, schemas.Group}}
	wide = schemas.Capabilities{MemoryRead: full, MemoryWrite: full,
		Tools:          []string{"memory_write_warm", "memory_search", "events_poll"},
		MaxParallelOps: 8, Autonomous: true, MaxDelegationDepth: 2}
)

func newNode(t *testing.T) *node {
	n := &node{t: t, path: filepath.Join(t.TempDir(), "n.db")}
	n.a, n.sa = n.door(store.SystemClock{})
	n.b, n.sb = n.door(store.SystemClock{})
	n.insert(person, "", "human", schemas.Capabilities{})
	n.insert(lead, person, "agent", wide)
	n.insert(worker, lead, "agent", wide)
	n.insert(other, lead, "agent", wide)
	return n
}

// door opens what another process would.
func (n *node) door(c store.Clock) (*access.Authorizer, *store.Store) {
	s, err := store.Open(n.t.Context(), store.Options{Path: n.path, Clock: c})
	require.NoError(n.t, err)
	n.t.Cleanup(func() { require.NoError(n.t, s.Close()) })
	return access.New(s, access.Config{}), s
}

// moment is a clock, and what happens once when a transaction asks it for its time:
// when it has begun and not yet looked.
type moment func()

func (m *moment) Now() time.Time {
	if *m != nil {
		happens := *m
		*m = nil
		happens()
	}
	return time.Now()
}

// ahead is a clock that is so much ahead, in nanoseconds.
type ahead struct{ atomic.Int64 }

func (a *ahead) Now() time.Time { return time.Now().Add(time.Duration(a.Load())) }

func (n *node) insert(id, parent schemas.EntityID, kind string, caps schemas.Capabilities) {
	raw, err := json.Marshal(caps)
	require.NoError(n.t, err)
	n.sql(`INSERT INTO entities(id, kind, parent_id, root_id, depth, agent_type, name, display_name, public_key,
		enc_public_key, enc_binding,
			capabilities, status, status_by, status_at, created_at)
		VALUES (?, ?, nullif(?, ''), 'ann', 0, CASE ? WHEN 'agent' THEN 'claude-code' END, substr(?, 1, 4), 'x', x'',
		x'', x'', ?, 'active', 'node', 0, 0)`,
		id, kind, parent, kind, id, string(raw))
}

// sql changes the database as another process would, and moves the epoch.
func (n *node) sql(query string, args ...any) {
	require.NoError(n.t, n.sa.Write(n.t.Context(), func(tx *store.Tx) error {
		if _, err := tx.Exec(query, args...); err != nil {
			return err
		}
		tx.Notify()
		return access.BumpEpoch(tx)
	}))
}

func (n *node) status(id schemas.EntityID, s schemas.AgentStatus) {
	n.sql(`UPDATE entities SET status = ? WHERE id = ?`, s, id)
}

func as(id schemas.EntityID) access.Principal {
	return access.Principal{Entity: id, Method: access.ByKey, KeySeq: 1}
}

var write = access.Op{Tool: "memory_write_warm", Effect: access.Write}

func mark(key string) func(access.Grant) error {
	return func(g access.Grant) error {
		_, err := g.Tx().Exec(`INSERT INTO node(name, value) VALUES (?, 'x')`, key)
		return err
	}
}

func (n *node) marked(key string) (found bool) {
	require.NoError(n.t, n.sa.Read(n.t.Context(), func(tx *store.Tx) error {
		return tx.QueryRow(`SELECT count(*) FROM node WHERE name = ?`, key).Scan(&found)
	}))
	return found
}

// inFlight lets who's write at door b be admitted, has change made first in the
// transaction the write then finds itself in, and returns how the write ended.
func (n *node) inFlight(who schemas.EntityID, key string, change func(*store.Tx) error) error {
	n.t.Helper()
	return n.inFlightOp(who, write, key, change)
}

// inFlightOp is inFlight for another operation than write.
func (n *node) inFlightOp(who schemas.EntityID, op access.Op, key string, change func(*store.Tx) error) error {
	n.t.Helper()
	return n.behind(n.sb, func(tx *store.Tx) error { return errors.Join(change(tx), access.BumpEpoch(tx)) },
		func() error { return n.b.Do(context.Background(), as(who), op, mark(key)) })
}

// behind has a write wait for its turn at st behind one that makes a change at its end, and returns how
// the one that waited ended.
func (n *node) behind(st *store.Store, change func(*store.Tx) error, write func() error) error {
	n.t.Helper()
	changing, goOn := make(chan struct{}), make(chan struct{})
	changed, wrote := make(chan error, 1), make(chan error, 1)
	go func() {
		changed <- st.Write(context.Background(), func(tx *store.Tx) error {
			close(changing)
			<-goOn
			return change(tx)
		})
	}()
	<-changing
	go func() { wrote <- write() }()
	waits := assert.Eventually(n.t, func() bool { return st.Backlog() == 1 }, 5*time.Second, time.Millisecond)
	close(goOn)
	require.NoError(n.t, <-changed)
	err := <-wrote
	require.True(n.t, waits, "it did not wait")
	return err
}

func setStatus(id schemas.EntityID, s schemas.AgentStatus) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		_, err := tx.Exec(`UPDATE entities SET status = ? WHERE id = ?`, s, id)
		return err
	}
}

// A name in as that means another agent when the turn of the write has come does not act as that
// one: the write waited in the place of the first. One that still means the same goes on.
func TestANameThatMeansAnotherWhileItWaitsIsRefused(t *testing.T) {
	n := newNode(t)
	named := access.Op{Tool: write.Tool, Effect: write.Effect, As: "work"}
	rename := func(id schemas.EntityID, name string) func(*store.Tx) error {
		return func(tx *store.Tx) error {
			_, err := tx.Exec(`UPDATE entities SET name = ? WHERE id = ?`, name, id)
			return err
		}
	}
	require.NoError(t, n.inFlightOp(lead, named, "same", rename(other, "peer")))
	require.True(t, n.marked("same"))
	err := n.inFlightOp(lead, named, "other", func(tx *store.Tx) error {
		return errors.Join(rename(worker, "gone")(tx), rename(other, "work")(tx))
	})
	require.ErrorIs(t, err, schemas.ErrConflict)
	require.ErrorContains(t, err, `"work" came to mean another agent`)
	require.False(t, n.marked("other"))
}

// The in-flight vectors: what a change of rights does to operations under way.
func TestInFlight_INV_REVOKE(t *testing.T) {
	t.Run("F01 a write admitted before the revocation is rolled back", func(t *testing.T) {
		n := newNode(t)
		err := n.inFlight(worker, "f01", setStatus(worker, schemas.Deactivated))
		require.ErrorIs(t, err, schemas.ErrRevoked)
		require.False(t, n.marked("f01"))
	})
	t.Run("F02 a write committed before the revocation stays", func(t *testing.T) {
		n := newNode(t)
		require.NoError(t, n.b.Do(t.Context(), as(worker), write, mark("f02")))
		n.status(worker, schemas.Deactivated)
		require.True(t, n.marked("f02"))
		err := n.b.Do(t.Context(), as(worker), write, mark("f02b"))
		require.ErrorIs(t, err, schemas.ErrDenied)
		require.NotErrorIs(t, err, schemas.ErrRevoked, "it did not wait for a turn")
	})
	t.Run("F03 the check covers the whole chain", func(t *testing.T) {
		n := newNode(t)
		err := n.inFlight(worker, "f03", setStatus(lead, schemas.Suspended))
		require.ErrorIs(t, err, schemas.ErrRevoked)
		require.False(t, n.marked("f03"))
	})
	t.Run("F04 a read is withheld when the right went meanwhile", func(t *testing.T) {
		n := newNode(t)
		read := 0
		err := n.b.Do(t.Context(), as(worker), access.Op{Tool: "memory_search", Effect: access.Read},
			func(g access.Grant) error {
				read++
				n.status(worker, schemas.Deactivated)
				return nil
			})
		require.ErrorIs(t, err, schemas.ErrRevoked)
		require.Equal(t, 1, read)
	})
	t.Run("a read that began before the revocation and looks after it is refused", func(t *testing.T) {
		n := newNode(t)
		var begun moment
		door, _ := n.door(&begun)
		search := access.Op{Tool: "memory_search", Effect: access.Read}
		require.NoError(t, door.Do(t.Context(), as(worker), search, func(access.Grant) error { return nil }))
		begun = func() { n.status(worker, schemas.Deactivated) }
		read := 0
		err := door.Do(t.Context(), as(worker), search, func(access.Grant) error { read++; return nil })
		require.ErrorIs(t, err, schemas.ErrDenied)
		require.Zero(t, read)
	})
	t.Run("nobody told of the revocation", func(t *testing.T) {
		for name, revoke := range map[string]func(n *node){
			"an older program": func(n *node) {
				require.NoError(t, n.sa.Write(t.Context(), func(tx *store.Tx) error {
					if err := setStatus(worker, schemas.Deactivated)(tx); err != nil {
						return err
					}
					_, err := tx.Exec(`UPDATE counters SET value = value + 1 WHERE name = 'epoch'`)
					return err
				}))
			},
			"the lock file was deleted": func(n *node) {
				require.NoError(t, os.Remove(n.path+".lock"))
				_, n.sa = n.door(store.SystemClock{})
				n.status(worker, schemas.Deactivated)
			},
		} {
			t.Run(name, func(t *testing.T) {
				n := newNode(t)
				require.NoError(t, n.b.Do(t.Context(), as(worker), write, mark("before")))
				revoke(n)
				for _, key := range []string{"after", "again"} {
					require.Error(t, n.b.Do(t.Context(), as(worker), write, mark(key)))
					require.False(t, n.marked(key))
				}
				search := access.Op{Tool: "memory_search", Effect: access.Read}
				require.Error(t, n.b.Do(t.Context(), as(worker), search, func(access.Grant) error { return nil }))
			})
		}
	})
	t.Run("F06 an unrelated change lets the write commit once", func(t *testing.T) {
		n := newNode(t)
		require.NoError(t, n.inFlight(worker, "f06", setStatus(other, schemas.Suspended)))
		require.True(t, n.marked("f06"))
	})
	t.Run("F07 a lower limit stops admissions, not what runs", func(t *testing.T) {
		n := newNode(t)
		op := access.Op{Tool: "memory_search", Effect: access.Read}
		running, finish := make(chan struct{}), make(chan struct{})
		errs := make(chan error, 2)
		for range 2 {
			go func() {
				errs <- n.b.Do(context.Background(), as(worker), op, func(access.Grant) error {
					running <- struct{}{}
					<-finish
					return nil
				})
			}()
			<-running
		}
		fewer := wide
		fewer.MaxParallelOps = 1
		raw, err := json.Marshal(fewer)
		require.NoError(t, err)
		n.sql(`UPDATE entities SET capabilities = ? WHERE id = ?`, string(raw), worker)
		require.ErrorIs(t, n.b.Do(t.Context(), as(worker), op, func(access.Grant) error { return nil }),
			schemas.ErrBusy)
		close(finish)
		require.NoError(t, <-errs)
		require.NoError(t, <-errs)
		require.NoError(t, n.b.Do(t.Context(), as(worker), op, func(access.Grant) error { return nil }))
	})
	t.Run("a token or a lifetime that ends while a write waits for its turn", func(t *testing.T) {
		end := time.Now().Add(time.Hour).UnixMicro()
		byToken := func(n *node) access.Principal {
			n.sql(`INSERT INTO tokens(hash, entity_id, key_seq, audience, issued_at, expires_at)
				VALUES (x'01', ?, 1, 'http', 0, ?)`, worker, end)
			return access.Principal{Entity: worker, Method: access.ByToken, KeySeq: 1, TokenHash: []byte{1}}
		}
		for name, test := range map[string]struct {
			begin  func(n *node) access.Principal
			change func(*store.Tx) error // beside the time
			err    error
			hint   string
		}{
			"token": {byToken, func(*store.Tx) error { return nil }, schemas.ErrUnauthenticated, "obtain a new token"},
			"token, as rights of others change": {byToken, access.BumpEpoch, schemas.ErrUnauthenticated,
				"obtain a new token"},
			"token that is taken away, too": {byToken, func(tx *store.Tx) error {
				_, err := tx.Exec(`DELETE FROM tokens`)
				return errors.Join(err, access.BumpEpoch(tx))
			}, schemas.ErrRevoked, "ask the parent"},
			"lifetime": {func(n *node) access.Principal {
				n.sql(`UPDATE entities SET expires_at = ? WHERE id = ?`, end, lead)
				return as(worker)
			}, func(*store.Tx) error { return nil }, schemas.ErrRevoked, "ask the parent"},
		} {
			n := newNode(t)
			p := test.begin(n)
			var clock ahead
			door, st := n.door(&clock)
			err := n.behind(st, func(tx *store.Tx) error { clock.Store(int64(time.Hour)); return test.change(tx) },
				func() error { return door.Do(context.Background(), p, write, mark("late")) })
			require.ErrorIs(t, err, test.err, name)
			refusal, ok := errors.AsType[*schemas.Error](err)
			require.True(t, ok, name)
			require.Contains(t, refusal.Hint.String(), test.hint, name)
			require.False(t, n.marked("late"), name)
		}
	})
	t.Run("F08 a token ends with its row, in every process", func(t *testing.T) {
		n := newNode(t)
		n.sql(`INSERT INTO tokens(hash, entity_id, key_seq, audience, issued_at, expires_at)
			VALUES (x'01', ?, 1, 'http', 0, ?)`, worker, time.Now().Add(time.Hour).UnixMicro())
		p := access.Principal{Entity: worker, Method: access.ByToken, KeySeq: 1, TokenHash: []byte{1}}
		require.NoError(t, n.b.Do(t.Context(), p, write, mark("f08")))
		n.sql(`DELETE FROM tokens`)
		require.ErrorIs(t, n.b.Do(t.Context(), p, write, mark("f08b")), schemas.ErrUnauthenticated)
	})
}

func TestZeroGrantOpensNothing_INV_GRANT(t *testing.T) {
	var g access.Grant
	_, err := g.Tx().Exec(`DELETE FROM entities`)
	require.Error(t, err)
	require.Error(t, g.Tx().QueryRow(`SELECT 1`).Scan(new(int)))
	require.ErrorIs(t, g.Need(access.Need{Kind: access.KindRead, Layer: schemas.L1}), access.ErrNoGrant)
	require.ErrorIs(t, g.Audit("x", nil), access.ErrNoGrant)
	_, err = g.Resolve("x")
	require.ErrorIs(t, err, access.ErrNoGrant)

	n := newNode(t)
	var kept access.Grant
	require.NoError(t, n.a.Do(t.Context(), as(worker), write, func(g access.Grant) error { kept = g; return nil }))
	_, err = kept.Tx().Exec(`DELETE FROM entities`)
	require.Error(t, err, "a grant is worthless after its operation")
	require.ErrorIs(t, kept.Need(access.Need{Kind: access.KindRead, Layer: schemas.L1, Owner: worker}),
		access.ErrNoGrant)
}

func TestActingAsSomeoneElse(t *testing.T) {
	n := newNode(t)
	var actor schemas.EntityID
	var via []schemas.EntityID
	note := func(g access.Grant) error { actor, via = g.Actor(), g.Via(); return nil }
	do := func(p schemas.EntityID, ref string) error {
		return n.a.Do(t.Context(), as(p), access.Op{Tool: "memory_write_warm", Effect: access.Write, As: ref}, note)
	}
	require.NoError(t, do(lead, "work"), "by name")
	require.Equal(t, worker, actor)
	require.Equal(t, []schemas.EntityID{lead}, via)
	require.NoError(t, do(lead, string(worker[:9])), "by id prefix")
	above := do(worker, "lead")
	require.ErrorIs(t, above, schemas.ErrNotFound, "never upwards")
	require.ErrorContains(t, above, "lead is not below you")
	require.ErrorIs(t, do(worker, string(other)), schemas.ErrNotFound, "never sideways")
	hidden, absent := do(worker, string(other)), do(worker, "nobody-of-this-name")
	require.Equal(t, access.NotKnown(string(other)), hidden)
	require.Equal(t, access.NotKnown("nobody-of-this-name"), absent)
	err := n.a.Do(t.Context(), as(lead), access.Op{Tool: "memory_write_warm", Effect: access.Write, As: "work",
		InPerson: true}, note)
	require.ErrorIs(t, err, schemas.ErrDenied)
}

func TestPresence(t *testing.T) {
	n := newNode(t)
	caps := wide
	caps.Autonomous = false
	raw, err := json.Marshal(caps)
	require.NoError(t, err)
	n.sql(`UPDATE entities SET capabilities = ? WHERE id = ?`, string(raw), worker)
	require.ErrorIs(t, n.a.Do(t.Context(), as(worker), write, mark("p1")), schemas.ErrDenied, "nobody was ever seen")
	n.sql(`UPDATE entities SET last_seen_at = ? WHERE id = ?`, time.Now().UnixMicro(), lead)
	require.NoError(t, n.a.Do(t.Context(), as(worker), write, mark("p2")), "the parent was")
	n.sql(`UPDATE entities SET last_seen_at = ? WHERE id = ?`, time.Now().Add(-31*time.Minute).UnixMicro(), lead)
	require.ErrorIs(t, n.a.Do(t.Context(), as(worker), write, mark("p3")), schemas.ErrDenied, "too long ago")
}

func TestCallsThatFindNothingCountLikeRefusedOnes(t *testing.T) {
	n := newNode(t)
	for range 3 {
		_ = n.a.Do(t.Context(), as(worker), write, func(access.Grant) error { return schemas.NotFoundf("x") })
		_ = n.a.Do(t.Context(), as(worker), access.Op{Tool: "not_mine", Effect: access.Read},
			func(access.Grant) error { return nil })
	}
	n.a.Flush(t.Context())
	require.NoError(t, n.sa.Read(t.Context(), func(tx *store.Tx) error {
		var refused, tool int
		require.NoError(t, tx.QueryRow(`SELECT sum(refused) FROM call_counts WHERE entity_id = ?`,
			worker).Scan(&refused))
		require.Equal(t, 6, refused)
		require.NoError(t, tx.QueryRow(`SELECT sum(n) FROM denials WHERE reason = ?`,
			"tool:"+string(worker)).Scan(&tool))
		require.Equal(t, 3, tool)
		return nil
	}))
}

// A chain read by a transaction that is then undone must not serve under the
// epoch the next one moves to.
func TestRolledBackRightsAreNotCached(t *testing.T) {
	n := newNode(t)
	undone := schemas.Conflictf("undone")
	err := n.a.Do(t.Context(), as(lead), write, func(g access.Grant) error {
		if err := g.RightsChanged(); err != nil {
			return err
		}
		if _, err := g.ChainOf(worker); err != nil { // under the moved epoch
			return err
		}
		return undone
	})
	require.ErrorIs(t, err, undone)
	n.status(worker, schemas.Deactivated) // moves the epoch to the same number
	require.ErrorIs(t, n.a.Do(t.Context(), as(worker), write, mark("late")), schemas.ErrDenied)
}

func TestWaitsCountAcrossProcesses(t *testing.T) {
	n := newNode(t)
	caps := wide
	caps.MaxParallelOps = 1
	raw, err := json.Marshal(caps)
	require.NoError(t, err)
	n.sql(`UPDATE entities SET capabilities = ? WHERE id = ?`, string(raw), lead)
	op := access.Op{Tool: "events_poll", Effect: access.Read}
	require.NoError(t, n.a.Wait(t.Context(), as(worker), op, time.Second, func(ctx context.Context) error {
		err := n.b.Wait(ctx, as(other), op, time.Second, func(context.Context) error { return nil })
		require.ErrorIs(t, err, schemas.ErrBusy, "a sibling's wait in another process takes the parent's only slot")
		return nil
	}))
	require.NoError(t, n.b.Wait(t.Context(), as(other), op, time.Second, func(context.Context) error { return nil }),
		"it was given back")
}

// What a write reads of others' rights is kept for later decisions, but not if it has
// moved the rights itself: it may go on to change what it read.
func TestAWriteThatMovesRightsKeepsNone_INV_CHAIN(t *testing.T) {
	n := newNode(t)
	require.NoError(t, n.a.Do(t.Context(), as(lead), write, func(g access.Grant) error {
		moved := g.RightsChanged()
		_, err := g.ChainOf(worker)
		return errors.Join(moved, err, setStatus(worker, schemas.Deactivated)(g.Tx()))
	}))
	require.ErrorIs(t, n.a.Do(t.Context(), as(worker), write, mark("w")), schemas.ErrDenied)
	require.False(t, n.marked("w"))
	n.status(worker, schemas.Active)
	require.NoError(t, n.a.Do(t.Context(), as(lead), write, func(g access.Grant) error {
		_, err := g.ChainOf(worker)
		return err
	}))
	require.NoError(t, n.a.Do(t.Context(), as(worker), write, mark("w")))
	may := true
	require.NoError(t, n.a.Do(t.Context(), as(lead), write, func(g access.Grant) error {
		err := errors.Join(setStatus(worker, schemas.Deactivated)(g.Tx()), g.RightsChanged())
		if err == nil {
			may, err = g.Could(worker, []string{write.Tool})
		}
		return errors.Join(err, setStatus(worker, schemas.Active)(g.Tx()), g.RightsChanged())
	}))
	require.False(t, may, "the rights that it moved itself are read anew")
	n.status(worker, schemas.Suspended) // of which another process hears by the epoch
	require.ErrorIs(t, n.a.Do(t.Context(), as(worker), write, mark("w2")), schemas.ErrDenied)
}
