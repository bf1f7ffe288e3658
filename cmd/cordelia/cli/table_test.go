package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func sample() Table {
	t := Table{Firm: 2, Head: []string{"NAME", "STATUS", "NOTHING", "TEXT"}}
	t.Add(Cell{Text: "scout"}, Cell{"active", Green}, Cell{}, Cell{Text: "looks around"})
	t.Add(Cell{Text: "思考者"}, Cell{"suspended", Yellow}, Cell{},
		Cell{Text: "a text that is longer than most terminals are wide, and then some"})
	t.Add(Cell{Text: "école"}, Cell{}, Cell{}, Cell{})
	return t
}

func TestTableLayout(t *testing.T) {
	for name, width := range map[string]int{"wide": 0, "terminal": 40, "narrow": 12} {
		t.Run(name, func(t *testing.T) {
			got := sample().Render(width, false)
			path := filepath.Join("testdata", "table-"+name+".golden")
			if os.Getenv("UPDATE_GOLDEN") == "1" {
				require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
			}
			want, err := os.ReadFile(path)
			again := "run UPDATE_GOLDEN=1 go test ./cmd/cordelia/cli -run " + t.Name()
			require.NoError(t, err, again)
			require.Equal(t, string(want), got, again+" and read the change")
			for l := range strings.SplitSeq(got, "\n") {
				require.Equal(t, strings.TrimRight(l, " "), l)
				if width >= 3*narrowest+2*gap {
					require.LessOrEqual(t, Measure(l), width)
				}
			}
		})
	}
}

func TestTableColours(t *testing.T) {
	got := sample().Render(0, true)
	require.Contains(t, got, "\x1b[32mactive\x1b[0m")
	require.Contains(t, got, "\x1b[1mNAME\x1b[0m")
	plain := strings.NewReplacer("\x1b[32m", "", "\x1b[33m", "", "\x1b[1m", "", "\x1b[0m", "").Replace(got)
	require.Equal(t, sample().Render(0, false), plain, "colour changes no layout")
}

// What agents wrote cannot steer the terminal, nor break the lines of a table.
func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain":              "plain",
		"two\nlines\tand":    "two lines and",
		"\x1b[2Jgone":        `\u{1b}[2Jgone`,
		"a\u202eb":           `a\u{202e}b`,
		"not \xff utf-8":     "not \uFFFD utf-8",
		"tag\U000e0041 here": `tag\u{e0041} here`,
	} {
		require.Equal(t, want, Clean(in))
	}
	require.Equal(t, "two\nlines", Block("two\nlines"))
	require.Equal(t, `\u{9b}`, Block("\u009b"))
}

func FuzzCut(f *testing.F) {
	f.Add("思考者", 4)
	f.Add("e\u0301cole", 3)
	f.Add("", 1)
	f.Fuzz(func(t *testing.T, s string, width int) {
		if width < 1 || !utf8.ValidString(s) {
			return
		}
		got := Cut(s, width)
		require.LessOrEqual(t, Measure(got), max(width, 1))
		if Measure(s) <= width {
			require.Equal(t, s, got)
		}
	})
}

func TestReadJSON(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "data.json")
	require.NoError(t, os.WriteFile(file, []byte(" {\"a\": 1}\n"), 0o600))
	in, err := os.Open(file)
	require.NoError(t, err)
	defer in.Close()
	a := &App{In: in}
	for _, given := range []string{file, "-", ` {"a": 1}`} {
		got, err := a.ReadJSON(given)
		require.NoError(t, err)
		require.JSONEq(t, `{"a":1}`, string(got))
	}
	large := filepath.Join(dir, "large.json")
	require.NoError(t, os.WriteFile(large, []byte("["+strings.Repeat(" ", maxInput)+"]"), 0o600))
	for _, given := range []string{"{", "[1", filepath.Join(dir, "absent"), large, dir} {
		_, err := a.ReadJSON(given)
		require.ErrorContains(t, err, "invalid", given)
	}
}

func TestFirstLine(t *testing.T) {
	for in, want := range map[string]string{"secret\nmore": "secret", "secret": "secret", "se cret \r\n": "se cret "} {
		got, err := firstLine(strings.NewReader(in))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	rest := strings.NewReader("secret\nmore")
	_, err := firstLine(rest)
	require.NoError(t, err)
	require.Equal(t, 4, rest.Len(), "what follows stays for others")
	for _, in := range []string{"", "\n", strings.Repeat("x", maxPassphrase+1)} {
		_, err := firstLine(strings.NewReader(in))
		require.Error(t, err)
	}
}
