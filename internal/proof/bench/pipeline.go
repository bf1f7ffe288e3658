//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// perTask is how many subtasks the measured tasks have, all at once.
const perTask = 8

// bytesPerToken is how the tool list is counted, too.
const bytesPerToken = 4.0

// seat is a role of a task as who fills it gets it.
type seat struct {
	lease
	Intent string          `json:"intent"`
	Brief  json.RawMessage `json:"brief"`
}

// role is what the words of a seat say it is.
func (s seat) role() string {
	for _, role := range []string{"R2", "R3", "R4a", "R4b"} {
		if strings.Contains(s.Intent, "("+role+")") {
			return role
		}
	}
	return ""
}

// report fills the seat: a plan of perTask subtasks, a result with evidence, and a
// pass for every criterion.
func (s seat) report() (args map[string]any, err error) {
	var b struct{ Criteria []string }
	if err := json.Unmarshal(s.Brief, &b); err != nil {
		return nil, err
	}
	verdicts := []any{}
	for _, c := range b.Criteria {
		verdicts = append(verdicts, map[string]any{"criterion": c, "verdict": "pass",
			"evidence": "the tape reads 12 m"})
	}
	args = map[string]any{"work_id": s.WorkID, "fence": s.Fence, "outcome": "done"}
	switch s.role() {
	case "R2":
		args["result"] = measuringPlan()
	case "R3":
		args["result"] = map[string]any{"metres": 12}
		args["evidence"] = []any{map[string]any{"tool": "bash", "input": "measure", "exit": 0,
			"head": "the tape reads 12 m"}}
	case "R4a":
		args["result"] = map[string]any{"verdicts": verdicts}
	case "R4b":
		args["result"] = map[string]any{"output": map[string]any{"metres": 12 * perTask}, "verdicts": verdicts}
	default:
		return nil, fmt.Errorf("no role is known from %q", s.Intent)
	}
	return args, nil
}

func measuringPlan() map[string]any {
	var subs []any
	for i := range perTask {
		subs = append(subs, map[string]any{"intent": fmt.Sprintf("measure span %d of the bridge", i), "sequence": 1,
			"tools": []string{"bash"},
			"success_criteria": []any{plausible(fmt.Sprintf("the tape was read at both ends of span %d", i)),
				plausible("the length is in metres")}})
	}
	return map[string]any{"subtasks": subs, "task_criteria": []any{plausible("the length of every span is known")}}
}

// plausible is a criterion that the evidence is read for.
func plausible(criterion string) map[string]any {
	return map[string]any{"criterion": criterion, "mode": "plausible"}
}

// claimSeat takes a seat of a role, "" for any.
func (c *client) claimSeat(role string, wait int) (s seat, answer json.RawMessage, took time.Duration, err error) {
	if took, err = c.call("task_claim", map[string]any{"role": role, "wait_seconds": wait}, &answer); err != nil {
		return s, nil, took, err
	}
	var out struct{ Work *seat }
	if err := json.Unmarshal(answer, &out); err != nil {
		return s, nil, took, err
	}
	if out.Work == nil {
		return s, nil, took, errEmpty
	}
	return *out.Work, answer, took, nil
}

// bureau is a group whose members fill the roles of tasks, one process each.
type bureau struct {
	n    *node
	lead *client
	list []*client
}

func (u *bureau) close() {
	for _, c := range append(u.list, u.lead) {
		c.kill()
	}
}

// bureau opens the processes.
func (b *bench) bureau(name string, members int) (u *bureau, err error) {
	u = &bureau{n: &node{binary: b.binary, home: filepath.Join(b.folder, name)}}
	if u.lead, err = u.n.open(""); err != nil {
		return nil, err
	}
	if err = gather(u.lead, "crew"); err != nil {
		u.close()
		return nil, err
	}
	for i := range members {
		name := fmt.Sprintf("member-%d", i)
		var c *client
		if err = enrol(u.lead, name, name, "crew"); err == nil {
			c, err = u.n.open(name)
		}
		if err != nil {
			u.close()
			return nil, err
		}
		u.list = append(u.list, c)
	}
	return u, nil
}

// submit begins tasks, whose intent is clear.
func (u *bureau) submit(tasks int) error {
	return u.lead.pour(tasks, 8, func(int) []byte {
		return u.lead.request("task_submit", map[string]any{"request": "How long is the bridge?",
			"intent": "find out how long the bridge is", "group": "crew"})
	}, func(line []byte) error { return decode(line, nil) })
}

// plan fills the planner's seat of a number of tasks.
func (u *bureau) plan(c *client, tasks int) error {
	for range tasks {
		s, _, _, err := c.claimSeat("R2", 0)
		if err != nil {
			return fmt.Errorf("claim a plan: %w", err)
		}
		args, err := s.report()
		if err != nil {
			return err
		}
		if _, err := c.call("task_report", args, nil); err != nil {
			return err
		}
	}
	return nil
}

// cycle is what one subtask cost.
type cycle struct {
	took     time.Duration // of its four calls
	protocol int           // bytes of them that are neither brief nor result
	brief    int           // bytes
}

// pipeline measures what the node adds to a subtask, and what tasks in flight cost
// each other.
func (b *bench) pipeline() (section, error) {
	s, err := b.cycles()
	if err != nil {
		return s, err
	}
	return s, b.flights(&s)
}

// cycles measures subtasks one by one: claimed, reported, claimed by a judge, judged.
func (b *bench) cycles() (s section, err error) {
	u, err := b.bureau("cycles", 3)
	if err != nil {
		return s, err
	}
	defer u.close()
	const tasks = 25
	var half, most, tokens, briefs, relayed []float64
	for range b.runs {
		if err := u.submit(tasks); err != nil {
			return s, err
		}
		if err := u.plan(u.list[0], tasks); err != nil {
			return s, err
		}
		var took latencies
		for range tasks * perTask {
			c, err := u.cycle()
			if err != nil {
				return s, err
			}
			took = append(took, c.took)
			tokens, briefs = append(tokens, float64(c.protocol)/bytesPerToken), append(briefs,
				float64(c.brief)/bytesPerToken)
		}
		half, most = append(half, took.at(0.5)), append(most, took.at(0.99))
		if err := u.merge(tasks); err != nil {
			return s, err
		}
		if err := errors.Join(u.submit(tasks), u.plan(u.list[0], tasks)); err != nil {
			return s, err
		}
		if took, err = u.relay(tasks); err != nil {
			return s, err
		}
		relayed = append(relayed, took.at(0.5))
	}
	r := row{What: "a subtask: claim, report, claim by a judge, verdicts, p50", Unit: "ms", Ours: spreadOf(half)}
	k := row{What: "tokens of its four calls beyond brief and result", Ours: spreadOf(tokens)}
	w := row{What: "the same where each report claims what comes next: two calls, p50", Unit: "ms",
		Ours: spreadOf(relayed)}
	s.Rows = append(s.Rows, r, row{What: "the same, p99", Unit: "ms", Ours: spreadOf(most)},
		w, k.holding("≤ 400", k.Ours.Max <= 400), row{What: "tokens of both briefs, with the schema of the answer",
			Ours: spreadOf(briefs)})
	s.Notes = append(s.Notes, fmt.Sprintf(
		"Tokens are bytes / %.0f of the arguments and structured answers of the four calls, as the tool list is "+
			"counted. "+
			"Brief: intent and brief of the two claims. Result: result and evidence of the two reports.",
		bytesPerToken),
		"After every run each message that the rows of tasks, rounds, subtasks and seats tell of was found, once, "+
			"with its hash in the audit record.")
	return s, u.tapped()
}

// cycle has the first member execute a subtask and the second judge it.
func (u *bureau) cycle() (c cycle, err error) {
	for i, role := range []string{"R3", "R4a"} {
		s, answer, took, err := u.list[i].claimSeat(role, 0)
		if err != nil {
			return c, fmt.Errorf("claim %s: %w", role, err)
		}
		args, err := s.report()
		if err != nil {
			return c, err
		}
		var reply json.RawMessage
		reported, err := u.list[i].call("task_report", args, &reply)
		if err != nil {
			return c, err
		}
		c.took += took + reported
		intent := size(s.Intent)
		c.brief += intent + len(s.Brief)
		c.protocol += size(map[string]any{"role": role, "wait_seconds": 0}) + len(answer) - intent - len(s.Brief)
		c.protocol += size(args) - size(args["result"]) + len(reply)
		if args["evidence"] != nil {
			c.protocol -= size(args["evidence"])
		}
	}
	return c, nil
}

// size is how many bytes v has as JSON.
func size(v any) int {
	raw, err := json.Marshal(v)
	if err != nil { // of values this package makes
		panic(fmt.Sprintf("bench: encode: %v", err))
	}
	return len(raw)
}

// merge ends tasks whose subtasks matched, by a member that executed none of them.
func (u *bureau) merge(tasks int) error {
	for range tasks {
		s, _, _, err := u.list[2].claimSeat("R4b", 0)
		if err != nil {
			return fmt.Errorf("claim a merge: %w", err)
		}
		args, err := s.report()
		if err != nil {
			return err
		}
		if _, err := u.list[2].call("task_report", args, nil); err != nil {
			return err
		}
	}
	if _, _, _, err := u.list[2].claimSeat("", 0); !errors.Is(err, errEmpty) {
		return fmt.Errorf("something is left to do after every merge: %w", err)
	}
	return nil
}
