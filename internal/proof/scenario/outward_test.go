//go:build unix

package scenario

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/jetstream/jetstreamtest"
	"cordelia/internal/store"
	"cordelia/internal/store/storetest"
)

// Events of the groups that the settings name go out to a real NATS server: each once, in the
// order of its group, whatever is killed or away meanwhile; and nothing else does.
func TestEventsGoOutward(t *testing.T) {
	t.Run("one node with a file", func(t *testing.T) { goOutward(t, 1, "") })
	t.Run("two nodes with PostgreSQL", func(t *testing.T) {
		goOutward(t, 2, storetest.Database(t, storetest.Server(t), t.Name()))
	})
}

func goOutward(t *testing.T, nodes int, database string) {
	t.Helper()
	const secret = "the lantern is under the third stair"
	outside := jetstreamtest.New(t)
	m := newTeamAt(t, nodes, database)
	write := func(group string) error {
		args, err := json.Marshal(map[string]any{"type": "learning", "group": group, "data": map[string]any{
			"type": "insight", "content": fmt.Sprint(secret, " ", time.Now().UnixNano())}})
		if err != nil {
			return err
		}
		c, err := m.dial(m.Context(), "claude-code.key", 0)
		if err != nil {
			return err
		}
		answer, err := c.Call(m.Context(), "memory_write_warm", args)
		if err == nil && answer.Code != "" {
			err = fmt.Errorf("refused: %s", answer.Text)
		}
		return err
	}
	// What is written before the setting stays inside.
	for _, group := range []string{"harbour", "cellar", "quay.north"} {
		told(t, m.lead(0), "memory_group", map[string]any{"action": "create", "group": group})
		require.NoError(t, write(group))
	}
	before, quay := m.events("g/harbour"), len(m.events("g/quay.north"))
	for i := range m.nodes {
		m.nodes[i].Kill()
	}
	settings, err := json.Marshal(map[string]any{"nats": map[string]any{"url": outside.URL(),
		"credentials": outside.Credentials, "groups": []string{"harbour", "quay.north", "not-yet-made"}}})
	require.NoError(t, err)
	start := func(i int) {
		m.urls[i], err = m.nodes[i].Serve(t.Context())
		require.NoError(t, err)
	}
	for i, n := range m.nodes {
		require.NoError(t, os.WriteFile(filepath.Join(n.Home, "config.json"), settings, 0o600))
		start(i)
	}
	m.until("the first event is out", func() bool { // until then it may have been before the first look
		require.NoError(t, write("harbour"))
		return len(outside.Messages()) > 0
	})
	first := m.position("g/harbour", outside.Messages()[0].ID)

	written, failed := 0, 0
	for round := range 30 {
		switch round {
		case 8, 16:
			m.nodes[0].Kill() // kill -9, amid what it hands over
			start(0)
		case 12:
			outside.Stop()
		case 20:
			outside.Start()
		}
		for _, group := range []string{"harbour", "cellar", "quay.north"} {
			if write(group) != nil {
				failed++
				continue
			}
			written++
		}
	}
	t.Logf("%d written, %d refused", written, failed)
	require.Greater(t, written, 60)
	want := map[string][]string{"harbour": m.events("g/harbour")[first:], "quay=north": m.events("g/quay.north")[quay:]}
	got := map[string][]string{}
	m.until("all are out", func() bool {
		clear(got)
		for _, message := range outside.Messages() {
			group := strings.Split(message.Subject, ".")[1]
			got[group] = append(got[group], message.ID)
		}
		return len(got["harbour"]) >= len(want["harbour"]) && len(got["quay=north"]) >= len(want["quay=north"])
	})
	require.NotEmpty(t, before)
	require.NotContains(t, got["harbour"], before[0])
	require.Equal(t, want, got)
	for _, message := range outside.Messages() {
		var event struct {
			ID, Type, Source, Domain string
			Payload                  map[string]any
		}
		require.NoError(t, json.Unmarshal(message.Body, &event))
		require.Equal(t, message.ID, event.ID)
		require.True(t, strings.HasSuffix(message.Subject, "."+event.Type))
		require.NotEmpty(t, event.Payload["item_id"])
		require.False(t, strings.Contains(string(message.Body), "lantern"), "words of a memory")
		require.NotEqual(t, "cellar", event.Domain)
	}
}

// A group whose events NATS refuses waits, and holds up no other; once they are taken they go out
// in their order.
func TestARefusedGroupHoldsUpNoOther(t *testing.T) {
	outside := jetstreamtest.New(t)
	outside.Takes("cordelia.quay.>")
	m := newTeamAt(t, 1, "")
	n := m.nodes[0]
	write := func(group string) {
		told(t, m.lead(0), "memory_write_warm", map[string]any{"type": "learning", "group": group,
			"data": map[string]any{"type": "insight", "content": fmt.Sprint("crane ", time.Now().UnixNano())}})
	}
	for _, group := range []string{"harbour", "quay"} {
		told(t, m.lead(0), "memory_group", map[string]any{"action": "create", "group": group})
	}
	runs(t, n, "config", "set", "nats", `{"url":"`+outside.URL()+`","credentials":"`+outside.Credentials+
		`","groups":["harbour","quay"]}`)
	require.Contains(t, runs(t, n, "doctor"), "lets this node in")
	n.Kill()
	outside.Stop()
	require.Contains(t, runs(t, n, "doctor"), "NATS cannot be reached")
	outside.Start()
	var err error
	m.urls[0], err = n.Serve(t.Context())
	require.NoError(t, err)
	count := func(group string) (found int) {
		for _, message := range outside.Messages() {
			if strings.HasPrefix(message.Subject, "cordelia."+group+".") {
				found++
			}
		}
		return found
	}
	m.until("the quay's first is out", func() bool {
		write("harbour")
		write("quay")
		return count("quay") > 0
	})
	require.Zero(t, count("harbour"))
	outside.Takes("cordelia.>")
	last := func() string { events := m.events("g/harbour"); return events[len(events)-1] }()
	m.until("the harbour's are out", func() bool {
		messages := outside.Messages()
		return slices.ContainsFunc(messages, func(one jetstreamtest.Message) bool { return one.ID == last })
	})
	var harbour []string
	for _, message := range outside.Messages() {
		if strings.HasPrefix(message.Subject, "cordelia.harbour.") {
			harbour = append(harbour, message.ID)
		}
	}
	require.Equal(t, m.events("g/harbour")[m.position("g/harbour", harbour[0]):], harbour)
}

// until waits for what must become so.
func (m *team) until(what string, is func() bool) {
	m.Helper()
	for limit := time.Now().Add(3 * time.Minute); !is(); time.Sleep(200 * time.Millisecond) {
		require.True(m, time.Now().Before(limit), what)
	}
}

// events are the ids of a stream, in its order.
func (m *team) events(stream string) (ids []string) {
	m.Helper()
	o := store.Options{URL: m.database}
	if m.database == "" {
		o.Path = m.nodes[0].Database()
	}
	s, err := store.Open(m.Context(), o)
	require.NoError(m, err)
	defer s.Close() //nolint:errcheck // only read
	require.NoError(m, s.Read(m.Context(), func(tx *store.Tx) error {
		rows, err := tx.Query(`SELECT id FROM events WHERE stream = ? ORDER BY seq`, stream)
		ids, err = store.Collect(rows, err, store.Column[string])
		return err
	}))
	return ids
}

// position is where an event stands in its stream.
func (m *team) position(stream, id string) int {
	m.Helper()
	for i, e := range m.events(stream) {
		if e == id {
			return i
		}
	}
	require.Fail(m, "no such event", id)
	return -1
}
