package events

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store"
)

// childDB names the database to a copy of the test binary that is to write to it.
const childDB = "EVENTS_TEST_CHILD_DB"

func TestMain(m *testing.M) {
	if path := os.Getenv(childDB); path != "" {
		if err := child(path, os.Stdin); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// child appends an event for each line it reads.
func child(path string, in io.Reader) error {
	s, err := store.Open(context.Background(), store.Options{Path: path})
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		if err := s.Write(context.Background(), func(tx *store.Tx) error {
			return appendItems(tx, GroupStream("g"), "bob", lines.Text())
		}); err != nil {
			return err
		}
	}
	return s.Close()
}

// Another process's event wakes a waiting reader within 100 ms.
func TestAnotherProcessWakesTheReader(t *testing.T) {
	f := newFixture(t)
	rung, stop := f.store.Watch()
	defer stop()
	m := mailbox("ann", "g")

	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childDB+"="+f.path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())

	var took []time.Duration
	for i := range 20 {
		item := fmt.Sprint(i)
		_, err := fmt.Fprintln(in, item)
		require.NoError(t, err)
		var b Batch
		for b = f.poll(m, 9); len(b.Events) == 0; b = f.poll(m, 9) {
			select {
			case <-rung:
			case <-time.After(10 * time.Second):
				require.FailNow(t, "nobody rang")
			}
		}
		require.Equal(t, []string{item}, items(b))
		at, err := time.Parse(time.RFC3339, b.Events[0].Timestamp)
		require.NoError(t, err)
		took = append(took, time.Since(at))
		f.ack(m, b.Cursor)
	}
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait())
	slices.Sort(took)
	t.Logf("from the event's time to its delivery: median %s, worst %s", took[len(took)/2], took[len(took)-1])
	// The promise is 100 ms; polling alone would take about that each time.
	require.Less(t, took[len(took)/2], 50*time.Millisecond)
}
