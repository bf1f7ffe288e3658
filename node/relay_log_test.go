package node

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/access/accesstest"
	"cordelia/events"
	"cordelia/internal/jetstream"
	"cordelia/internal/jetstream/jetstreamtest"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// However often it tries, the relay logs once that events wait, once that some were removed
// meanwhile, and once that they go on.
func TestTheRelayLogsAFaultOnce(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	logged := func() (times []int) {
		for _, text := range []string{"they wait", "were removed", "they go on"} {
			times = append(times, strings.Count(log.String(), text))
		}
		return times
	}

	outside := jetstreamtest.New(t)
	to, err := jetstream.New(jetstream.Config{URL: outside.URL(), Credentials: outside.Credentials})
	require.NoError(t, err)
	t.Cleanup(to.Close)
	here := accesstest.New(t, access.Config{})
	here.Person("ann")
	here.Group("team", "ann")
	o := &watched{t, &Node{Store: here.Store, Auth: here.Auth}, here.Store}
	r := &relay{n: o.node, to: to, from: events.Outward{Groups: []schemas.GroupID{"team"}, Owner: "here"},
		lost: map[schemas.GroupID]int64{}, refused: map[schemas.GroupID]error{}}
	try := func() {
		for range 3 {
			r.say(r.all(t.Context(), true))
		}
	}
	try()
	for round := range 2 {
		log.Reset()
		outside.Stop()
		o.emit(events.GroupStream("team"), "first")
		o.emit(events.GroupStream("team"), "second")
		try()
		require.NoError(t, o.other.Write(t.Context(), func(tx *store.Tx) error { // as retention does
			if _, err := tx.Exec(`DELETE FROM events WHERE seq < (SELECT max(seq) FROM events)`); err != nil {
				return err
			}
			_, err := tx.Exec(`UPDATE streams SET removed = head - 1 WHERE name = 'g/team'`)
			return err
		}))
		try()
		require.Equal(t, []int{1, 1, 0}, logged(), log.String())
		outside.Start()
		for limit := time.Now().Add(time.Minute); len(outside.Messages()) <= round && time.Now().Before(limit); {
			time.Sleep(50 * time.Millisecond) // the client connects again by itself
			try()
		}
		try()
		require.Equal(t, []int{1, 1, 1}, logged(), log.String())
	}
}
