package doctor

import (
	"strings"

	runner "cordelia/run"
	"cordelia/schemas"
)

// shield tries the sandbox of workers and says what it holds, and what it leaves open.
func (x *examination) shield() {
	const what = "sandbox of workers"
	enforced, open, err := runner.Shielded()
	if err != nil {
		x.report(what, Skipped, "", "%s", schemas.MessageOf(err))
		return
	}
	if err := runner.TryShield(); err != nil {
		x.report(what, Problem, "cordelia run --sandbox none confines nothing; report this",
			"the kernel promises it, and it does not hold: %v", err)
		return
	}
	x.report(what, Fine, "", "tried, and it holds:\n  %s\nwhat it leaves open:\n  %s",
		strings.Join(enforced, "\n  "), strings.Join(open, "\n  "))
}
