package hot

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cordelia/schemas"
)

// digestLimit keeps a digest within 500 tokens, at 4 bytes each.
const digestLimit = 2000

// digestLine is the most one line may take of it, so that a long summary does
// not crowd out what is open.
const digestLine = 320

// Digest is the context in a few lines for a prompt, at most 500 tokens: what
// is most needed first. It holds no line breaks or control characters of the
// entity's own, so no value can pass for another line.
func (d Doc) Digest() string {
	var b strings.Builder
	for _, line := range d.digestLines() {
		if b.Len()+len(line)+1 > digestLimit {
			break
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (d Doc) digestLines() []string {
	var lines []string
	add := func(label string, values ...string) {
		values = slices.DeleteFunc(values, func(s string) bool { return strings.TrimSpace(s) == "" })
		if len(values) > 0 {
			lines = append(lines, schemas.Shorten(label+": "+safeLine(strings.Join(values, "; ")), digestLine))
		}
	}
	add("Name", append([]string{d.text("identity", "name")}, d.texts("identity", "roles")...)...)
	goal, findings := d.task()
	add("Task", goal)
	add("Focus", d.text("active", "focus"))
	add("Project", d.text("active", "project"))
	add("Last session", d.text("ephemeral", "last_summary"))
	add("Open threads", d.texts("ephemeral", "open_threads")...)
	add("Blockers", d.texts("active", "blockers")...)
	add("Next", d.texts("active", "next")...)
	add("Style", d.texts("identity", "style")...)
	add("Findings", findings...)
	add("Notes", append(d.texts("active", "notes"), d.text("active", "notes"))...)
	return lines
}

// safeLine makes s safe to stand on one line: white space becomes a space, and
// control, format (bidirectional, zero-width, tag) and private characters go.
func safeLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.In(r, unicode.C) || r == utf8.RuneError:
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
