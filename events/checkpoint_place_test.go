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
