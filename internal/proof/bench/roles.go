//go:build unix

package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"cordelia/roles"
	"cordelia/schemas"
)

// What events are measured with, and their bars.
const (
	eventsAMinute = 10_000
	eventsPaced   = 2000 // of a run, at that pace
	eventsAtOnce  = 1000 // of a run, as fast as they are taken
	sources       = 4    // connections
	webhookP99    = 100.0
	handleOne     = 100.0  // µs
	handleAmong   = 1000.0 // µs, among a thousand roles
)

// desks is a workspace in which each request of a webhook becomes work.
const desks = `
workspace: intake
webhooks:
  crm: {domain: sales, signature: X-Sign, delivery: X-Id, type: kind, events: {lead: lead.created}, fields: {name: name}}
operators:
  desk: {triggers: {qualify: lead.created}, does: {intent: "qualify {payload.name}"}}
roles:
  - {role_id: desk, soul: You qualify leads., domains: [sales], operator_ids: [desk], authority: {autonomous: [qualify]}}
`

// roles measures events from the webhook's request to the item of work, and decisions alone.
func (b *bench) roles() (section, error) {
	var s section
	n := &node{binary: b.binary, home: filepath.Join(b.folder, "roles")}
	lead, err := n.open("")
	if err != nil {
		return s, err
	}
	defer lead.kill()
	secret, err := n.intake(b.folder)
	if err != nil {
		return s, err
	}
	server, err := n.serve()
	if err != nil {
		return s, err
	}
	defer server.stop()
	f := &feed{at: "http://" + server.host + "/hooks/crm", secret: secret, client: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	if _, err := f.send(100, 0); err != nil { // it is warm
		return s, err
	}
	var p50, p99, rate []float64
	for range b.runs {
		took, err := f.send(eventsPaced, time.Minute/eventsAMinute)
		if err != nil {
			return s, err
		}
		p50, p99 = append(p50, share(took, 0.5)), append(p99, share(took, 0.99))
		began := time.Now()
		if _, err := f.send(eventsAtOnce, 0); err != nil {
			return s, err
		}
		rate = append(rate, eventsAtOnce/time.Since(began).Minutes())
	}
	r := row{What: fmt.Sprintf("webhook → decision → work item, %d a minute, p50", eventsAMinute), Unit: "ms",
		Ours: spreadOf(p50)}
	s.Rows = append(s.Rows, r)
	r = row{What: "the same, p99, from when the source meant to send it", Unit: "ms", Ours: spreadOf(p99)}
	s.Rows = append(s.Rows, r.holding("≤ 100 ms", r.Ours.Median <= webhookP99))
	r = row{What: fmt.Sprintf("as fast as %d connections can", sources), Unit: "1/min", Ours: spreadOf(rate)}
	s.Rows = append(s.Rows, r.holding("≥ 10,000", r.Ours.Median >= eventsAMinute))
	if err := n.whole(int(f.sent.Load())); err != nil {
		return s, err
	}
	one, among := decisions(1), decisions(1000)
	r = row{What: "one role decides", Unit: "µs", Ours: spreadOf(one)}
	s.Rows = append(s.Rows, r.holding("≤ 100 µs", r.Ours.Median <= handleOne))
	r = row{What: "routing among 1000 roles, and the decision", Unit: "µs", Ours: spreadOf(among)}
	s.Rows = append(s.Rows, r.holding("≤ 1 ms", r.Ours.Median <= handleAmong))
	s.Notes = append(s.Notes, "Each event is signed, taken once, decided, and an item of work in one durable "+
		"transaction before it is answered. That every one of them is there, once, is checked at the end.")
	return s, nil
}

// intake applies the workspace and gives the secret of its webhook.
func (n *node) intake(folder string) ([]byte, error) {
	file := filepath.Join(folder, "intake.yaml")
	if err := os.WriteFile(file, []byte(desks), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(n.binary, "role", "apply", file, "--json")
	cmd.Env = append(cmd.Environ(), n.env()...)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("apply a workspace: %w", err)
	}
	var plan roles.Plan
	if err := json.Unmarshal(out, &plan); err != nil {
		return nil, err
	}
	if len(plan.Keys) != 1 {
		return nil, fmt.Errorf("the workspace has %d secrets", len(plan.Keys))
	}
	_, path, _ := strings.Cut(plan.Keys[0], ": ")
	secret, err := os.ReadFile(path)
	return bytes.TrimSpace(secret), err
}

// whole demands that each of so many events was decided and is work, once.
func (n *node) whole(sent int) error {
	db, err := n.read()
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // only read
	for _, query := range []string{`SELECT count(*) FROM role_events`,
		`SELECT count(*) FROM role_decisions WHERE action = 'delegate'`, `SELECT count(DISTINCT intent) FROM work_items`,
		`SELECT count(*) FROM work_items`} {
		var have int
		if err := db.QueryRow(query).Scan(&have); err != nil {
			return err
		}
		if have != sent {
			return fmt.Errorf("%d events were sent; %s is %d", sent, query, have)
		}
	}
	return nil
}

// feed sends requests as a source of events does.
type feed struct {
	at     string
	secret []byte
	client *http.Client
	sent   atomic.Int64
}

// send sends count events, one each period, or with no period as fast as they are taken. It
// gives how long each took, in ms, sorted: at a pace, from when it was to be sent.
func (f *feed) send(count int, period time.Duration) ([]float64, error) {
	took, errs := make([]float64, count), make([]error, count)
	next := make(chan int)
	connections, begin := sources, time.Now()
	if period > 0 {
		connections = 32 // none waits for another
	}
	var all sync.WaitGroup
	for range connections {
		all.Go(func() {
			for i := range next {
				meant := time.Now()
				if period > 0 {
					meant = begin.Add(time.Duration(i) * period)
				}
				errs[i] = f.post(f.sent.Add(1))
				took[i] = milliseconds(time.Since(meant))
			}
		})
	}
	for i := range count {
		if period > 0 {
			time.Sleep(time.Until(begin.Add(time.Duration(i) * period)))
		}
		next <- i
	}
	close(next)
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(took)
	return took, nil
}

// post sends one event that was not sent before.
func (f *feed) post(number int64) error {
	body := fmt.Appendf(nil, `{"kind":"lead","name":"lead %d"}`, number)
	mac := hmac.New(sha256.New, f.secret)
	mac.Write(body)
	req, err := http.NewRequest(http.MethodPost, f.at, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("X-Id", fmt.Sprint(number))
	req.Header.Set("X-Sign", hex.EncodeToString(mac.Sum(nil)))
	resp, err := f.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // only its status is read
	if resp.StatusCode != http.StatusAccepted {
		return fmt.Errorf("event %d is answered %s", number, resp.Status)
	}
	return nil
}

// decisions measures the decision over an event among so many roles, without a store, in µs.
func decisions(count int) (list []float64) {
	spec := schemas.Workspace{Workspace: "w", Owner: "ann", Operators: map[string]schemas.Operator{
		"op": {Triggers: map[string]schemas.OneOrMore{"do": {"thing.*"}}, Does: schemas.Recipe{Intent: "do it"}}}}
	var members []*roles.Member
	for i := range count {
		members = append(members, &roles.Member{State: schemas.RoleActive, Agent: schemas.EntityID(fmt.Sprint("agent", i)),
			Role: schemas.Role{RoleID: fmt.Sprintf("r%d", i), Domains: []string{fmt.Sprintf("d%d", i)},
				OperatorIDs: []string{"op"}, Authority: schemas.Authority{Autonomous: []string{"do"}}}})
	}
	w := roles.NewWorld(spec, members)
	known := roles.Known{Trust: func(*roles.Member, string) int { return 50 },
		Used:  func(*roles.Member) roles.Used { return roles.Used{} },
		Wakes: func(*roles.Member) int { return 0 }}
	const each = 2000
	for range 11 {
		began := time.Now()
		for i := range each {
			e := roles.Event{Type: "thing.came", Domain: fmt.Sprintf("d%d", i%count), By: "someone"}
			w.Handle(w.First(e), e, known)
		}
		list = append(list, float64(time.Since(began).Microseconds())/each)
	}
	return list[1:] // the first warms caches
}
