package store_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store/storetest"
)

// A node says each time that it loses the server that nothing wakes it now, and not each time that it then looks
// for it.
func TestANodeWarnsOfEachOutage(t *testing.T) {
	warned := make(chan string, 100)
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(writing(func(line string) {
		if strings.Contains(line, "polling until the database can be reached") {
			warned <- line
		}
	}), nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	s := openServer(t, t.Name())
	_, end := s.Watch()
	defer end()
	const listening = `SELECT pid::text FROM pg_stat_activity WHERE datname = current_database()
		AND query = 'LISTEN cordelia' AND state = 'idle'`
	for range 2 {
		for begun := time.Now(); len(lines(t, s, listening)) != 1; time.Sleep(patience / 1000) {
			require.Less(t, time.Since(begun), patience, "it does not listen")
		}
		storetest.Cut(t, storetest.Server(t), t.Name())
		select {
		case <-warned:
		case <-time.After(patience):
			require.FailNow(t, "it says nothing")
		}
	}
	require.Empty(t, warned)
}

// writing is a writer that hands on what it is given.
type writing func(string)

func (w writing) Write(p []byte) (int, error) {
	w(string(p))
	return len(p), nil
}
