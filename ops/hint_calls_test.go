package ops

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// A call of which a hint gives arguments works as it is printed: it has all that its tool requires. The
// source says it of each hint, also of those that no test brings about.
func TestACallInAHintHasWhatItsToolRequires(t *testing.T) {
	seen := 0
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == ".git" || d.Name() == "proof") {
			return cmpErr(err, filepath.SkipDir)
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			tool, given := hintedCall(n)
			if tool == "" || len(given) == 0 {
				return true
			}
			seen++
			var lacks []string
			for _, name := range required(t, tool, given) {
				if _, ok := given[name]; !ok {
					lacks = append(lacks, name)
				}
			}
			assert.Empty(t, lacks, "%s: %s", fset.Position(n.Pos()), tool)
			return true
		})
		return nil
	}))
	require.Greater(t, seen, 40)
}

// cmpErr is err, or else without it.
func cmpErr(err, without error) error {
	if err != nil {
		return err
	}
	return without
}

// hintedCall is the tool of schemas.Tool("tool", "argument", value, …), of Do and of Other, and its arguments
// with those values that are texts; none if the source does not show them.
func hintedCall(n ast.Node) (tool string, given map[string]string) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 || call.Ellipsis.IsValid() {
		return "", nil
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Tool", "Do", "Other"}, f.Sel.Name) {
		return "", nil
	}
	if of, ok := f.X.(*ast.Ident); !ok || of.Name != "schemas" {
		return "", nil
	}
	text := func(e ast.Expr) string {
		if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
			s, _ := strconv.Unquote(l.Value) //nolint:errcheck // it was parsed
			return s
		}
		return ""
	}
	given = map[string]string{}
	for i := 1; i+1 < len(call.Args); i += 2 {
		given[text(call.Args[i])] = text(call.Args[i+1])
	}
	return text(call.Args[0]), given
}

// required are the arguments that a tool requires, and those that this action of it does.
func required(t *testing.T, tool string, given map[string]string) []string {
	t.Helper()
	o := Find(tool)
	require.NotNil(t, o, tool)
	raw, err := o.InputSchema()
	require.NoError(t, err)
	var in struct {
		Required []string `json:"required"`
	}
	require.NoError(t, json.Unmarshal(raw, &in))
	list := in.Required
	switch {
	case tool == "reintegrate" && given["action"] == "withdraw":
		list = append(list, "staging")
	case tool == "memory_group" && (given["action"] == "add" || given["action"] == "remove"):
		list = append(list, "group", "entity")
	case tool == "memory_group" && given["action"] != "list" && given["action"] != "invitations":
		list = append(list, "group")
	}
	return list
}

// The call of a hint is taken as it is printed, by whom it is for.
func TestTheCallOfAHintIsTakenAsPrinted(t *testing.T) {
	h := newHouse(t)
	take := func(c Caller, err error) {
		t.Helper()
		require.Error(t, err)
		tool, args := offered(t, err)
		_, bad := Find(tool).Call(t.Context(), h.node, c, []byte(args))
		require.NoError(t, bad, "%s %s", tool, args)
	}
	group := func(action, name, entity string) map[string]any {
		return map[string]any{"action": action, "group": name, "entity": entity}
	}
	h.worker("hand")
	h.must(h.lead, "memory_group", map[string]any{"action": "create", "group": "hall"})
	h.must(h.lead, "memory_group", group("add", "hall", "hand"))
	t.Run("the last owner leaves", func(t *testing.T) {
		leave := group("remove", "hall", string(h.lead.Entity))
		_, err := h.call(h.lead, "memory_group", leave)
		take(h.lead, err)
		h.must(h.lead, "memory_group", leave)
	})
	t.Run("a group that the capabilities do not match", func(t *testing.T) {
		h.must(h.lead, "agent_capabilities", map[string]any{"agent": "hand",
			"tools": []string{"+memory_group", "+agent_list"}})
		hand := h.caller("hand")
		_, err := h.call(hand, "memory_group", map[string]any{"action": "create", "group": "shed"})
		require.ErrorIs(t, err, schemas.ErrDenied)
		take(hand, err)
	})
	t.Run("invitations", func(t *testing.T) {
		one, two := h.founding("one"), h.founding("two")
		for _, name := range []string{"one", "two"} {
			h.must(h.person(), "memory_group", group("add", "hall", name))
		}
		invite := func(i int) error {
			name := fmt.Sprintf("ones-%d", i)
			h.must(one, "memory_group", map[string]any{"action": "create", "group": name})
			_, err := h.call(one, "memory_group", group("add", name, string(two.Entity)))
			return err
		}
		for i := range 20 {
			require.NoError(t, invite(i))
		}
		take(one, invite(20))
		require.NoError(t, invite(21))
	})
	t.Run("swarms", func(t *testing.T) {
		h.swarm("pipeline", map[string]any{"slot": "draft", "capabilities": map[string]any{
			"tools": []string{"+swarm_disband", "+swarm_create"}}})
		draft := h.caller("draft")
		_, err := h.call(draft, "swarm_disband", map[string]any{"swarm_id": "swarm-sheep"})
		take(draft, err)
		_, err = h.call(draft, "swarm_create", map[string]any{"add_to": "swarm-sheep",
			"agents": []any{slotOf("edit", 1)}})
		take(draft, err)
		_, err = h.call(h.lead, "task_submit", map[string]any{"group": "swarm-sheep", "items": []any{
			map[string]any{"intent": "Count", "role": "edit"}}})
		take(h.lead, err)
	})
}
