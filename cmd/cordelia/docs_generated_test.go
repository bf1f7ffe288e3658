package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordelia/agents"
	"cordelia/cmd/cordelia/cli"
	"cordelia/events"
	"cordelia/memory"
	"cordelia/ops"
	"cordelia/pipeline"
	"cordelia/pipeline/controller"
	"cordelia/review"
	"cordelia/schemas"
	"cordelia/trust"
	"cordelia/work"
)

// sources parses the files of a package of the program, without tests.
func sources(t *testing.T, folder string) (list []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(t, err)
		list = append(list, f)
	}
	return list
}

// generated compares what stands between two marks of a page with content, or
// under UPDATE_GOLDEN=1 puts it there.
func generated(t *testing.T, page, mark, content string) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", page)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	begin, end := "<!-- "+mark+":begin -->\n", "<!-- "+mark+":end -->"
	before, rest, found := strings.Cut(string(raw), begin)
	require.True(t, found, "%s has no %s", path, begin)
	have, after, found := strings.Cut(rest, end)
	require.True(t, found, "%s has no %s", path, end)
	if os.Getenv("UPDATE_GOLDEN") == "1" {
		require.NoError(t, os.WriteFile(path, []byte(before+begin+content+end+after), 0o644))
		return
	}
	require.Equal(t, content, have, "%s is out of date: run UPDATE_GOLDEN=1 go test ./cmd/cordelia -run %s "+
		"and read the change", path, t.Name())
}

// setting is a key of config.json.
type setting struct{ key, kind, meaning string }

// settingsOf lists the keys of a struct and of those in it, as their comments
// explain them.
func settingsOf(t *testing.T, files []*ast.File, of, prefix string) (list []setting) {
	t.Helper()
	var body *ast.StructType
	for _, f := range files {
		if o := f.Scope.Lookup(of); o != nil && o.Kind == ast.Typ {
			body, _ = o.Decl.(*ast.TypeSpec).Type.(*ast.StructType)
		}
	}
	require.NotNil(t, body, of)
	for _, field := range body.Fields.List {
		raw, err := strconv.Unquote(field.Tag.Value)
		require.NoError(t, err)
		key := prefix + reflect.StructTag(raw).Get("json")
		kind := strings.TrimPrefix(typeName(field.Type), "*")
		meaning := strings.TrimSpace(strings.ReplaceAll(field.Doc.Text()+field.Comment.Text(), "\n", " "))
		require.NotEmpty(t, meaning, "%s has no comment that explains it", key)
		if usual := reflect.StructTag(raw).Get("default"); usual != "" {
			meaning += "; left out: " + usual
		}
		words := map[string]string{"string": "text", "bool": "true or false", "int": "number", "int64": "number",
			"float64": "number", "[]string": "list of texts", "duration": "duration"}
		if word, plain := words[kind]; plain {
			list = append(list, setting{key, word, meaning})
			continue
		}
		if one, many := strings.CutPrefix(kind, "[]"); many {
			list = append(list, setting{key, "list of objects", meaning})
			list = append(list, settingsOf(t, files, one, key+"[].")...)
			continue
		}
		list = append(list, setting{key, "object", meaning})
		list = append(list, settingsOf(t, files, kind, key+".")...)
	}
	return list
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return "*" + typeName(e.X)
	case *ast.ArrayType:
		return "[]" + typeName(e.Elt)
	}
	return ""
}

// The settings in docs are those that the program reads.
func TestSettingsInDocs(t *testing.T) {
	all := settingsOf(t, sources(t, "config"), "Settings", "")
	var b strings.Builder
	b.WriteString("| key | type | |\n|---|---|---|\n")
	meaning := map[string]string{}
	for _, s := range all {
		meaning[s.key] = s.meaning
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.key, s.kind, s.meaning)
	}
	generated(t, "settings.md", "settings", b.String())

	// What the comments say of defaults is so.
	short := func(d time.Duration) string { return strings.TrimSuffix(strings.TrimSuffix(d.String(), "0s"), "0m") }
	tasks := controller.DefaultSettings()
	for key, want := range map[string]string{
		"grace":          short(agents.DefaultPeriods().Grace),
		"cooldown":       short(agents.DefaultPeriods().Cooldown),
		"tasks.patience": short(tasks.Patience),
		"tasks.retries":  fmt.Sprint(tasks.Retries),
		"tasks.policy":   pipeline.DefaultPolicy,

		"tasks.general_tools":      strings.Join(pipeline.GeneralTools(), ", "),
		"tasks.loss.alpha":         fmt.Sprint(tasks.Loss.Alpha),
		"tasks.loss.beta":          fmt.Sprint(tasks.Loss.Beta),
		"tasks.loss.lambda":        fmt.Sprint(tasks.Loss.Lambda),
		"tasks.loss.w1":            fmt.Sprint(tasks.Loss.W1),
		"tasks.loss.w2":            fmt.Sprint(tasks.Loss.W2),
		"tasks.loss.epsilon":       fmt.Sprint(tasks.Loss.Epsilon),
		"tasks.loss.delta":         fmt.Sprint(tasks.Loss.Delta),
		"tasks.loss.rho":           fmt.Sprint(tasks.Loss.Rho),
		"tasks.loss.abandon_omega": fmt.Sprint(tasks.Loss.AbandonOmega),
		"tasks.loss.max_replans":   fmt.Sprint(tasks.Loss.MaxReplans),
		"tasks.loss.time_budget":   short(time.Duration(tasks.Loss.TimeBudgetMS) * time.Millisecond),

		"trust.prior.mean":     fmt.Sprint(trust.PriorMean),
		"trust.prior.strength": fmt.Sprint(trust.PriorStrength),
	} {
		require.Contains(t, meaning[key], "left out: "+want, key)
	}
}

// The exit codes in docs are those of the program.
func TestExitCodesInDocs(t *testing.T) {
	meanings := map[int]string{0: "done"}
	ending, err := os.ReadFile("run_end.go")
	require.NoError(t, err)
	for _, f := range append(sources(t, "cli"), sources(t, ".")...) {
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 || !strings.HasPrefix(strings.ToLower(spec.Names[0].Name), "exit") {
				return true
			}
			value, ok := spec.Values[0].(*ast.BasicLit)
			if !ok || value.Kind != token.INT {
				return true
			}
			code, err := strconv.Atoi(value.Value)
			require.NoError(t, err)
			require.NotContains(t, meanings, code, "two meanings")
			meanings[code] = strings.TrimSpace(spec.Comment.Text() + spec.Doc.Text())
			require.NotEmpty(t, meanings[code], spec.Names[0].Name)
			if name := spec.Names[0].Name; regexp.MustCompile(`\b`+name+`\b`).Match(ending) && code != cli.ExitFailed {
				require.Contains(t, meanings[code], "run", "a run ends with %s", name)
			}
			return true
		})
	}
	var b strings.Builder
	b.WriteString("| code | |\n|---|---|\n")
	help := rootCommand((&cli.App{}), nil).Long
	for _, code := range slices.Sorted(maps.Keys(meanings)) {
		fmt.Fprintf(&b, "| %d | %s |\n", code, meanings[code])
		require.Contains(t, help, fmt.Sprintf("%d ", code), "cordelia --help")
	}
	generated(t, "operations.md", "exits", b.String())
}

// The limits in docs and in what models read are those of the code. White space does not count, so
// that lines may be wrapped; every one that is missing is named.
func TestLimitsInDocs(t *testing.T) {
	holds := func(where string, raw []byte, wants ...string) {
		text := strings.Join(strings.Fields(string(raw)), " ")
		for _, want := range wants {
			want = strings.Join(strings.Fields(want), " ")
			assert.True(t, strings.Contains(text, want), "%s must say %q, as the code does", where, want)
		}
	}
	require.Zero(t, work.DefaultLease%time.Minute+work.MaxLease%time.Hour, "operations.md and tasks.md, which give "+
		"the default lease in minutes and the longest in hours, need another unit, and this test")
	for page, wants := range map[string][]string{
		"operations.md": {
			fmt.Sprintf("| items in one read · hits of one search | %d · ", memory.MaxReadItems),
			fmt.Sprintf("| one item of work: intent, brief, result | 8, 64 and %d KiB |", work.MaxResult>>10),
			fmt.Sprintf("| items of one submission | %d |", work.MaxItems),
			fmt.Sprintf("| a lease | %d hour at most; %d minutes unless", work.MaxLease/time.Hour,
				work.DefaultLease/time.Minute),
			fmt.Sprintf("| the newest %d; older ones are counted |", events.MaxUnread),
			fmt.Sprintf("| living agents of a swarm | %d |", schemas.MaxSwarmAgents),
			fmt.Sprintf("| %d, of %d memories or %d KiB each;", review.MaxOpen, review.MaxMemories,
				review.MaxBytes>>10),
		},
		"tasks.md": {fmt.Sprintf("A claim lasts %d minutes unless", work.DefaultLease/time.Minute)},
	} {
		raw, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		require.NoError(t, err)
		holds(page, raw, wants...)
	}
	claim, err := ops.Find("task_claim").InputSchema()
	require.NoError(t, err)
	holds("task_claim", claim, fmt.Sprintf("%d to %d, else %d", work.MinLease/time.Second, work.MaxLease/time.Second,
		work.DefaultLease/time.Second))
}

// The page about searches names every reason that a hit may give, files that there are, and for
// each step the tests that hold it.
func TestReasonsOfHitsInDocs(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "search.md"))
	require.NoError(t, err)
	memoryDir := filepath.Join("..", "..", "memory")
	code, err := filepath.Glob(filepath.Join(memoryDir, "rank", "*.go"))
	require.NoError(t, err)
	reason, found := regexp.MustCompile(`(?m)^\t\w+ += "([^"]+)"$`), 0
	for _, file := range code {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NotRegexp(t, `\.(because|plus|times|become)\("`, string(text), "%s: parts.go has the reasons", file)
		if filepath.Base(file) != "parts.go" {
			continue
		}
		for _, m := range reason.FindAllStringSubmatch(string(text), -1) {
			found++
			assert.Contains(t, string(page), strings.TrimSpace(m[1]))
		}
	}
	require.GreaterOrEqual(t, found, 20, "reasons are written otherwise now")
	for _, m := range regexp.MustCompile("`(?:memory/)?([a-z_/]+\\.go)`").FindAllStringSubmatch(string(page), -1) {
		require.FileExists(t, filepath.Join(memoryDir, m[1]))
	}

	var tests strings.Builder
	for _, folder := range []string{memoryDir, filepath.Join(memoryDir, "rank"), filepath.Join("..", "..", "ops")} {
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			tests.Write(text)
		}
	}
	steps := 0
	for _, row := range regexp.MustCompile(`(?m)^\| [a-z].* \|$`).FindAllString(string(page), -1) {
		if strings.HasPrefix(row, "| step ") {
			continue
		}
		steps++
		named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(row, -1)
		assert.NotEmpty(t, named, "a step that no test holds: %s", row)
		for _, m := range named {
			assert.Contains(t, tests.String(), "func "+m[1]+"(", row)
		}
	}
	require.GreaterOrEqual(t, steps, 12, "the table is written otherwise now")
}
