package ops

import (
	"cmp"
	"fmt"
	"strings"

	"cordelia/work"
)

// Bounds of the text of a brief or a result, in bytes: within a claim, and on request.
const (
	claimedText = 6000
	wholeText   = 24000
)

// leaseText words an item for its holder.
func leaseText(w work.Claimed) string {
	whole := fmt.Sprintf(`all of it: task_status {"work_id": %q, "detail": true}`, short(w.WorkID))
	lines := []string{inset(w.Intent), words(", ", fmt.Sprintf("work %s of task %s", short(w.WorkID), short(w.TaskID)),
		when(w.GroupID != "", "group %s", w.GroupID),
		when(w.Attempt > 1, "attempt %d", w.Attempt), when(w.Resumed, "held already")) +
		fmt.Sprintf("; yours until %s; today is %s", second(w.ExpiresAt), w.Today)}
	if text := briefText(w.Brief, w.Inputs, claimedText, whole); text != "" {
		lines = append(lines, text)
	}
	if w.Note != "" {
		lines = append(lines, "its last holder noted: "+inset(w.Note))
	}
	return strings.Join(append(lines, w.Notes...), "\n")
}

// inset moves the further lines of an agent's text in: one at the margin is the node's.
func inset(s string) string { return strings.ReplaceAll(s, "\n", "\n  ") }

// briefText words a brief for a client that shows a model the text of an answer
// alone. What may be long comes last; where it is cut, rest says where it is whole.
func briefText(b work.Brief, before []work.Input, limit int, rest string) string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, inset(fmt.Sprintf(format, args...))) }
	for i, c := range b.Criteria {
		add("criterion %d: %s", i+1, c)
	}
	for i, c := range b.Constraints {
		add("constraint %d: %s", i+1, c)
	}
	if len(b.Context) > 0 {
		add("read first with memory_read_warm: %s", shorts(b.Context))
	}
	if len(b.AnswerSchema) > 0 {
		add("the result must fit: %s", b.AnswerSchema)
	}
	if len(b.ReportSchema) > 0 {
		add("the report must fit: %s", b.ReportSchema)
	}
	if len(b.Inputs) > 0 {
		add("inputs: %s", b.Inputs)
	}
	for _, in := range before {
		result := string(in.Result)
		if in.Left {
			result = fmt.Sprintf(`too long for here; task_status {"work_id": %q, "detail": true}`, short(in.WorkID))
		}
		add("result of %s%s%s: %s", when(in.Stage > 0, "stage %d, ", in.Stage), short(in.WorkID),
			when(in.State != "", ", which is %s%s", in.State, when(in.Note != "", " (%s)", Line(in.Note))),
			cmp.Or(result, "none"))
	}
	return cutText(strings.Join(lines, "\n"), limit, rest)
}

// cutText is text of at most limit bytes, and where the rest is if there is more.
func cutText(text string, limit int, rest string) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…\ncut here; " + rest
}
