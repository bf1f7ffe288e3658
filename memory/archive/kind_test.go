package archive

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// refusedAlone reads a file of which nothing can be imported, and gives its one refusal.
func refusedAlone(t *testing.T, name, text string) Refused {
	t.Helper()
	_, err := ReadBundle(InputOf(name, strings.NewReader(text)))
	require.ErrorIs(t, err, schemas.ErrInvalid, "%s: %.40q", name, text)
	note := InputOf("note.md", strings.NewReader("Gannets dive."))
	b, err := ReadBundle(note, InputOf(name, strings.NewReader(text)))
	require.NoError(t, err)
	require.Len(t, b.items, 1, "%s: the note of another file stays: %.40q", name, text)
	require.Len(t, b.refused, 1)
	require.Equal(t, 1, b.refused[0].Count)
	return b.refused[0]
}

// An export that was damaged is refused at the line that is wrong. It never becomes a note.
func TestADamagedExportIsNoNote(t *testing.T) {
	text := exportOf(foreignItem("one", "It is one", ada), foreignItem("two", "It is two", ada)) + "\n"
	lines := strings.SplitAfter(text, "\n")
	const notJSON, isExport = "is not JSON", "is a line of an export"
	for _, c := range []struct{ name, text, where, why string }{
		{"cut.jsonl", text[1:], "cut.jsonl:1", notJSON},
		{"cut.JSONL", text[1:], "cut.JSONL:1", notJSON},
		{"cut.ndjson", text[1:], "cut.ndjson:1", notJSON},
		{"cut.jsonl", lines[1][9:], "cut.jsonl:1", notJSON},
		{"cut.jsonl", lines[1], "cut.jsonl:1", "the first record is not the header"},
		{"front.jsonl", "# c\n" + text, "front.jsonl:1", notJSON},
		{"words.jsonl", "not json\n", "words.jsonl:1", notJSON},
		{"turns.jsonl", "User: why?\nAssistant: because.\n", "turns.jsonl:1", notJSON},
		{"cut.txt", text[1:], "cut.txt:1", isExport},
		{"", text[2:], "line 1", isExport},
		{"cut", text[9:], "cut:2", isExport},
		{"front.md", "# c\n" + text, "front.md:2", isExport},
		{"far.md", strings.Repeat("# c\nwords\n\n", 5000) + lines[2], "far.md:15001", isExport},
		{"turns.txt", "User: why?\nAssistant: because.\n" + text, "turns.txt:3", isExport},
		{"end.md", "# Memory of ada\n\n" + fence + "\n", "end.md:3", "without a record"},
	} {
		got := refusedAlone(t, c.name, c.text)
		require.Contains(t, got.Why, c.why, c.name)
		require.Equal(t, []string{c.where}, got.Where, c.name)
	}
}

// What is not text is no note either, whatever it is called.
func TestWhatIsNotTextIsNoNote(t *testing.T) {
	for name, text := range map[string]string{
		"noise.md":    "# A\nwords\n# B\n\x8f\xfe\x01 words",
		"nul.md":      "# A\nwords\n# B\nno \x00 text",
		"nul.txt":     "User: why?\nAssistant: because\n\nUser: \x00",
		"noise.txt":   "User: why?\nAssistant: because\n\nUser: caf\xe9",
		"noise.jsonl": "\x8f\xfe\x01 words",
		"wide.md":     "#\x00 \x00A\x00\n\x00",
	} {
		got := refusedAlone(t, name, text)
		where, why := name+":4", "is not text in UTF-8"
		switch name {
		case "wide.md":
			where = name + ":1"
		case "noise.jsonl":
			where, why = name+":1", "is not JSON"
		}
		require.Equal(t, []string{where}, got.Where)
		require.Contains(t, got.Why, why)
	}
}

// A mark of the byte order changes nothing; notes in other letters, and those that write about
// exports, stay notes; a Markdown export is one with other ends of lines or without its first byte.
func TestNotesAndWholeExportsAreReadAsTheyAre(t *testing.T) {
	text := exportOf(foreignItem("one", "It is one", ada))
	markdown := "# Memory of ada\n\n"
	for line := range strings.Lines(text) {
		markdown += fence + "\n" + strings.TrimSpace(line) + "\n```\n\n"
	}
	for name, text := range map[string]string{
		"mark":        "\uFEFF" + text,
		"marked.md":   "\uFEFF" + markdown,
		"windows.md":  strings.ReplaceAll(markdown, "\n", "\r\n"),
		"shorn.md":    markdown[1:],
		"any.jsonl":   text,
		"other.jsonl": markdown,
	} {
		b, err := ReadBundle(InputOf(name, strings.NewReader(text)))
		require.NoError(t, err, name)
		require.Empty(t, b.refused, name)
		require.Len(t, b.items, 1, name)
		require.Equal(t, schemas.ItemID("one"), b.items[0].value.ID, name)
	}
	for name, text := range map[string]string{
		"about.md": "An export begins with `{\"kind\":\"export\",\"v\":2}`, and a record of it has a `kind`.",
		"café.txt": "Überall 日本語 — and 🐦.",
		"mark.md":  "\uFEFF# Heading\n\nwords",
		"noending": "{curly} is not where this one begins"[1:],
	} {
		said, b := contents(t, name, text)
		require.Empty(t, b.refused, name)
		require.Len(t, said, 1, name)
		require.NotContains(t, said[0], "#")
	}
}
