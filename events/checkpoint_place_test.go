package events

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
)

// Checkpoints of an earlier version name no place, and go on to count; so do those of a place
// that the record was moved away from. Those of a record that departed elsewhere do not.
func TestCheckpointsBelongToOnePlace(t *testing.T) {
	f := newFixture(t)
	old := newNotary(t)
	here, there := old, old
	here.Place, there.Place = "0a0a0a0a", "0b0b0b0b"
	at := func(place string, files []CheckpointFile) (v Verified) {
		f.read(func(tx *store.Tx) (err error) {
			v, err = Verify(tx, place, files)
			return err
		})
		return v
	}
	f.grown(5)
	f.sign(old)
	require.Equal(t, 1, at(here.Place, f.files(old)).Holding)
	f.clock.move(time.Second)
	f.grown(3)
	f.sign(here)

	drill := newFixture(t) // of other words, as a copy that went on has
	drill.clock.move(2 * time.Second)
	drill.grown(9)
	drill.sign(there)
	files := f.files(old, here, there)
	v := at(here.Place, files)
	require.True(t, v.Sound(), "%v", v.Damage)
	require.Equal(t, 2, v.Holding)
	require.Len(t, v.Notes, 1)
	require.False(t, at(AnyPlace, files).Sound(), "of which place the record is, is not known")
	moved := at("0c0c0c0c", f.files(old, here))
	require.Equal(t, 2, moved.Holding, "what was signed before a move counts")

	cut := func(last string, places []string, files []CheckpointFile) {
		require.NoError(t, f.tampered(`DELETE FROM audit_details WHERE seq > `+last+`; DELETE FROM audit WHERE seq > `+
			last, func(tx *store.Tx) error {
			for _, place := range places {
				v, err := Verify(tx, place, files)
				require.NoError(t, err)
				require.False(t, v.Sound(), "what was cut off after entry %s shows at %s", last, place)
			}
			return nil
		}))
	}
	cut("6", []string{here.Place}, files)
	cut("4", []string{here.Place, "0c0c0c0c"}, f.files(old)) // an earlier version's alone
}

// One database has many addresses: what was signed at one of them shows at the others what was
// cut off. A file that another key signed takes no checkpoints away.
func TestCheckpointsOfAllAddressesCount(t *testing.T) {
	f := newFixture(t)
	here := newNotary(t)
	pooled, moved, other := here, here, newNotary(t)
	here.Place, pooled.Place, moved.Place = "0a0a0a0a-dddddddd", "0b0b0b0b-dddddddd", "0c0c0c0c-eeeeeeee"
	other.Place = here.Place
	at := func(tx *store.Tx, place string, files []CheckpointFile) Verified {
		v, err := Verify(tx, place, files)
		require.NoError(t, err)
		return v
	}
	f.grown(2)
	f.sign(moved)
	forged := f.sign(other)
	f.clock.move(time.Second)
	f.grown(2)
	f.sign(here)
	f.clock.move(time.Second)
	f.grown(2)
	f.sign(pooled)
	files := f.files(here, pooled)
	f.read(func(tx *store.Tx) error {
		require.Equal(t, 2, at(tx, here.Place, files).Holding)
		require.Equal(t, 2, at(tx, pooled.Place, files).Holding)
		require.Equal(t, 1, at(tx, "0a0a0a0a-ffffffff", files).Holding, "made anew under the name")
		forged.At = 1
		forged.sign(other.Key)
		early := CheckpointFile{Path: other.Name(), List: []Checkpoint{forged}}
		require.Equal(t, 2, at(tx, here.Place, append(f.files(moved), early)).Holding)
		return nil
	})
	require.NoError(t, f.tampered(`DELETE FROM audit_details WHERE seq > 4; DELETE FROM audit WHERE seq > 4`,
		func(tx *store.Tx) error {
			require.False(t, at(tx, here.Place, files).Sound())
			return nil
		}))
}

// What another node signed counts in each folder that is named: else a record made up with a node key of its own
// would pass for another home's.
func TestCheckpointsOfAnotherNodeCount(t *testing.T) {
	f, madeUp := newFixture(t), newFixture(t)
	node, other := newNotary(t), newNotary(t)
	f.grown(3)
	f.sign(node)
	madeUp.grown(9)
	madeUp.sign(other)
	require.True(t, f.verified(f.files(node)).Sound())
	require.False(t, madeUp.verified(f.files(node, other)).Sound())
}
