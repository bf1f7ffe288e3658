package events

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
	"cordelia/schemas"
)

func (f *fixture) verify() (n int64, last []byte, err error) {
	f.read(func(tx *store.Tx) error {
		n, last, err = VerifyAudit(tx)
		return nil
	})
	return n, last, err
}

func (f *fixture) record(entries ...Entry) {
	f.write(func(tx *store.Tx) error {
		for _, e := range entries {
			if err := Record(tx, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// recorded has five entries; the third has a detail, the fourth a via.
func recorded(t *testing.T) *fixture {
	f := newFixture(t)
	for i := range 5 {
		e := Entry{Actor: "ann", Action: "memory_write_warm", Target: fmt.Sprint("item-", i), Decision: "allowed"}
		switch i {
		case 0:
			e.Target = "\uFFFD" // what encoding makes of a byte that is not UTF-8
		case 2:
			e.Detail = map[string]any{"why": "<because>"}
		case 3:
			e.Via = []schemas.EntityID{"bob", "cat"}
		}
		f.record(e)
		f.clock.move(1e6)
	}
	return f
}

func TestAuditVerifies(t *testing.T) {
	f := newFixture(t)
	n, last, err := f.verify()
	require.NoError(t, err)
	require.Zero(t, n)
	require.Nil(t, last)

	f = recorded(t)
	n, last, err = f.verify()
	require.NoError(t, err)
	require.Equal(t, int64(5), n)
	f.record(Entry{Actor: "bob"})
	n, next, err := f.verify()
	require.NoError(t, err)
	require.Equal(t, int64(6), n)
	require.NotEqual(t, last, next)
}

// The first hash is fixed by the fields: a released record must stay verifiable.
func TestAuditLeafGolden(t *testing.T) {
	l := leaf{V: 1, Seq: 7, At: 1_700_000_000_000_000, Actor: "ann", Via: []schemas.EntityID{"bob"},
		Action: "memory_share",
		Target: "é<&>", Decision: "allowed", DetailHash: "aGFzaA==", Prev: "cHJldg=="}
	sum, err := l.hash()
	require.NoError(t, err)
	require.Equal(t, "7b5e7a5c764571c55d4edad4735a9c12c6cd82a1179a7be93beff549f919fa89", fmt.Sprintf("%x", sum))
}

func TestINV_AUDIT_TamperingIsFound(t *testing.T) {
	f := recorded(t)
	for name, c := range map[string]struct{ sql, want string }{
		"actor":          {`UPDATE audit SET actor = 'bob' WHERE seq = 3`, "entry 3 was changed"},
		"via":            {`UPDATE audit SET via = '["bob"]' WHERE seq = 4`, "entry 4 was changed"},
		"via, same list": {`UPDATE audit SET via = '["bob", "cat"]' WHERE seq = 4`, "entry 4 was changed"},
		"via, no list":   {`UPDATE audit SET via = 'x' WHERE seq = 4`, "entry 4 was changed"},
		"via, null":      {`UPDATE audit SET via = 'null' WHERE seq = 3`, "entry 3 was changed"},
		"action":         {`UPDATE audit SET action = 'memory_share' WHERE seq = 1`, "entry 1 was changed"},
		"target":         {`UPDATE audit SET target = 'item-9' WHERE seq = 5`, "entry 5 was changed"},
		"moved boundary": {`UPDATE audit SET action = 'memory_write_warmi', target = 'tem-2' WHERE seq = 3`,
			"entry 3 was changed"},
		"not UTF-8":      {`UPDATE audit SET target = cast(x'ff' AS TEXT) WHERE seq = 1`, "entry 1 was changed"},
		"decision":       {`UPDATE audit SET decision = 'denied' WHERE seq = 3`, "entry 3 was changed"},
		"time":           {`UPDATE audit SET at = at + 1 WHERE seq = 3`, "entry 3 was changed"},
		"detail hash":    {`UPDATE audit SET detail_hash = x'00' WHERE seq = 3`, "entry 3 was changed"},
		"leaf hash":      {`UPDATE audit SET leaf_hash = x'00' WHERE seq = 3`, "entry 3 was changed"},
		"first deleted":  {`DELETE FROM audit WHERE seq = 1`, "entry 1 is missing"},
		"middle deleted": {`DELETE FROM audit WHERE seq = 3`, "entry 3 is missing"},
		"renumbered": {`DELETE FROM audit WHERE seq = 3; UPDATE audit SET seq = seq - 1 WHERE seq > 3`,
			"entry 3 was changed"},
		"swapped": {`UPDATE audit SET seq = -2 WHERE seq = 2; UPDATE audit SET seq = 2
			WHERE seq = 3; UPDATE audit SET seq = 3 WHERE seq = -2`, "entry 2 was changed"},
		"inserted": {`UPDATE audit SET seq = 6 WHERE seq = 5; UPDATE audit SET seq = 5
			WHERE seq = 4; INSERT INTO audit SELECT 4, at, actor, via, action, target, decision, detail_hash,
			leaf_hash FROM audit WHERE seq = 3`, "entry 4 was changed"},
		"appended": {`INSERT INTO audit SELECT 6, at, actor, via, action, target, decision, detail_hash,
			leaf_hash FROM audit WHERE seq = 5`, "entry 6 was changed"},
		"detail": {`UPDATE audit_details SET detail = '{"why":"no"}' WHERE seq = 3`,
			"detail of audit entry 3 was changed"},
		"salt": {`UPDATE audit_details SET salt = zeroblob(16) WHERE seq = 3`,
			"detail of audit entry 3 was changed"},
		"detail into salt": {`UPDATE audit_details SET salt = cast(salt || substr(detail, 1, 1) AS BLOB),
			detail = substr(detail, 2) WHERE seq = 3`, "detail of audit entry 3 was changed"},
		"detail made up": {`INSERT INTO audit_details VALUES (2, zeroblob(16), '{}')`,
			"detail of audit entry 2 was changed"},
		"detail moved":  {`UPDATE audit_details SET seq = 2 WHERE seq = 3`, "detail of audit entry 2 was changed"},
		"detail erased": {`DELETE FROM audit_details WHERE seq = 3`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := f.tampered(c.sql, func(tx *store.Tx) error {
				_, _, err := VerifyAudit(tx)
				return err
			})
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}

// tampered runs fn after sql has changed the record behind its triggers, and
// undoes it all.
func (f *fixture) tampered(sql string, fn func(*store.Tx) error) (result error) {
	undo := errors.New("undo")
	require.ErrorIs(f, f.store.Write(f.Context(), func(tx *store.Tx) error {
		for _, q := range []string{`DROP TRIGGER audit_no_update`, `DROP TRIGGER audit_no_delete`, sql} {
			if _, err := tx.Exec(q); err != nil {
				return err
			}
		}
		result = fn(tx)
		return undo
	}), undo)
	return result
}

func TestAuditIsAppendOnly(t *testing.T) {
	f := recorded(t)
	for _, sql := range []string{`DELETE FROM audit WHERE seq = 3`, `UPDATE audit SET target = '' WHERE seq = 3`} {
		require.ErrorContains(t, f.store.Write(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(sql)
			return err
		}), "append-only")
	}
}

// The end is not protected by what comes after it: its hash must be kept elsewhere.
func TestAuditCutAtTheEndShowsInTheLastHash(t *testing.T) {
	f := recorded(t)
	n, last, err := f.verify()
	require.NoError(t, err)
	require.NoError(t, f.tampered(`DELETE FROM audit WHERE seq = 5`, func(tx *store.Tx) error {
		cut, other, err := VerifyAudit(tx)
		require.Equal(t, n-1, cut)
		require.NotEqual(t, last, other)
		return err
	}))
}

func TestINV_AUDIT_ChangeFailsWithItsRecord(t *testing.T) {
	f := newFixture(t)
	err := f.store.Write(t.Context(), func(tx *store.Tx) error {
		require.NoError(t, appendItems(tx, GroupStream("g"), "bob", "1"))
		return Record(tx, Entry{Actor: "bob", Detail: func() {}})
	})
	require.ErrorContains(t, err, "audit")
	require.Empty(t, f.poll(mailbox("ann", "g"), 9).Events)
	n, _, err := f.verify()
	require.NoError(t, err)
	require.Zero(t, n)
}

// What callers pass in must not make the record unverifiable, whatever it is.
func TestAuditTakesAnyText(t *testing.T) {
	f := newFixture(t)
	f.record(Entry{Actor: "\xff", Via: []schemas.EntityID{"a\xfe", "\u2028<>&"}, Action: "\x00\xfd", Target: "\xc3(",
		Decision: "ü", Detail: "\xff<\u2029"})
	n, _, err := f.verify()
	require.NoError(t, err)
	require.Equal(t, int64(1), n)
}

func TestAuditVerifiesAcrossPages(t *testing.T) {
	f := newFixture(t)
	f.record(make([]Entry, 1001)...)
	n, _, err := f.verify()
	require.NoError(t, err)
	require.Equal(t, int64(1001), n)
}

func BenchmarkRecord(b *testing.B) {
	s, err := store.Open(b.Context(), store.Options{Path: filepath.Join(b.TempDir(), "n.db"),
		Durability: store.Relaxed})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.Close()) })
	e := Entry{Actor: "ann", Via: []schemas.EntityID{"bob"}, Action: "memory_write_warm", Target: "item",
		Decision: "allowed"}
	for name, detail := range map[string]any{"plain": nil, "detail": map[string]string{"group": "g"}} {
		e.Detail = detail
		b.Run(name, func(b *testing.B) {
			require.NoError(b, s.Write(b.Context(), func(tx *store.Tx) error {
				for b.Loop() {
					if err := Record(tx, e); err != nil {
						return err
					}
				}
				return nil
			}))
		})
	}
}

// What is about an agent is what it did, itself or through another, and what was done to it.
func TestEntriesAboutAnAgent(t *testing.T) {
	f := newFixture(t)
	id := func(c string) schemas.EntityID { return schemas.EntityID(strings.Repeat(c, 64)) }
	bob, eve := id("b"), id("e")
	const wing, other schemas.EntityID = "russell_wing", "russell-wing" // an _ is no wildcard
	of := func(target string, actor schemas.EntityID, via []schemas.EntityID, detail any) Entry {
		return Entry{Actor: actor, Via: via, Action: "act", Target: target, Decision: "allowed", Detail: detail}
	}
	f.record(
		of("item/1", bob, nil, nil),
		of("item/2", eve, []schemas.EntityID{bob}, nil),
		of(string(bob), "ann", nil, map[string]any{"from": "active", "to": "suspended"}),
		of("l1/"+string(bob), "ann", nil, nil),
		of("group/team", "ann", nil, map[string]any{"member": bob, "role": "member"}),
		of("group/team", "ann", nil, map[string]any{"left": bob}),
		of("group/team", "ann", nil, map[string]any{"invited": bob}),
		of("group/staging", "ann", nil, map[string]any{"agent": bob}),
		of("item/3", eve, nil, map[string]any{"member": eve}),
		of("item/4", eve, []schemas.EntityID{other}, nil),
		of("l1/"+string(other), "ann", nil, nil),
		of("group/team", "ann", nil, map[string]any{"member": other}),
		of("group/team", "ann", nil, map[string]any{"left": other}),
		of("group/team", "ann", nil, map[string]any{"invited": other}),
		of("group/staging", "ann", nil, map[string]any{"agent": other}),
		of("l1/"+string(wing), "ann", nil, nil),
		of("x"+string(wing), "ann", nil, nil),
	)
	f.read(func(tx *store.Tx) error {
		for who, numbers := range map[schemas.EntityID][]int64{bob: {1, 2, 3, 4, 5, 6, 7, 8}, eve: {2, 9, 10},
			wing: {16}, other: {10, 11, 12, 13, 14, 15}, id("f"): nil} {
			list, err := AuditFilter{About: who}.After(tx, 0, 20)
			require.NoError(t, err)
			var found []int64
			for _, e := range list {
				found = append(found, e.Seq)
			}
			require.Equal(t, numbers, found, who)
		}
		return nil
	})
}
