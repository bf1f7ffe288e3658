package ops

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"cordelia/schemas"
	"cordelia/work"
)

// Bounds of the text of a brief or a result, in bytes: of a page within a claim, and on request.
const (
	claimedText = 6000
	wholeText   = 24000
)

// leaseText words an item for its holder.
func leaseText(w work.Claimed) string {
	lines := []string{inset(w.Intent), words(", ", fmt.Sprintf("work %s of task %s", short(w.WorkID), short(w.TaskID)),
		when(w.GroupID != "", "group %s", w.GroupID),
		when(w.Attempt > 1, "attempt %d", w.Attempt), when(w.Resumed, "held already")) +
		fmt.Sprintf("; yours until %s%s; today is %s", second(w.ExpiresAt),
			when(w.Deadline != "", ", its deadline is %s", second(w.Deadline)), w.Today)}
	if text := briefPage(w, briefPages(w), 1); text != "" {
		lines = append(lines, text)
	}
	if w.Note != "" {
		lines = append(lines, "its last holder noted: "+inset(w.Note))
	}
	return strings.Join(append(lines, w.Notes...), "\n")
}

// briefPages is the brief of an item in pages that a claim can give. What of the results before is too
// long for the answer of a claim comes last.
func briefPages(w work.Claimed) []string {
	pages := cutText(briefText(w.Brief, w.Inputs), claimedText)
	for _, in := range w.Inputs {
		if in.Left {
			pages = append(pages, cutText(inset(inputText(in, string(in.Result))), claimedText)...)
		}
	}
	return pages
}

// briefPage is one of the pages, from 1, and the call for the next one.
func briefPage(w work.Claimed, pages []string, n int) string {
	text := pages[n-1]
	if n > 1 {
		text = fmt.Sprintf("page %d of %d of the brief of work %s:\n…%s", n, len(pages), short(w.WorkID),
			text)
	}
	if n == len(pages) {
		return text
	}
	return fmt.Sprintf("%s…\ncut here; the next page: %s", text,
		schemas.Tool("task_claim", "work_id", short(w.WorkID), "brief_page", n+1))
}

// inset moves the further lines of an agent's text in: one at the margin is the node's.
func inset(s string) string { return strings.ReplaceAll(s, "\n", "\n  ") }

// briefText words a brief for a client that shows a model the text of an answer
// alone. What may be long comes last.
func briefText(b work.Brief, before []work.Input) string {
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
		result := cmp.Or(string(in.Result), "none")
		if in.Left {
			result = "too long for here, it is on the last pages"
		}
		add("%s", inputText(in, result))
	}
	return strings.Join(lines, "\n")
}

// inputText words a result that an item builds on.
func inputText(in work.Input, result string) string {
	return fmt.Sprintf("result of %s%s%s: %s", when(in.Stage > 0, "stage %d, ", in.Stage), short(in.WorkID),
		when(in.State != "", ", which is %s%s", in.State, when(in.Note != "", " (%s)", Line(in.Note))),
		result)
}

// cutText cuts text into parts of at most limit bytes, between characters.
func cutText(text string, limit int) (parts []string) {
	for len(text) > limit {
		at := limit
		for at > limit-utf8.UTFMax && !utf8.RuneStart(text[at]) {
			at--
		}
		parts, text = append(parts, text[:at]), text[at:]
	}
	return append(parts, text)
}

// begun is the beginning of a text of an item, and how the user sees the rest if there is more.
func begun(text, item string) string {
	parts := cutText(text, wholeText)
	if len(parts) == 1 {
		return text
	}
	return fmt.Sprintf("%s…\ncut here; the user sees all of it with cordelia task show %s --detail", parts[0],
		short(item))
}
