package scenario

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/drive"
	"cordelia/internal/proof/soak"
	"cordelia/roles"
)

const intake = `
workspace: intake
owner: %s
webhooks:
  crm: {domain: sales, signature: X-Sign, delivery: X-Id, type: kind, author: who, self: [our-bot],
    events: {lead: lead.created}, fields: {name: name}}
operators:
  desk: {triggers: {qualify: lead.created}, does: {intent: "qualify {payload.name}"}}
roles:
  - {role_id: desk, soul: You qualify leads., domains: [sales], operator_ids: [desk], authority: {autonomous: [qualify]}}
`

// source sends requests as a source of events does: each again until it is taken.
type source struct {
	t       testing.TB
	secret  []byte
	mu      sync.Mutex
	address string
	took    []time.Duration
}

// newSource applies the workspace and serves its webhook.
func newSource(t testing.TB, n *Node) *source {
	t.Helper()
	require.NoError(t, open(t, n, "").Close())
	out, _, _, err := n.Run(t.Context(), "role", "example", "triager")
	require.NoError(t, err)
	_, owner, _ := strings.Cut(out, "owner: ")
	owner, _, _ = strings.Cut(owner, "\n")
	file := filepath.Join(filepath.Dir(n.Home), "intake.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, intake, owner), 0o600))
	out, complaint, code, err := n.Run(t.Context(), "role", "apply", file, "--json")
	require.NoError(t, err)
	require.Zero(t, code, complaint)
	var plan roles.Plan
	require.NoError(t, json.Unmarshal([]byte(out), &plan))
	_, path, _ := strings.Cut(plan.Keys[0], ": ")
	secret, err := os.ReadFile(path)
	require.NoError(t, err)
	s := &source{t: t, secret: []byte(strings.TrimSpace(string(secret)))}
	s.serve(n)
	return s
}

func (s *source) serve(n *Node) {
	address, err := n.Serve(s.t.Context())
	require.NoError(s.t, err)
	s.mu.Lock()
	s.address = address
	s.mu.Unlock()
}

// post sends one request, and reports whether it was taken, now or before.
func (s *source) post(ctx context.Context, i int) bool {
	body := fmt.Appendf(nil, `{"kind":"lead","name":"lead %d"}`, i)
	mac := hmac.New(sha256.New, s.secret)
	mac.Write(body)
	s.mu.Lock()
	address := s.address
	s.mu.Unlock()
	begin := time.Now()
	status, _, err := drive.PostBytes(ctx, address+"/hooks/crm", body, map[string]string{"X-Id": fmt.Sprint(i),
		"X-Sign": hex.EncodeToString(mac.Sum(nil))})
	if err != nil || status != http.StatusAccepted && status != http.StatusOK {
		return false
	}
	s.mu.Lock()
	s.took = append(s.took, time.Since(begin))
	s.mu.Unlock()
	return true
}

// send delivers events from several connections, each again until it is taken.
func (s *source) send(from, to, connections int) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range connections {
		wg.Go(func() {
			for i := range next {
				for !s.post(s.t.Context(), i) && s.t.Context().Err() == nil {
					time.Sleep(20 * time.Millisecond)
				}
			}
		})
	}
	for i := from; i < to; i++ {
		next <- i
	}
	close(next)
	wg.Wait()
}

// INV-ROLE-DECIDED: no event is lost and none counts twice, while the server is killed again and
// again and each event is sent until it is answered, and all of them once more at the end.
func TestEventsUnderKills(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	s := newSource(t, n)
	events, kills := soak.Count(t, 300, 20_000), soak.Count(t, 3, 50)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.send(0, events, 4)
	}()
	random := rand.New(rand.NewPCG(3, 4))
	killed := 0
	for ; killed < kills; killed++ {
		select {
		case <-done:
		case <-time.After(time.Duration(200+random.IntN(400)) * time.Millisecond):
		}
		n.Kill()
		s.serve(n)
	}
	<-done
	s.send(0, events, 4) // the source repeats everything
	for query, want := range map[string]int{
		`SELECT count(*) FROM role_events`: events,
		`SELECT count(*) FROM role_events v WHERE NOT EXISTS (SELECT 1 FROM role_decisions d WHERE d.event = v.n)`: 0,
		`SELECT count(*) FROM work_items`:               events,
		`SELECT count(DISTINCT intent) FROM work_items`: events,
	} {
		require.Equal(t, want, count(t, openDB(t, n), query), query)
	}
	t.Logf("%d events, each twice or more, over %d kills: none lost, none doubled", events, killed)
}

// Events come in, are decided and are work, at the rate that a busy source sends.
func TestEventsAMinute(t *testing.T) {
	n := newNode(t)
	s := newSource(t, n)
	s.send(0, 20, 2) // it is warm
	s.took = nil
	events := soak.Count(t, 200, 10_000)
	begin := time.Now()
	s.send(20, 20+events, 4)
	rate := float64(events) / time.Since(begin).Minutes()
	slices.Sort(s.took)
	t.Logf("%d events: %.0f a minute, median %s, p99 %s", events, rate, s.took[len(s.took)/2],
		s.took[len(s.took)*99/100])
	require.Equal(t, 20+events, count(t, openDB(t, n), `SELECT count(*) FROM work_items`))
	require.Greater(t, rate, 1000.0, "a tenth of what a busy source sends in a minute")
	require.Less(t, s.took[len(s.took)*99/100], time.Second, "ten times what it may take")
}
