package scenario

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/internal/proof/soak"
	"cordelia/internal/store"
)

// logImage is a node's database whose last transactions are all in its log.
type logImage struct {
	main, log []byte
	ends      []int                 // how long the log was after each answer
	answered  []func(*cutDB) string // what must be there from then on, "" if it is
	dir       string
}

// cutDB is what is left of the image.
type cutDB struct{ items, entities map[string]bool }

func makeLog(t *testing.T) *logImage {
	n := newInside(t)
	lead := n.caller("")
	n.must(lead, "memory_group", `{"action": "create", "group": "ledger"}`)
	require.NoError(t, n.Close()) // all of it goes into the file
	again := openInside(t, n.Home)
	lead = again.caller("")
	path := filepath.Join(string(n.Home), "cordelia.db")
	img := &logImage{dir: t.TempDir()}
	var err error
	img.main, err = os.ReadFile(path)
	require.NoError(t, err)
	note := func(there func(*cutDB) string) {
		fi, err := os.Stat(path + "-wal")
		require.NoError(t, err)
		img.ends = append(img.ends, int(fi.Size()))
		img.answered = append(img.answered, there)
	}
	item := func(id string) func(*cutDB) string {
		return func(c *cutDB) string {
			if c.items[id] {
				return ""
			}
			return "item " + id
		}
	}
	for i := range 8 {
		a := again.must(lead, "memory_write_warm", fmt.Sprintf(
			`{"type": "learning", "group": "ledger", "data": {"type": "insight", "content": "transaction %d is whole or absent %x"}}`, i, rand.Uint64()))
		note(item(at[string](t, a, "id")))
		a = again.must(lead, "agent_register", fmt.Sprintf(
			`{"agent_type": "swarm-worker", "display_name": "w", "name": "w%d", "groups": ["ledger"]}`, i))
		id := at[string](t, a, "agent_id")
		note(func(c *cutDB) string {
			if c.entities[id] {
				return ""
			}
			return "agent " + id
		})
		a = again.must(lead, "agent_deactivate", fmt.Sprintf(`{"agent": "w%d"}`, i))
		note(item(at[string](t, a, "archive_id")))
	}
	now, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, img.main, now, "everything since is in the log")
	img.log, err = os.ReadFile(path + "-wal")
	require.NoError(t, err)
	return img
}

// lost opens the image with another log, requires it whole, and lists what of
// the first answers is not there.
func (img *logImage) lost(t *testing.T, log []byte, answers int) (missing []string, items int64) {
	t.Helper()
	path := filepath.Join(img.dir, "n.db")
	for _, side := range []string{"", "-wal", "-shm"} {
		os.Remove(path + side) //nolint:errcheck // of the last round
	}
	require.NoError(t, os.WriteFile(path, img.main, 0o600))
	require.NoError(t, os.WriteFile(path+"-wal", log, 0o600))
	left := &cutDB{}
	items, _ = requireWhole(t, path, func(tx *store.Tx) (err error) {
		if left.items, err = ids(tx, `SELECT id FROM items`); err != nil {
			return err
		}
		left.entities, err = ids(tx, `SELECT id FROM entities`)
		return err
	})
	for _, there := range img.answered[:answers] {
		if what := there(left); what != "" {
			missing = append(missing, what)
		}
	}
	return missing, items
}

func ids(tx *store.Tx, query string) (map[string]bool, error) {
	rows, err := tx.Query(query)
	list, err := store.Collect(rows, err, store.Column[string])
	set := map[string]bool{}
	for _, id := range list {
		set[id] = true
	}
	return set, err
}

// before counts the answers that were given when the log had at most size bytes.
func (img *logImage) before(size int) (n int) {
	for n < len(img.ends) && img.ends[n] <= size {
		n++
	}
	return n
}

// A log that ends anywhere, as a power cut may leave it, holds every
// transaction as a whole or not at all: row, event and audit entry; and all
// that were answered before the cut.
func TestTornLog(t *testing.T) {
	img := makeLog(t)
	cuts := soak.Count(t, 60, 2500)
	states := map[int64]bool{}
	for i := range cuts {
		at := i * len(img.log) / (cuts - 1)
		missing, items := img.lost(t, img.log[:at], img.before(at))
		require.Empty(t, missing, "cut at %d", at)
		states[items] = true
	}
	require.Greater(t, len(states), 8, "the cuts lie between the transactions")
	t.Logf("%d cuts of a log of %d bytes with %d answers: 0 torn transactions, 0 answers lost, %d states seen",
		cuts, len(img.log), len(img.ends), len(states))
}

// A flipped bit in the log costs at most the transactions from there on.
func TestFlippedLog(t *testing.T) {
	const header, frame = 32, 24 + 4096 // bytes, https://sqlite.org/fileformat2.html#walformat
	img := makeLog(t)
	flips := soak.Count(t, 20, 300)
	random := rand.New(rand.NewPCG(7, 8))
	noticed := 0
	_, all := img.lost(t, img.log, len(img.ends))
	for range flips {
		at := random.IntN(len(img.log))
		log := append([]byte(nil), img.log...)
		log[at] ^= 1 << random.IntN(8)
		sound := 0
		if at >= header {
			sound = img.before(header + (at-header)/frame*frame)
		}
		missing, items := img.lost(t, log, sound)
		require.Empty(t, missing, "flip at %d", at)
		if items < all {
			noticed++
		}
	}
	require.NotZero(t, noticed, "no flip was noticed")
	t.Logf("%d flipped bits in a log of %d bytes: 0 torn transactions, 0 answers from before the flip lost; %d cost "+
		"later items",
		flips, len(img.log), noticed)
}
