//go:build unix

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// revocations are how many are measured on each transport.
const revocations = 200

// streamsEnd is within what a revoked caller's streams end, SECURITY.md says.
const streamsEnd = 250.0 // ms

// revoke measures how long a stream outlives the answer to the revocation of
// its reader, which another process makes.
func (b *bench) revoke() (section, error) {
	var s section
	n := &node{binary: b.binary, home: b.folder + "/revoke"}
	lead, err := n.open("")
	if err != nil {
		return s, err
	}
	defer lead.kill()
	if err := gather(lead, "team"); err != nil {
		return s, err
	}
	server, err := n.serve()
	if err != nil {
		return s, err
	}
	defer server.stop()
	for _, way := range []struct {
		name string
		one  func(name string) (time.Duration, error)
	}{
		{"stdio: a waiting events_poll", func(name string) (time.Duration, error) { return n.revokedPoll(lead, name) }},
		{"HTTP: subscriptions/listen", func(name string) (time.Duration,
			error) {
			return n.revokedStream(lead, server, name)
		}},
	} {
		var list []float64
		for i := 0; len(list) < revocations; i++ {
			lag, err := way.one(fmt.Sprintf("reader-%s-%d", strings.ToLower(way.name[:2]), i))
			if errors.Is(err, errEarly) && i < 2*revocations {
				continue
			}
			if err != nil {
				return s, fmt.Errorf("%s, revocation %d: %w", way.name, i, err)
			}
			list = append(list, milliseconds(lag))
		}
		r := row{What: fmt.Sprintf("%s, %d revocations", way.name, len(list)), Unit: "ms", Ours: spreadOf(list)}
		s.Rows = append(s.Rows, r.holding("all ≤ 250 ms", r.Ours.Max <= streamsEnd))
		for _, q := range []float64{0.9, 0.99} {
			s.Rows = append(s.Rows, row{What: fmt.Sprintf("the same, p%.0f", 100*q), Unit: "ms",
				Ours: spreadOf([]float64{share(list, q)})})
		}
	}
	s.Notes = append(s.Notes, "From the answer to agent_deactivate until its reader's stream has ended; below zero "+
		"it ended before the answer came. The brackets hold the least and the most of all.")
	return s, nil
}

// errEarly is a revocation that came before its reader had begun to wait.
var errEarly = errors.New("the reader did not wait yet")

// pause is how long a reader gets to begin to wait.
const pause = 40 * time.Millisecond

// deactivate revokes an agent and tells when that was answered.
func deactivate(lead *client, name string) (time.Time, error) {
	_, err := lead.call("agent_deactivate", map[string]any{"agent": name}, nil)
	return time.Now(), err
}

// revokedPoll revokes an agent whose own process waits for events.
func (n *node) revokedPoll(lead *client, name string) (time.Duration, error) {
	if err := enrol(lead, name, name, "team"); err != nil {
		return 0, err
	}
	c, err := n.open(name)
	if err != nil {
		return 0, err
	}
	defer c.kill()
	var ack string
	if err := catchUp(c, &ack); err != nil {
		return 0, err
	}
	waiting := map[string]any{"wait_seconds": 30}
	if ack != "" {
		waiting["ack"] = ack
	}
	request := c.request("events_poll", waiting)
	type end struct {
		at  time.Time
		err error
	}
	ended := make(chan end, 1)
	go func() {
		line, _, err := c.roundTrip(request)
		at := time.Now()
		if err == nil {
			switch err = decode(line, nil); {
			case err == nil:
				err = fmt.Errorf("the poll was answered: %s", line)
			case strings.HasPrefix(err.Error(), "revoked"):
				err = nil
			case strings.HasPrefix(err.Error(), "denied"):
				err = errEarly
			}
		}
		ended <- end{at, err}
	}()
	time.Sleep(pause)
	answered, err := deactivate(lead, name)
	if err != nil {
		return 0, err
	}
	e := <-ended
	return e.at.Sub(answered), e.err
}

// revokedStream revokes an agent that listens over HTTP.
func (n *node) revokedStream(lead *client, server *served, name string) (time.Duration, error) {
	id, err := register(lead, name, name, "team")
	if err != nil {
		return 0, err
	}
	token, err := n.token(server, id)
	if err != nil {
		return 0, err
	}
	w, err := dial(server.host, token)
	if err != nil {
		return 0, err
	}
	defer w.close()
	resp, err := w.send(w.request("subscriptions/listen", "", map[string]any{
		"notifications": map[string]any{"resourceSubscriptions": []string{"cordelia://events"}}}))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	body := bufio.NewReader(resp.Body)
	for line := ""; !strings.Contains(line, "notifications/subscriptions/acknowledged"); {
		if line, err = body.ReadString('\n'); err != nil {
			return 0, fmt.Errorf("no acknowledgement: %s: %w: %s", resp.Status, err, line)
		}
	}
	type end struct {
		at  time.Time
		err error
	}
	ended := make(chan end, 1)
	go func() {
		_, err := io.Copy(io.Discard, body)
		var late net.Error
		if !errors.As(err, &late) || !late.Timeout() {
			err = nil // however it ends, it has ended
		}
		ended <- end{time.Now(), err}
	}()
	time.Sleep(pause)
	answered, err := deactivate(lead, name)
	if err != nil {
		return 0, err
	}
	e := <-ended
	return e.at.Sub(answered), e.err
}
