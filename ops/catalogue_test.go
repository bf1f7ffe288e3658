package ops

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/access"
	"cordelia/node"
)

// tokens is what a model gets to see of an operation, in tokens of four bytes.
func tokens(t *testing.T, o *Operation) int {
	in, err := o.InputSchema()
	require.NoError(t, err)
	return (len(o.Name) + len(o.Description) + len(in) + 3) / 4
}

func TestTokenBudget(t *testing.T) {
	descriptions := 0
	var forWorkers []*Operation
	for _, name := range workerTools(t) {
		forWorkers = append(forWorkers, Find(name))
	}
	for _, o := range Catalogue() {
		descriptions += len(o.Description)
		require.LessOrEqual(t, len(o.Description), 600, o.Name)
	}
	require.LessOrEqual(t, descriptions/len(Catalogue()), 200, "average description")
	full, dear := cost(t, Catalogue())
	require.LessOrEqual(t, full, 8500, "the lead's list is too long: shorten what these say of themselves: %s", dear)
	worker, dear := cost(t, forWorkers)
	require.LessOrEqual(t, worker, 2000, "a worker's list is too long: shorten what these say of themselves: %s", dear)
	golden(t, filepath.Join("..", "docs", "clients.md"), between, bill(t, full, worker))
}

// cost sums the tokens of a list of tools, and names those that cost more than their share, with what they cost.
func cost(t *testing.T, list []*Operation) (sum int, dear string) {
	for _, o := range list {
		sum += tokens(t, o)
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b *Operation) int { return tokens(t, b) - tokens(t, a) })
	var over []string
	for _, o := range list {
		if n := tokens(t, o); n > sum/len(list) {
			over = append(over, fmt.Sprintf("%s %d", o.Name, n))
		}
	}
	return sum, strings.Join(over, ", ")
}

// workerTools are those of an agent registered with no capabilities given.
func workerTools(t *testing.T) []string {
	var caps struct{ Tools []string }
	require.NoError(t, json.Unmarshal(node.UsualCapabilities("", nil), &caps))
	for _, name := range caps.Tools {
		require.NotNil(t, Find(name), name)
	}
	return caps.Tools
}

func bill(t *testing.T, full, worker int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| list | tools | tokens |\n|---|---|---|\n")
	usual := slices.DeleteFunc(slices.Clone(Catalogue()), func(o *Operation) bool { return o.Toolset == Roles })
	sum, _ := cost(t, usual)
	require.LessOrEqual(t, sum, 6500)
	fmt.Fprintf(&b, "| a lead session | %d | %d |\n", len(usual), sum)
	fmt.Fprintf(&b, "| a lead session where there are roles: everything | %d | %d |\n", len(Catalogue()), full)
	fmt.Fprintf(&b, "| a worker with the default rights | %d | %d |\n", len(workerTools(t)), worker)
	for _, set := range Toolsets() {
		n, sum := 0, 0
		for _, o := range Catalogue() {
			if o.Toolset == set {
				n++
				sum += tokens(t, o)
			}
		}
		fmt.Fprintf(&b, "| only `--toolsets %s` | %d | %d |\n", set, n, sum)
	}
	b.WriteString("\nName, description and input schema of every tool, at four bytes a token.\n")
	return b.String()
}

// between replaces what stands between the README's markers.
func between(file, content string) string {
	const begin, end = "<!-- tokens:begin -->\n", "<!-- tokens:end -->"
	i, j := strings.Index(file, begin), strings.Index(file, end)
	return file[:i+len(begin)] + content + file[j:]
}

// rewrite is the command that CONTRIBUTING names for the golden files of the catalogue.
const rewrite = "UPDATE_GOLDEN=1 go test ./ops -run 'Catalogue|Token|Published|ToolsPage'"

// golden compares with, or under UPDATE_GOLDEN=1 rewrites, a checked-in file.
func golden(t *testing.T, path string, place func(file, content string) string, content string) {
	t.Helper()
	update := os.Getenv("UPDATE_GOLDEN") == "1"
	old, err := os.ReadFile(path)
	if !update {
		require.NoError(t, err, "run %s", rewrite)
	}
	want := place(string(old), content)
	if update && want != string(old) {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		return
	}
	if want != string(old) {
		t.Errorf("%s is out of date: run %s and read the change", path, rewrite)
	}
}

func whole(_, content string) string { return content }

func TestCatalogue_INV_CATALOGUE(t *testing.T) {
	var list bytes.Buffer
	seen := map[string]bool{}
	loaded := 0
	for _, o := range Catalogue() {
		require.False(t, seen[o.Name], "%s is listed twice", o.Name)
		seen[o.Name] = true
		require.Contains(t, Toolsets(), o.Toolset, o.Name)
		require.Contains(t, []access.Effect{access.Read, access.Write, access.Destroy}, o.Effect, o.Name)
		require.NotEmpty(t, o.Title, o.Name)
		require.NotEmpty(t, o.Description, o.Name)
		if o.AlwaysLoad {
			loaded++
		} else {
			require.NotEmpty(t, o.SearchHint, "%s is deferred and has no search hint", o.Name)
		}
		in, err := o.InputSchema()
		require.NoError(t, err)
		out, err := o.OutputSchema()
		require.NoError(t, err)
		portable(t, o.Name, in)
		require.NotContains(t, string(in)+string(out), `":true`, "%s has a schema that is a bare true", o.Name)
		fmt.Fprintf(&list, "%s\n  %s, %s; %s\n  in  %s\n  out %s\n", o.Name, o.Toolset, o.Effect, o.Description, in,
			out)
	}
	require.True(t, slices.IsSortedFunc(Catalogue(), func(a, b *Operation) int {
		return slices.Index(Toolsets(), a.Toolset) - slices.Index(Toolsets(), b.Toolset)
	}), "tools stand in the order of their toolsets")
	require.GreaterOrEqual(t, loaded, 4)
	require.LessOrEqual(t, loaded, 8)
	golden(t, filepath.Join("testdata", "catalogue.golden"), whole, list.String())
}

// portable refuses what some clients cannot read.
func portable(t *testing.T, name string, schema json.RawMessage) {
	for _, keyword := range []string{`"null"`, `"$ref"`, `"anyOf"`, `"oneOf"`, `"type":[`} {
		require.NotContains(t, string(schema), keyword, name)
	}
}
