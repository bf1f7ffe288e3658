package controller

import "cordelia/schemas"

// budget is what is left of a task's when a seat is opened.
type budget struct {
	Rounds  int     `json:"rounds_left"`  // after this one
	Seconds int64   `json:"seconds_left"` // of work; waiting does not count
	Used    float64 `json:"used"`         // Ω, 0–1
	Until   string  `json:"answer_by"`    // then the seat is closed, unanswered
}

// budget gives what is left; own is the deadline of the seat itself, UTC µs, 0 = none.
func (u *taskTx) budget(own int64) (budget, error) {
	ms, err := u.elapsed()
	if err != nil {
		return budget{}, err
	}
	loss := u.t.settings.Loss
	return budget{Rounds: max(loss.MaxReplans-u.t.replans, 0), Seconds: max(loss.TimeBudgetMS-ms, 0) / 1000,
		Used: rounded(loss.Omega(u.t.replans, ms)), Until: stamp(u.until(own))}, nil
}

// executorForm is what R3 reports in the arguments of task_report.
type executorForm struct {
	Outcome  string             `json:"outcome"`
	Result   map[string]string  `json:"result"`
	Evidence []schemas.Evidence `json:"evidence"`
}

// exampleReport is a report in the form R3's has, of a call of one of its tools.
func exampleReport(tools []string) executorForm {
	tool := "…"
	if len(tools) > 0 {
		tool = tools[0]
	}
	return executorForm{Outcome: "done", Result: map[string]string{"…": "…"},
		Evidence: []schemas.Evidence{{Tool: tool, Input: "…", Head: "…", Tail: "…"}}}
}
