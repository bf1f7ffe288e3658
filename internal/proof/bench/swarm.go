//go:build unix

package main

import (
	"fmt"
	"path/filepath"
)

// swarmSize is how many agents the measured swarms have.
const swarmSize = 50

// swarm measures making a swarm, and what its size costs a member who writes.
func (b *bench) swarm() (section, error) {
	var s section
	n := &node{binary: b.binary, home: filepath.Join(b.folder, "swarm")}
	lead, err := n.open("")
	if err != nil {
		return s, err
	}
	defer lead.kill()
	var created, disbanded []float64
	var member string
	for i := range b.runs + 1 {
		var made struct {
			SwarmID string `json:"swarm_id"`
			Agents  []struct{ Name string }
		}
		took, err := lead.call("swarm_create", map[string]any{"goal": fmt.Sprintf("survey %d", i),
			"strategy":         "broadcast",
			"swarm_id":         fmt.Sprintf("swarm-survey-%d", i),
			"coordinator_slot": "lead", "agents": []any{map[string]any{"slot": "lead"},
				map[string]any{"slot": "scout", "count": swarmSize - 1}}}, &made)
		if err != nil {
			return s, err
		}
		created, member = append(created, milliseconds(took)), made.Agents[1].Name
		if i == b.runs {
			break // the last one works
		}
		if took, err = lead.call("swarm_disband", map[string]any{"swarm_id": made.SwarmID}, nil); err != nil {
			return s, err
		}
		disbanded = append(disbanded, milliseconds(took))
	}
	r := row{What: fmt.Sprintf("swarm_create, %d agents", swarmSize), Unit: "ms", Ours: spreadOf(created)}
	s.Rows = append(s.Rows, r.holding("≤ 250 ms", r.Ours.Median <= 250),
		row{What: "swarm_disband of it", Unit: "ms", Ours: spreadOf(disbanded)})

	if err := gather(lead, "pair"); err != nil {
		return s, err
	}
	if err := enrol(lead, "plain", "Plain", "pair"); err != nil {
		return s, err
	}
	scout, err := n.open(member)
	if err != nil {
		return s, err
	}
	defer scout.kill()
	plain, err := n.open("plain")
	if err != nil {
		return s, err
	}
	defer plain.kill()
	texts := newNotes(31)
	group := fmt.Sprintf("swarm-survey-%d", b.runs)
	var wide, narrow []float64
	for run := range b.runs + 1 {
		p, err := plain.times(100, "memory_write_warm", func(i int) any { return texts.item(run*1000+i, "pair") })
		if err != nil {
			return s, err
		}
		w, err := scout.times(100, "memory_write_warm", func(i int) any { return texts.item(run*1000+500+i, group) })
		if err != nil {
			return s, err
		}
		if run > 0 { // the first warms caches
			wide, narrow = append(wide, w.at(0.5)), append(narrow, p.at(0.5))
		}
	}
	fan := compared(fmt.Sprintf("memory_write_warm in a broadcast swarm of %d, p50", swarmSize), "ms",
		"in a group of two", wide, narrow)
	s.Rows = append(s.Rows, fan.holding("≤ 2 ×", fan.Ratio.Median <= 2))
	return s, nil
}
