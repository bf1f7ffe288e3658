//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// events measures how long a member of a group waits for what another wrote.
func (b *bench) events() (section, error) {
	var s section
	n := &node{binary: b.binary, home: filepath.Join(b.folder, "events")}
	lead, err := n.open("")
	if err != nil {
		return s, err
	}
	defer lead.kill()
	if err := gather(lead, "team"); err != nil {
		return s, err
	}
	if err := enrol(lead, "reader", "Reader", "team"); err != nil {
		return s, err
	}
	c, err := n.open("reader")
	if err != nil {
		return s, err
	}
	defer c.kill()
	texts, ack := newNotes(11), ""
	var written, stamped, answered struct{ p50, p99 []float64 }
	for run := range b.runs {
		var whole, since, after latencies
		for i := range 100 {
			d, err := deliver(lead, c, texts.item(run*1000+i, "team"), &ack)
			if err != nil {
				return s, err
			}
			whole, since, after = append(whole, d.heard.Sub(d.asked)), append(since,
				d.heard.Sub(d.stamped)), append(after, d.heard.Sub(d.answered))
		}
		written.p50, written.p99 = append(written.p50, whole.at(0.5)), append(written.p99, whole.at(0.99))
		stamped.p50, stamped.p99 = append(stamped.p50, since.at(0.5)), append(stamped.p99, since.at(0.99))
		answered.p50, answered.p99 = append(answered.p50, after.at(0.5)), append(answered.p99, after.at(0.99))
	}
	r := func(what string, list []float64) row { return row{What: what, Unit: "ms", Ours: spreadOf(list)} }
	half, most := r("event to another process, commit and delivery, p50", stamped.p50), r("the same, p99", stamped.p99)
	s.Rows = append(s.Rows, half.holding("≤ 5 ms", half.Ours.Median <= 5),
		most.holding("≤ 100 ms", most.Ours.Median <= 100),
		r("from the writer's answer, p50", answered.p50), r("the same, p99", answered.p99),
		r("from the writer's request, p50", written.p50), r("the same, p99", written.p99))
	s.Notes = append(s.Notes, "Commit and delivery: from the event's own time, which it gets in its transaction "+
		"before the flush, to the answer of a waiting events_poll in another process. "+
		"Below zero the reader heard of it before the writer did.")
	return s, nil
}

// delivery is when what happened to an event.
type delivery struct{ asked, stamped, answered, heard time.Time }

// deliver has a reader wait for an event and writes the item that causes it.
func deliver(writer, reader *client, item map[string]any, ack *string) (d delivery, err error) {
	type heard struct {
		line []byte
		at   time.Time
		err  error
	}
	if err := catchUp(reader, ack); err != nil {
		return d, err
	}
	poll := map[string]any{"wait_seconds": 20}
	if *ack != "" {
		poll["ack"] = *ack
	}
	request := reader.request("events_poll", poll)
	answer := make(chan heard, 1)
	go func() {
		line, _, err := reader.roundTrip(request)
		answer <- heard{line, time.Now(), err}
	}()
	time.Sleep(10 * time.Millisecond) // the reader waits before there is news: what is measured is the waking
	select {
	case h := <-answer:
		return d, fmt.Errorf("the reader did not wait: %w: %s", h.err, h.line)
	default:
	}
	d.asked = time.Now()
	if _, err := writer.call("memory_write_warm", item, nil); err != nil {
		return d, err
	}
	d.answered = time.Now()
	h := <-answer
	if h.err != nil {
		return d, h.err
	}
	var out struct {
		Events []struct{ Timestamp time.Time }
		Cursor string
	}
	if err := decode(h.line, &out); err != nil {
		return d, err
	}
	if len(out.Events) == 0 {
		return d, fmt.Errorf("no event came in 20 s")
	}
	*ack = out.Cursor
	d.heard, d.stamped = h.at, out.Events[len(out.Events)-1].Timestamp
	return d, nil
}

// catchUp reads until nothing is unread.
func catchUp(reader *client, ack *string) error {
	for {
		args := map[string]any{}
		if *ack != "" {
			args["ack"] = *ack
		}
		var out struct {
			Events []struct{}
			Cursor string
		}
		if _, err := reader.call("events_poll", args, &out); err != nil {
			return err
		}
		if len(out.Events) == 0 {
			return nil
		}
		*ack = out.Cursor
	}
}

// resident measures the memory a process keeps.
func (b *bench) resident() (section, error) {
	var s section
	n, err := b.store(b.large(), "resident")
	if err != nil {
		return s, err
	}
	c, err := n.open("")
	if err != nil {
		return s, err
	}
	defer c.kill()
	texts := newNotes(21)
	for i := range 10_000 {
		tool, args := "memory_read_hot", map[string]any{}
		switch i % 4 {
		case 1:
			tool, args = "memory_search", map[string]any{"query": strings.Join(texts.rare(3), " ")}
		case 2:
			tool, args = "memory_write_warm", texts.item(b.large()*10+i, "team")
		}
		if _, err := c.call(tool, args, nil); err != nil {
			return s, err
		}
	}
	busy, err := statusMB(c.cmd.Process.Pid, "VmRSS")
	if err != nil {
		return s, err
	}
	time.Sleep(time.Minute) // what is measured is the idle process
	idle, err := statusMB(c.cmd.Process.Pid, "VmRSS")
	if err != nil {
		return s, err
	}
	file, err := statusMB(c.cmd.Process.Pid, "RssFile")
	if err != nil {
		return s, err
	}
	r := row{What: fmt.Sprintf("resident memory, %d items, 10,000 calls, 60 s idle", b.large()), Unit: "MB",
		Ours: spreadOf([]float64{idle})}
	s.Rows = append(s.Rows, r.holding("≤ 45 MB", idle <= 45),
		row{What: "of it pages of the program's file, which sessions share", Unit: "MB", Ours: spreadOf([]float64{file})},
		row{What: "resident memory before the idle minute", Unit: "MB", Ours: spreadOf([]float64{busy})})
	return s, nil
}

// statusMB reads what a process's status says of its memory; Linux only.
func statusMB(pid int, field string) (float64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kb, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return kb / 1024, err
		}
	}
	return 0, fmt.Errorf("process %d tells no %s", pid, field)
}
