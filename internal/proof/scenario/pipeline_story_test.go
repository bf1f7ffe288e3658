package scenario

import (
	"fmt"
	"strings"
)

// The story of a task that goes wherever one may go: R1 asks the user first. In round 1
// the hole takes two attempts, and the whole is not what was asked for; in round 2 the
// tree fails for good; what round 3 makes a person rejects, and approves that of round 4.
// Who answers knows the story from what they are told, so that it goes the same way
// whoever is killed in it.
const (
	rejectedRound = 3
	// what becomes of a task that may go on for as long as it takes, and of one that may
	// have one more round
	wholeStory = "accepted in round 4, asked 1 times, 15 attempts, rejected 1 times"
	halfStory  = "abandoned in round 2, asked 1 times, 9 attempts, rejected 0 times"
)

// storyTold is what became of tasks, as the record has it.
const storyTold = `SELECT state || ' in round ' || round || ', asked ' || clarifications || ' times, ' ||
	(SELECT count(*) FROM task_messages m WHERE m.task = t.n AND record = 'ExecutionResult') || ' attempts, rejected '
	||
	(SELECT count(*) FROM task_messages m WHERE m.task = t.n AND record = 'Rejected') || ' times'
	FROM tasks t WHERE json_extract(settings, '$.Loss.MaxReplans') = ?`

// gardenPlan is the plan of a round: two steps in a row and two at once.
func gardenPlan(round int) string {
	hole, tree, whole := "a hole is there", "a tree is there", "it is a garden"
	switch round {
	case 1:
		hole, whole = hole+", at the second attempt", whole+", not yet"
	case 2:
		tree += ", not yet"
	}
	return fmt.Sprintf(`{"subtasks": [{"intent": "dig, round %[1]d", "sequence": 1, "tools": ["spade"], "success_criteria": [%[2]q]},
		{"intent": "plant a tree", "sequence": 2, "tools": ["spade"], "success_criteria": [%[3]q]},
		{"intent": "plant a rose", "sequence": 2, "tools": ["spade"], "success_criteria": ["a rose is there"]}],
		"task_criteria": [%[4]q]}`, round, hole, tree, whole)
}

// seatOf is whose part a claimed seat is, as its intent begins; that of R2 has another
// name from the second round on.
func seatOf(a Answer) string {
	intent, _ := look(a, "work.intent")
	seat, _, _ := strings.Cut(fmt.Sprint(intent), ":")
	if _, again := look(a, "work.brief.inputs.earlier_plans"); again {
		return seat + " again"
	}
	if strings.Contains(fmt.Sprint(intent), "Executor (R3)") {
		return "Executor (R3)"
	}
	return seat
}

// seatAnswer is what a claimed seat is answered with.
func seatAnswer(a Answer) string {
	seat := seatOf(a)
	switch {
	case strings.HasPrefix(seat, "Perceiver"):
		if _, asked := look(a, "work.brief.inputs.asked"); !asked {
			return `{"intent": "", "questions": ["Which garden?"]}`
		}
		return `{"intent": "make a garden, please"}`
	case strings.HasPrefix(seat, "Planner"):
		earlier, _ := look(a, "work.brief.inputs.earlier_plans.#")
		rounds, _ := earlier.(float64)
		return gardenPlan(int(rounds) + 1)
	case strings.HasPrefix(seat, "Validator"):
		return `{` + seatVerdicts(a) + `}`
	case strings.HasPrefix(seat, "Meta"):
		return `{"output": {"garden": true}, ` + seatVerdicts(a) + `}`
	}
	return `{"done": true}`
}

// seatVerdicts judges what says of itself when it holds.
func seatVerdicts(a Answer) string {
	attempt, _ := look(a, "work.brief.inputs.attempt")
	criteria, _ := look(a, "work.brief.inputs.criteria.*.criterion")
	var list []string
	for _, c := range criteria.([]any) {
		verdict, text := "pass", c.(string)
		if strings.HasSuffix(text, "not yet") || strings.HasSuffix(text, "second attempt") && attempt == 1.0 {
			verdict = "fail"
		}
		list = append(list, fmt.Sprintf(`{"criterion": %q, "verdict": %q, "evidence": "seen"}`, text, verdict))
	}
	return `"verdicts": [` + strings.Join(list, ",") + `]`
}
