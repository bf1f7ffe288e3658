package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What the task is about: a file, which machines look at. Guess is the tool that
// leads nowhere.
const (
	lightsFile = "lights.md"
	fileThere  = "the file lights.md is there"
	threeNamed = "it names the three lights, from north to south"
	guess      = "guess"
	lookUp     = "look_up"
	guessed    = "north light, south light\n"
	found      = "north light, middle light, south light\n"
)

// round is what a failed round came to: its distance from the criteria, the budget used, the
// loss, and the directive that follows.
type round struct {
	D         float64
	Omega     float64 `json:"omega"`
	L         float64
	Directive string
}

// view is what task_status shows of a task.
type view struct {
	Task struct {
		State     string
		Round     int
		Directive string
		SubTasks  []struct {
			State    string
			Attempt  int
			Criteria []string
		} `json:"subtasks"`
		Rounds   []round
		Criteria []string
	}
}

func (s *stage) look(ctx context.Context) (v view, err error) {
	err = call(ctx, s.lead, "task_status", object{"task_id": s.task}, &v)
	return v, err
}

// aPlan is a plan of one subtask, with criteria that a machine decides.
func aPlan(intent, tool string) object {
	return object{"task_criteria": []string{"the user can tell the lights apart"}, "subtasks": []object{{
		"intent": intent, "sequence": 1, "tools": []string{tool}, "success_criteria": []object{
			{"criterion": fileThere, "mode": "verifiable", "check": object{"kind": "file", "path": lightsFile}},
			{"criterion": threeNamed, "mode": "verifiable",
				"check": object{"kind": "regex", "path": lightsFile, "pattern": `(?s)north.*middle.*south`}},
		}}}}
}

func (s *stage) planner() *hand { return s.hands[0] }
func (s *stage) doer() *hand    { return s.hands[crew-1] }

// write writes the file as the agent would.
func (s *stage) write(text string) (evidence object, err error) {
	tool := map[string]string{guessed: guess, found: lookUp}[text]
	return object{"tool": tool, "input": lightsFile, "exit": 0, "head": text},
		os.WriteFile(filepath.Join(s.files(), lightsFile), []byte(text), 0o600)
}

// submit begins the task of this demonstration.
func (s *stage) submit(ctx context.Context) error {
	var made struct {
		TaskID string `json:"task_id"`
	}
	err := call(ctx, s.lead, "task_submit", object{"group": swarmID,
		"request": "List the harbour's lights in lights.md",
		"intent":  "list the harbour's lights in lights.md", "tools": []string{guess, lookUp}}, &made)
	s.task = made.TaskID
	return err
}

// claimWithoutProof has an agent report as done what it did not do.
func (s *stage) claimWithoutProof(ctx context.Context) error {
	if err := s.submit(ctx); err != nil {
		return err
	}
	if err := s.plan(ctx, "write down the lights there ought to be"); err != nil {
		return err
	}
	s.prove("task "+s.task, "%s plans a task: use the tool %s; a machine will look at the file.", s.planner().name,
		guess)
	work, err := claimRole(ctx, s.doer().client, "R3")
	if err != nil {
		return err
	}
	if err := call(ctx, s.doer().client, "task_report",
		work.done(object{"text": "All three lights are listed. Everything works."}), nil); err != nil {
		return err
	}
	s.say("%s reports: “All three lights are listed. Everything works.” It wrote no file.", s.doer().name)
	v, err := s.look(ctx)
	if err != nil {
		return err
	}
	subs := v.Task.SubTasks
	if err := check(len(subs) == 1 && subs[0].Attempt == 2 &&
		slices.Equal(subs[0].Criteria, []string{"fail: " + fileThere, "fail: " + threeNamed}),
		"the node finds that nothing is there: %+v", subs); err != nil {
		return err
	}
	s.prove(strings.Join(subs[0].Criteria, "; "), "The node looks for itself, asks no model, and does not take it.")
	again, err := claimRole(ctx, s.doer().client, "R3")
	if err != nil {
		return err
	}
	wrong := again.Brief.Inputs.Correction.Wrong
	if err := check(wrong != "", "the correction says what was wrong"); err != nil {
		return err
	}
	s.prove(wrong, "The work goes back to %s, with what was wrong.", s.doer().name)
	s.step.Facts = object{"task_id": s.task, "criteria": subs[0].Criteria, "correction": wrong, "state": v.Task.State}
	s.step.Shown = fmt.Sprintf("not taken: %d of %d criteria fail where the node looked", len(subs[0].Criteria),
		len(subs[0].Criteria))
	evidence, err := s.write(guessed)
	if err != nil {
		return err
	}
	return call(ctx, s.doer().client, "task_report", again.done(object{"text": "Now they are."}, evidence), nil)
}

// plan has the planner plan to do the work by guessing.
func (s *stage) plan(ctx context.Context, intent string) error {
	plan, err := claimRole(ctx, s.planner().client, "R2")
	if err != nil {
		return err
	}
	return call(ctx, s.planner().client, "task_report", plan.done(aPlan(intent, guess)), nil)
}

// replan fails two rounds for good, and follows their directives: to sharpen the first
// approach once, and then to take another.
func (s *stage) replan(ctx context.Context) error {
	r, err := s.failSharpened(ctx)
	if err != nil {
		return err
	}
	plan, err := claimRole(ctx, s.planner().client, "R2")
	if err != nil {
		return err
	}
	blocked, ways := plan.Brief.forbids(guess), plan.Brief.Inputs.Directive.Alternatives
	if err := check(len(blocked) == 1 && slices.Equal(ways, []string{lookUp}),
		"%s is blocked, and %s suggested: %v, %v", guess, lookUp, blocked, ways); err != nil {
		return err
	}
	s.prove(fmt.Sprintf("%s; instead: %s", blocked[0], strings.Join(ways, ", ")),
		"%s is told what is blocked, and what is left; planners of tasks to come are told what failed.",
		s.planner().name)
	words, err := refused(ctx, s.planner().client, "task_report",
		plan.done(aPlan("write down the likely lights", guess)), "invalid")
	if err != nil {
		return err
	}
	s.prove(words, "It plans with %s all the same: the plan is not taken.", guess)
	if err := call(ctx, s.planner().client, "task_report",
		plan.done(aPlan("look up the lights in the register", ways[0])), nil); err != nil {
		return err
	}
	v, err := s.acceptedBy(ctx, ways[0])
	if err != nil {
		return err
	}
	s.step.Facts = object{"loss": r.L, "d": r.D, "omega": r.Omega, "directive": r.Directive, "blocked": blocked,
		"alternatives": ways, "refusal": words,
		"state": v.Task.State, "round": v.Task.Round}
	s.step.Shown = fmt.Sprintf("loss %.3f → %s → %s in round %d", r.L, strings.ReplaceAll(r.Directive, "_", " "),
		v.Task.State, v.Task.Round)
	return nil
}

// failSharpened fails the first approach, sharpens it, fails again, and gives what the second
// round came to.
func (s *stage) failSharpened(ctx context.Context) (r round, err error) {
	if err := s.failAttempts(ctx, 1); err != nil { // the last of three
		return r, err
	}
	s.prove(strings.TrimSpace(guessed), "%s writes the file by guessing, twice.", s.doer().name)
	first, err := s.failedRounds(ctx, 1)
	if err != nil {
		return r, err
	}
	s.prove(first, "The first approach ran, so it is sharpened once before anything is blocked.")
	if err := s.plan(ctx, "write down every light there ought to be"); err != nil {
		return r, err
	}
	if err := s.failAttempts(ctx, 3); err != nil {
		return r, err
	}
	directive, err := s.failedRounds(ctx, 2)
	if err != nil {
		return r, err
	}
	v, err := s.look(ctx)
	if err != nil {
		return r, err
	}
	r = v.Task.Rounds[1]
	s.prove(fmt.Sprintf("distance %.2f, budget used %.2f, loss %.3f", r.D, r.Omega, r.L),
		"Three attempts more failed. What that cost is a number.")
	s.prove(directive, "From the number follows a direction, by a table and not by a model.")
	return r, nil
}

// acceptedBy does the work with the approach that is left, and gives the task that was accepted.
func (s *stage) acceptedBy(ctx context.Context, way string) (v view, err error) {
	if err := s.succeed(ctx); err != nil {
		return v, err
	}
	if v, err = s.look(ctx); err != nil {
		return v, err
	}
	verdicts := append([]string{}, v.Task.Criteria...)
	for _, sub := range v.Task.SubTasks {
		verdicts = append(verdicts, sub.Criteria...)
	}
	if err := check(v.Task.State == "accepted" && len(verdicts) == 3 &&
		!slices.ContainsFunc(verdicts, func(c string) bool { return !strings.HasPrefix(c, "pass: ") }),
		"the task is accepted with every criterion passed: %s, %v", v.Task.State, verdicts); err != nil {
		return v, err
	}
	s.prove(fmt.Sprintf("round %d: %s", v.Task.Round, strings.Join(verdicts, "; ")),
		"With %s it succeeds: the task is %s.", way, v.Task.State)
	return v, nil
}

// failedRounds gives the directive in force, after so many failed rounds.
func (s *stage) failedRounds(ctx context.Context, n int) (directive string, err error) {
	v, err := s.look(ctx)
	if err != nil {
		return "", err
	}
	return v.Task.Directive, check(v.Task.State == "planning" && len(v.Task.Rounds) == n,
		"round %d failed, and the task is planned anew: %+v", n, v.Task)
}

// failAttempts makes attempts, each as wrong as the one before.
func (s *stage) failAttempts(ctx context.Context, n int) error {
	for range n {
		work, err := claimRole(ctx, s.doer().client, "R3")
		if err != nil {
			return err
		}
		evidence, err := s.write(guessed)
		if err != nil {
			return err
		}
		if err := s.execute(ctx, work.done(object{"text": "There are two."}, evidence)); err != nil {
			return err
		}
	}
	return nil
}

// execute reports the doer's work. After a subtask of the doer failed, its reports wait for
// the person, who lets each through: the machine checks decide all the same.
func (s *stage) execute(ctx context.Context, report object) error {
	var filed struct {
		WorkID string `json:"work_id"`
		State  string
	}
	if err := call(ctx, s.doer().client, "task_report", report, &filed); err != nil || filed.State != "held" {
		return err
	}
	var shown struct{ Waiting []struct{ Hash string } }
	if _, err := s.command(ctx, &shown, 0, "review", "show", filed.WorkID); err != nil {
		return err
	}
	if err := check(len(shown.Waiting) == 1, "you are shown the report that waits: %+v", shown); err != nil {
		return err
	}
	_, err := s.command(ctx, nil, 0, "review", "approve", filed.WorkID, shown.Waiting[0].Hash)
	return err
}

// succeed does the new plan and merges it.
func (s *stage) succeed(ctx context.Context) error {
	work, err := claimRole(ctx, s.doer().client, "R3")
	if err != nil {
		return err
	}
	evidence, err := s.write(found)
	if err != nil {
		return err
	}
	if err := s.execute(ctx, work.done(object{"text": "There are three."}, evidence)); err != nil {
		return err
	}
	whole, err := claimRole(ctx, s.planner().client, "R4b")
	if err != nil {
		return err
	}
	return call(ctx, s.planner().client, "task_report",
		whole.done(object{"output": strings.TrimSpace(found), "verdicts": []object{
			{"criterion": "the user can tell the lights apart", "verdict": "pass",
				"evidence": lookUp + ":" + lightsFile + " → " + strings.TrimSpace(found)}}}), nil)
}
