package archtest

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An invariant is stated once, as a bullet of a package comment
//
//   - INV-NAME: what always holds.
//
// enforced at one point, whose comment names it in parentheses, and named by at
// least one test. A mention in other forms is a cross-reference.
var (
	statement = regexp.MustCompile(`(?m)^\s*- (INV-[A-Z0-9-]+): `)
	inParens  = regexp.MustCompile(`\((INV-[A-Z0-9-]+(?:, INV-[A-Z0-9-]+)*)\)`)
	mention   = regexp.MustCompile(`INV-[A-Z0-9]+(?:-[A-Z0-9]+)*`)

	inTestName = regexp.MustCompile(`_INV_[A-Z0-9_]+`)
)

type invariant struct {
	stated   []string // files
	text     string
	enforced []string // file: declaration or line
	tested   []string
}

func invariants(t *testing.T) map[string]*invariant {
	found := map[string]*invariant{}
	get := func(name string) *invariant {
		if found[name] == nil {
			found[name] = &invariant{}
		}
		return found[name]
	}
	for _, f := range parsed(t) {
		if f.pkg == "internal/archtest" {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(root, f.path))
		require.NoError(t, err)
		switch {
		case f.test:
			// In the name of a test the dashes are underscores.
			text := inTestName.ReplaceAllStringFunc(string(raw),
				func(s string) string { return strings.ReplaceAll(s, "_", "-") })
			for _, name := range mention.FindAllString(text, -1) {
				i := get(name)
				i.tested = append(i.tested, f.path)
			}
		case path.Base(f.path) == "doc.go" && f.syntax.Doc != nil:
			text := f.syntax.Doc.Text()
			for _, at := range statement.FindAllStringSubmatchIndex(text, -1) {
				i := get(text[at[2]:at[3]])
				i.stated = append(i.stated, f.path)
				i.text = bullet(text[at[1]:])
			}
		default:
			for _, group := range f.syntax.Comments {
				for _, m := range inParens.FindAllStringSubmatch(group.Text(), -1) {
					for name := range strings.SplitSeq(m[1], ", ") {
						i := get(name)
						i.enforced = append(i.enforced, f.path)
					}
				}
				for _, name := range mention.FindAllString(group.Text(), -1) {
					get(name)
				}
			}
		}
	}
	scripts, err := filepath.Glob(filepath.Join(root, "internal/proof/scenario/testdata/*.txt"))
	require.NoError(t, err)
	for _, script := range scripts {
		raw, err := os.ReadFile(script)
		require.NoError(t, err)
		for _, name := range mention.FindAllString(string(raw), -1) {
			get(name).tested = append(get(name).tested, filepath.Base(script))
		}
	}
	return found
}

// bullet is the text of a list item up to the next one or the end of the list.
func bullet(text string) string {
	var words []string
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if len(words) > 0 && (line == "" || strings.HasPrefix(line, "- ")) {
			break
		}
		words = append(words, strings.Fields(line)...)
	}
	return strings.Join(words, " ")
}

func TestInvariantsAreStatedEnforcedAndTested(t *testing.T) {
	for name, i := range invariants(t) {
		assert.Len(t, i.stated, 1, `%s is stated once, as "- %s: …" in the comment of a package`, name, name)
		assert.Len(t, i.enforced, 1, "%s is enforced at one point, whose comment names it in parentheses", name)
		assert.NotEmpty(t, i.tested, "%s is named by no test", name)
	}
}

const (
	page  = "docs/invariants.md"
	begin = "<!-- invariants:begin -->\n"
	end   = "<!-- invariants:end -->"
)

// The list on the page of invariants is the one found; UPDATE_GOLDEN=1 rewrites it.
func TestInvariantListIsCurrent(t *testing.T) {
	var b strings.Builder
	b.WriteString("\n| invariant | what always holds | enforced in |\n|---|---|---|\n")
	all := invariants(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, strings.ReplaceAll(all[name].text, "|", `\|`),
			strings.Join(all[name].enforced, ", "))
	}
	b.WriteString("\n")
	file := filepath.Join(root, page)
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(raw), begin)
	require.True(t, ok, "%s needs the line %q", page, strings.TrimSpace(begin))
	have, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "%s needs the line %q", page, end)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile(file, []byte(before+begin+b.String()+end+after), 0o644))
		return
	}
	require.Equal(t, b.String(), have, "run UPDATE_GOLDEN=1 go test ./internal/archtest -run %s and read the change",
		t.Name())
}
