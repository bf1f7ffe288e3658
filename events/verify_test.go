package events

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
)

// remade makes the hashes of all entries from seq on anew, as who knows how they
// are made can.
func remade(tx *store.Tx, seq int64) error {
	var prev []byte
	if seq > 1 {
		if err := tx.QueryRow(leafOf, seq-1).Scan(&prev); err != nil {
			return err
		}
	}
	rows, err := tx.Query(auditFrom, seq, 1000)
	found, err := store.Collect(rows, err, scanLeaf)
	if err != nil {
		return err
	}
	for i, l := range found {
		as, _ := l.as(seq+int64(i), prev)
		if prev, err = as.hash(); err != nil {
			return err
		}
		if _, err := tx.Exec(`UPDATE audit SET seq = ?, leaf_hash = ? WHERE seq = ?`, as.Seq, prev, l.Seq); err != nil {
			return err
		}
	}
	return nil
}

// Every kind of tampering with a real file is found, named, and located; those
// that leave the record consistent with itself by the checkpoints.
func TestTamperingIsNamedAndLocated(t *testing.T) {
	f := newFixture(t)
	n := newNotary(t)
	for range 3 {
		f.grown(8)
		f.sign(n)
	}
	f.grown(3)
	const forget = `DELETE FROM audit_details WHERE seq >= 1;`
	for name, c := range map[string]struct {
		sql         string
		remake      int64 // from where the hashes are made anew; 0 = not
		kind        Tampering
		from, until int64
	}{
		"nothing":        {`SELECT 1`, 0, "", 0, 0},
		"details erased": {forget, 0, "", 0, 0},
		"changed":        {`UPDATE audit SET target = 'x' WHERE seq = 11`, 0, Changed, 11, 11},
		"time changed":   {`UPDATE audit SET at = at + 1 WHERE seq = 1`, 0, Changed, 1, 1},
		"last changed":   {`UPDATE audit SET target = 'x' WHERE seq = 27`, 0, Changed, 27, 27},
		"detail changed": {`UPDATE audit_details SET detail = '9' WHERE seq = 5`, 0, Changed, 5, 5},
		"first deleted":  {`DELETE FROM audit WHERE seq = 1`, 0, Deleted, 1, 1},
		"deleted":        {`DELETE FROM audit WHERE seq BETWEEN 5 AND 7`, 0, Deleted, 5, 7},
		"deleted, renumbered": {forget +
			`DELETE FROM audit WHERE seq IN (5, 6); UPDATE audit SET seq = seq - 2 WHERE seq > 6`, 0, Deleted, 5, 6},
		"swapped": {forget +
			`UPDATE audit SET seq = -9 WHERE seq = 9; UPDATE audit SET seq = 9 WHERE seq = 10; UPDATE audit
				SET seq = 10 WHERE seq = -9`, 0, Reordered, 9, 10},
		"swapped from afar": {forget +
			`UPDATE audit SET seq = -9 WHERE seq = 9; UPDATE audit SET seq = 9 WHERE seq = 15; UPDATE audit
				SET seq = 15 WHERE seq = -9`, 0, Reordered, 9, 15},
		"inserted": {forget +
			`UPDATE audit SET seq = -seq - 1 WHERE seq > 12; UPDATE audit SET seq = -seq
				WHERE seq < 0; INSERT INTO audit SELECT 13, at, actor, via, action, 'x', decision, detail_hash,
				leaf_hash FROM audit WHERE seq = 12`, 0, Inserted, 13, 13},
		"inserted before all": {`INSERT INTO audit SELECT -5, at, actor, via, action, target, decision, detail_hash,
			leaf_hash FROM audit WHERE seq = 20; INSERT INTO audit SELECT 0, at, actor, via, action, target, decision,
			detail_hash, leaf_hash FROM audit WHERE seq = 3`, 0, Inserted, -5, 0},
		"a copy of the first": {`INSERT INTO audit SELECT 0, at, actor, via, action, target, decision, detail_hash,
			leaf_hash FROM audit WHERE seq = 1`, 0, Inserted, 0, 0},
		"renumbered": {forget + `UPDATE audit SET seq = 0 WHERE seq = 1`, 0, Inserted, 0, 0},
		"cut off":    {`DELETE FROM audit WHERE seq > 20`, 0, Truncated, 21, 24},
		// what no checkpoint covers nothing shows
		"cut off, uncovered":   {`DELETE FROM audit WHERE seq > 24`, 0, "", 0, 0},
		"emptied":              {`DELETE FROM audit`, 0, Truncated, 1, 24},
		"changed, remade":      {forget + `UPDATE audit SET target = 'x' WHERE seq = 11`, 11, Rewritten, 9, 16},
		"deleted, remade":      {forget + `DELETE FROM audit WHERE seq = 20`, 20, Rewritten, 17, 24},
		"replaced":             {forget + `UPDATE audit SET at = at + 1`, 1, Replaced, 1, 8},
		"uncovered and remade": {forget + `UPDATE audit SET target = 'x' WHERE seq = 26`, 26, "", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var v Verified
			require.NoError(t, f.tampered(c.sql, func(tx *store.Tx) (err error) {
				if c.remake > 0 {
					require.NoError(t, remade(tx, c.remake))
				}
				v, err = Verify(tx, "", f.files(n))
				return err
			}))
			if c.kind == "" {
				require.True(t, v.Sound(), "%v", v.Damage)
				require.Equal(t, 3, v.Holding)
				require.Equal(t, int64(24), v.Covered)
				return
			}
			require.Len(t, v.Damage, 1, "%v", v.Damage)
			require.Equal(t, [3]any{c.kind, c.from, c.until},
				[3]any{v.Damage[0].Kind, v.Damage[0].From, v.Damage[0].Until}, v.Damage[0].What)
		})
	}
}

// Without a checkpoint elsewhere, a record cut at its end or made anew passes:
// what the documents say of it.
func TestWithoutCheckpointsTheEndIsNotProtected(t *testing.T) {
	f := newFixture(t)
	f.grown(5)
	for _, sql := range []string{`DELETE FROM audit WHERE seq > 3`,
		`UPDATE audit SET at = 7; DELETE FROM audit_details`} {
		require.NoError(t, f.tampered(sql, func(tx *store.Tx) error {
			require.NoError(t, remade(tx, 1))
			v, err := Verify(tx, "", nil)
			require.True(t, v.Sound())
			return err
		}))
	}
}

func TestTamperingWithCheckpoints(t *testing.T) {
	f := newFixture(t)
	n := newNotary(t)
	copied := n
	copied.Dir = t.TempDir()
	n.Copies = []string{copied.Dir}
	for range 4 {
		f.grown(2)
		f.sign(n)
	}
	path := filepath.Join(n.Dir, n.Name())
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	list := f.files(n)[0].List
	other := newNotary(t)
	foreign := newFixture(t)
	foreign.grown(5)
	foreign.sign(other)
	forged := list[2]
	forged.Edge.Append(forged.Leaf)
	forged.sign(other.Key)
	write := func(list ...Checkpoint) (raw []byte) {
		for _, c := range list {
			raw = append(append(raw, c.raw...), '\n')
		}
		return raw
	}
	for name, c := range map[string]struct {
		raw  []byte
		kind Tampering
	}{
		"as written":     {good, ""},
		"one removed":    {write(list[0], list[2], list[3]), Missing},
		"the last gone":  {write(list[:3]...), Missing}, // the copy has it
		"byte changed":   {bytes.Replace(good, []byte("\n4\n"), []byte("\n5\n"), 1), Forged},
		"by another key": {write(list[0], list[1], forged), Rewritten},
		"of another":     {write(foreign.files(other)[0].List...), Replaced},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(path, c.raw, 0o600))
			files := f.files(n)
			if c.kind == Missing || c.kind == "" {
				files = f.files(n, copied)
			}
			v := f.verified(files)
			if c.kind == "" {
				require.True(t, v.Sound(), "%v", v.Damage)
				return
			}
			kinds := []Tampering{}
			for _, d := range v.Damage {
				kinds = append(kinds, d.Kind)
			}
			require.Contains(t, kinds, c.kind, "%v", v.Damage)
		})
	}
}

// One removed where no copy has it shows in the one after it.
func TestRemovedCheckpointShowsWithoutACopy(t *testing.T) {
	f := newFixture(t)
	n := newNotary(t)
	for range 3 {
		f.grown(1)
		f.sign(n)
	}
	list := f.files(n)[0].List
	v := f.verified([]CheckpointFile{{Path: "x", List: []Checkpoint{list[0], list[2]}}})
	require.Equal(t, Missing, v.Damage[0].Kind)
	require.Len(t, v.Damage, 1)
}

// A node with a new key signs the same tree.
func TestVerifyAcrossANewNodeKey(t *testing.T) {
	f := newFixture(t)
	n, next := newNotary(t), newNotary(t)
	f.grown(5)
	f.sign(n)
	f.grown(5)
	f.sign(next)
	v := f.verified(f.files(n, next))
	require.True(t, v.Sound(), "%v", v.Damage)
	require.Equal(t, []string{string(n.Key.ID()), string(next.Key.ID())}, v.Nodes)
	require.Equal(t, 2, v.Holding)
}

// restored copies a database as it is and records a restore in it.
func (f *fixture) forked(at int64, left Checkpoint) *fixture {
	path := filepath.Join(f.TempDir(), "fork.db")
	_, err := f.store.Backup(f.Context(), path, nil)
	require.NoError(f, err)
	b := &fixture{T: f.T, path: path, clock: f.clock}
	b.store = b.open()
	b.record(Entry{Actor: "node", Action: RestoreAction, Target: RestoreTarget, Decision: "allowed",
		Detail: ForkDetail{ForkAt: at, AbandonedEntries: left.Size(), AbandonedLast: left.Leaf[:]}})
	return b
}

// Restores upon restores leave branches whose checkpoints stay explained; the
// same record without its restores is cut off.
func TestForksAreNoTampering(t *testing.T) {
	f := newFixture(t)
	n := newNotary(t)
	f.grown(6)
	f.sign(n)
	monday := filepath.Join(t.TempDir(), "monday.db")
	_, err := f.store.Backup(t.Context(), monday, nil)
	require.NoError(t, err)
	f.grown(9)
	first := f.sign(n)

	open := func(path string) *fixture {
		copied := filepath.Join(t.TempDir(), "copy.db")
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(copied, raw, 0o600))
		b := &fixture{T: t, path: copied, clock: f.clock}
		b.store = b.open()
		return b
	}
	second := open(monday).forked(6, first)
	c := second.sign(n)
	require.Equal(t, int64(6), c.Fork.From)
	second.grown(2)
	c = second.sign(n)
	third := open(monday).forked(6, c)
	third.sign(n)
	third.grown(1)

	v := third.verified(third.files(n))
	require.True(t, v.Sound(), "%v", v.Damage)
	require.Len(t, v.Forks, 1)
	require.Equal(t, []int{2, 3}, []int{v.Holding, v.Left},
		"the first and the last hold, those of both branches left do not")

	v = open(monday).verified(third.files(n))
	require.Equal(t, Truncated, v.Damage[0].Kind)
}

func TestProof(t *testing.T) {
	f := newFixture(t)
	n := newNotary(t)
	f.grown(5)
	older := f.sign(n)
	f.grown(8)
	newest := f.sign(n)
	f.grown(1)
	for seq := int64(1); seq <= 13; seq++ {
		f.read(func(tx *store.Tx) error {
			p, err := Prove(tx, seq, newest, &older)
			require.NoError(t, err)
			raw, err := json.MarshalIndent(p, "", " ")
			require.NoError(t, err)
			shown, err := CheckProof(raw)
			require.NoError(t, err)
			require.Equal(t, seq, shown.Seq)
			require.Equal(t, newest, shown.Checkpoint)
			require.Equal(t, &older, shown.Older)
			for what, change := range map[string]func(*Proof){
				"entry": func(p *Proof) {
					p.Entry = string(bytes.Replace([]byte(p.Entry), []byte("ann"),
						[]byte("bob"), 1))
				},
				"spaces":     func(p *Proof) { p.Entry += " " },
				"detail":     func(p *Proof) { p.Detail = "99" },
				"inclusion":  func(p *Proof) { p.Inclusion = p.Inclusion[1:] },
				"no hash":    func(p *Proof) { p.Inclusion[0] = base64.StdEncoding.EncodeToString([]byte("x")) },
				"checkpoint": func(p *Proof) { p.Checkpoint = older.Text() },
				"older":      func(p *Proof) { p.Older = newest.Text() },
				"no older":   func(p *Proof) { p.Older = "" },
			} {
				var other Proof
				require.NoError(t, json.Unmarshal(raw, &other))
				change(&other)
				changed, err := json.Marshal(other)
				require.NoError(t, err)
				_, err = CheckProof(changed)
				require.Error(t, err, "%s of %d", what, seq)
			}
			return nil
		})
	}
	f.read(func(tx *store.Tx) error {
		_, err := Prove(tx, 14, newest, nil)
		require.ErrorContains(t, err, "covers entries 1 to 13")
		return nil
	})
	require.NoError(t, f.tampered(`UPDATE audit SET leaf_hash = zeroblob(32) WHERE seq = 2`, func(tx *store.Tx) error {
		_, err := Prove(tx, 9, newest, nil)
		require.ErrorContains(t, err, "does not hold its newest checkpoint")
		return nil
	}))
}

func BenchmarkVerify(b *testing.B) {
	s, err := store.Open(b.Context(), store.Options{Path: filepath.Join(b.TempDir(), "n.db"),
		Durability: store.Relaxed})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.Close()) })
	require.NoError(b, s.Write(b.Context(), func(tx *store.Tx) error {
		for i := range 20_000 {
			if err := Record(tx, Entry{Actor: "ann", Action: "memory_write_warm", Target: fmt.Sprint(i),
				Decision: "allowed", Detail: i}); err != nil {
				return err
			}
		}
		return nil
	}))
	for b.Loop() {
		require.NoError(b, s.Read(b.Context(), func(tx *store.Tx) error {
			_, err := Verify(tx, "", nil)
			return err
		}))
	}
	b.ReportMetric(20_000, "entries/op")
}

func TestWhatARestoreLeft(t *testing.T) {
	for detail, said := range map[string]string{
		`{"fork_at":12,"abandoned_entries":15,"present":"carried_over"}`: "entries 13 to 15 were left",
		`{"fork_at":184,"abandoned_entries":184}`:                        "no entries were left",
		`{"fork_at":12,"abandoned_entries":0,"present":"unreadable"}`:    "which entries it left is not known",
		`{"fork_at":12,"abandoned_entries":0,"present":"absent"}`: "there was no database before, so no entries were " +
			"left",
	} {
		var d ForkDetail
		require.NoError(t, json.Unmarshal([]byte(detail), &d))
		require.Equal(t, said, d.Left())
	}
}
