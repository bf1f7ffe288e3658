package ops

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/internal/store/storetest"
)

// story is a house whose calls are written down.
type story struct {
	*house
	storetest.Transcript
}

// does calls an operation and writes the answer down, or the refusal.
func (s *story) does(c Caller, tool string, args map[string]any) map[string]any {
	s.t.Helper()
	s.clock.advance(time.Second)
	out, err := s.call(c, tool, args)
	answer, bad := json.Marshal(out)
	require.NoError(s.t, bad)
	if err != nil {
		answer = []byte(err.Error())
	}
	s.Add(tool + " " + string(answer))
	return out
}

// played is what a house answers to a story that touches every part of it.
func played(t *testing.T) []string {
	s := &story{house: &house{t: t, clock: newWallClock()}}
	s.clock.set(time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC))
	s.begin("ann")
	person := s.person()
	crew := s.crew("one", "two", "three")
	s.remembers(person)
	s.works()
	s.swarms()
	s.finishes(crew, person)
	s.does(s.lead, "events_poll", map[string]any{"limit": 100})
	s.does(s.lead, "agent_deactivate", map[string]any{"agent": "one"})
	s.does(crew[0], "task_claim", map[string]any{})
	s.does(s.lead, "memory_search", map[string]any{"query": "ferry harbour"})
	v, err := s.node.VerifyAudit(t.Context(), person.Principal)
	require.NoError(t, err)
	require.True(t, v.Sound(), "%v", v.Damage)
	trust, err := s.node.VerifyTrust(t.Context(), person.Principal)
	require.NoError(t, err)
	return append(s.Lines, fmt.Sprint(v.Entries, v.Messages, trust.Scores))
}

func (s *story) remembers(person Caller) {
	s.does(s.lead, "memory_group", map[string]any{"action": "create", "group": "harbour"})
	s.does(s.lead, "agent_register", map[string]any{"agent_type": "swarm-worker", "display_name": "Pilot",
		"name": "pilot", "groups": []string{"harbour"}})
	pilot := s.caller("pilot")
	s.does(s.lead, "memory_group", map[string]any{"action": "add", "group": "harbour", "entity": "pilot",
		"role": "member"})
	var ids []string
	for i, text := range []string{"The ferry leaves the harbour at nine", "The ferry leaves the harbour at ten",
		"Ropes lie in the shed by the harbour: 纜繩, corde, ŝnuro", "An anchor weighs three tons",
		"Ferries do not sail in a storm"} {
		args := note(text)
		if i%2 == 0 {
			args["group"] = "harbour"
		}
		out := s.does(s.lead, "memory_write_warm", args)
		id, ok := out["id"].(string)
		require.True(s.t, ok, "%v", s.Lines)
		ids = append(ids, id)
	}
	s.does(s.lead, "memory_write_warm", note("a\x00b"))
	s.does(s.lead, "memory_write_warm", with(note("The ferry leaves at noon"),
		map[string]any{"id": ids[1]}))
	for _, q := range []string{"ferry", "ferry harbour storm", "纜繩", "sail", "nothing like it", `"*(`, "ROPES shed"} {
		s.does(s.lead, "memory_search", map[string]any{"query": q})
		s.does(pilot, "memory_search", map[string]any{"query": q})
	}
	s.does(pilot, "memory_read_warm", map[string]any{"ids": ids})
	s.does(pilot, "trust_assess", map[string]any{"id": ids[0], "verdict": "wrong"})
	written := s.does(pilot, "memory_write_warm", with(note("The tide turns at six"), map[string]any{"group": "harbour"}))
	s.does(person, "trust_assess", map[string]any{"id": written["id"], "verdict": "right"})
	s.does(s.lead, "trust_score", map[string]any{"agent": "pilot"})
	s.does(s.lead, "memory_delete_warm", map[string]any{"id": ids[3]})
	s.does(s.lead, "memory_read_warm", map[string]any{"id": ids[3]})
	s.does(s.lead, "memory_read_hot", map[string]any{})
	s.does(pilot, "events_poll", map[string]any{})
}

func (s *story) works() {
	items := []any{}
	for i := range 5 {
		items = append(items, map[string]any{"intent": fmt.Sprint("paint boat ", i), "priority": i % 2})
	}
	s.does(s.lead, "task_submit", map[string]any{"items": items})
	for range 2 {
		w, ok := s.does(s.lead, "task_claim", map[string]any{})["work"].(map[string]any)
		require.True(s.t, ok)
		s.does(s.lead, "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done",
			"result": map[string]any{"paint": "blue"}})
		s.does(s.lead, "task_report", map[string]any{"work_id": w["work_id"], "fence": 99, "outcome": "failed"})
	}
	left, ok := s.does(s.lead, "task_claim", map[string]any{})["work"].(map[string]any)
	require.True(s.t, ok)
	s.does(s.lead, "task_cancel", map[string]any{"work_id": left["work_id"]})
	s.does(s.lead, "task_status", map[string]any{})
}

func (s *story) swarms() {
	s.does(s.lead, "swarm_create", map[string]any{"goal": "Count the gulls", "strategy": "hierarchical",
		"swarm_id": "swarm-gulls", "coordinator_slot": "boss",
		"agents": []any{slotOf("boss", 1), slotOf("hand", 3)}})
	s.does(s.lead, "memory_write_warm", with(note("Gulls sit on the mast"), map[string]any{"group": "swarm-gulls"}))
	s.does(s.caller("hand-2"), "events_poll", map[string]any{})
	s.does(s.lead, "swarm_status", map[string]any{"swarm_id": "swarm-gulls"})
	s.does(s.lead, "swarm_disband", map[string]any{"swarm_id": "swarm-gulls"})
}

// finishes brings a task to accepted: a plan, the work, two judgements and a person.
func (s *story) finishes(crew []Caller, person Caller) {
	id := s.does(s.lead, "task_submit", map[string]any{"request": "Write the log",
		"intent": "write the log of the harbour", "hold": true, "tools": []string{"write"}})["task_id"]
	sits := func(c Caller, role string, answer map[string]any) {
		s.t.Helper()
		w, ok := s.does(c, "task_claim", map[string]any{"role": role})["work"].(map[string]any)
		require.True(s.t, ok, "there is no %s to claim: %s", role, strings.Join(s.Lines, "\n"))
		s.does(c, "task_report", map[string]any{"work_id": w["work_id"], "fence": w["fence"], "outcome": "done",
			"result": answer, "evidence": []any{map[string]any{"tool": "write", "input": role, "exit": 0}}})
	}
	sits(crew[0], "R2", map[string]any{"task_criteria": []any{"the log is whole"}, "subtasks": []any{
		map[string]any{"intent": "write it to log.txt", "sequence": 1, "tools": []string{"write"},
			"success_criteria": []any{"it reads well"}}}})
	sits(crew[0], "R3", map[string]any{"file": "log.txt"})
	sits(crew[1], "R4a", passing("it reads well"))
	merge := passing("the log is whole")
	merge["output"] = map[string]any{"log": "log.txt"}
	sits(crew[2], "R4b", merge)
	waiting := s.does(person, "review_list", map[string]any{})["waiting"].([]any)[0].(map[string]any)
	s.does(s.lead, "review_decide", map[string]any{"decisions": []any{
		map[string]any{"id": id, "decision": "approve", "hash": waiting["hash"]}}})
	s.does(person, "review_decide", map[string]any{"decisions": []any{
		map[string]any{"id": id, "decision": "approve", "hash": waiting["hash"]}}})
	done := s.does(s.lead, "task_status", map[string]any{"task_id": id})["task"].(map[string]any)
	require.Equal(s.t, "accepted", done["state"])
}

// A node answers the same whichever engine keeps its state.
func TestBothEnginesAnswerTheSame(t *testing.T) {
	told := map[string][]string{}
	for _, engine := range []string{"", "postgres"} {
		t.Run("engine="+engine, func(t *testing.T) {
			t.Setenv(storetest.Engine, engine)
			told[engine] = played(t)
		})
	}
	if len(told) < 2 {
		return // skipped there
	}
	refused := slices.DeleteFunc(slices.Clone(told[""]), func(l string) bool { return strings.Contains(l, " {") })
	require.Len(t, refused, 6, "%s", strings.Join(refused, "\n"))
	require.Equal(t, told[""], told["postgres"])
}
