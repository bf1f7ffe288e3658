package scenario

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/ops"
	"cordelia/schemas"
)

// wrongType is a value of another type than asked for that can stand for nothing else, and
// the path at which it is wrong below the argument's.
func wrongType(p property) (value any, below string) {
	if p.Type == "array" { // one value is taken for a list of it
		return []any{[]any{1, 2}}, "/0"
	}
	return []any{1, 2}, ""
}

// Every tool answers wrong input by naming the field, what would have been
// right and the next call, and writes nothing.
func TestWrongInputIsNamed(t *testing.T) {
	n := newInside(t)
	c := n.caller(lead)
	db := openDB(t, n.outside())
	random := rand.New(rand.NewPCG(3, 4))
	before := fingerprint(t, db, nil)
	cases := 0
	for _, o := range ops.Catalogue() {
		p := argumentsOf(t, o)
		refuse := func(change func(args map[string]any), path string, words ...string) {
			t.Helper()
			cases++
			args := known{}.arguments(random, p, 0)
			change(args)
			_, err := n.try(t.Context(), c, o.Name, compact(args))
			var e *schemas.Error
			require.True(t, errors.As(err, &e), "%s %s: %v", o.Name, compact(args), err)
			require.Equal(t, schemas.CodeInvalid, e.Code, "%s %s: %v", o.Name, compact(args), err)
			require.True(t, e.Expected != "" || len(e.Violations) > 0, "%s says what is expected", o.Name)
			require.Contains(t, e.Hint.String(), o.Name, "the next call is named")
			for _, v := range e.Violations {
				require.LessOrEqual(t, strings.Count(v.Msg, "one of "), 1, "%s: the values are listed once: %s", o.Name,
					v)
			}
			i := slices.IndexFunc(e.Violations, func(v schemas.Violation) bool {
				return v.Path == path && !slices.ContainsFunc(words,
					func(w string) bool { return !strings.Contains(v.Msg, w) })
			})
			require.GreaterOrEqual(t, i, 0, "%s %s: no violation of %q with %q among %v", o.Name, compact(args), path,
				words, e.Violations)
		}
		for _, name := range p.names() {
			arg := p.Properties[name]
			if slices.Contains(p.Required, name) {
				refuse(func(a map[string]any) { delete(a, name) }, "/"+name, "missing")
			}
			if arg.Type != "" {
				switch o.Name + " " + name {
				case "task_report result", "task_submit answers": // taken from any JSON value
				default:
					value, below := wrongType(arg)
					refuse(func(a map[string]any) { a[name] = value }, "/"+name+below, "must be", "not")
				}
				if slices.Contains(p.Required, name) { // else null is the same as not given
					refuse(func(a map[string]any) { a[name] = nil }, "/"+name)
				}
				if arg.Type != "string" && arg.Type != "array" { // a number is taken for its text
					refuse(func(a map[string]any) { a[name] = json.Number("1e9999999") }, "/"+name, "too large")
				}
			}
			if len(arg.Enum) > 0 {
				refuse(func(a map[string]any) { a[name] = "no-such-value" }, "/"+name, "one of")
			}
			if arg.Items != nil && len(arg.Items.Enum) > 0 {
				refuse(func(a map[string]any) { a[name] = []any{"no-such-value"} }, "/"+name+"/0", "one of")
			}
			if len(name) > 3 { // a slip of the pen is recognised
				refuse(func(a map[string]any) { a[name+"x"] = "v" }, "/"+name+"x", "not a known field",
					"did you mean "+name)
			}
		}
		refuse(func(a map[string]any) { a["zzzzzzzzzz"] = 1 }, "/zzzzzzzzzz", "not a known field")
		refuse(func(a map[string]any) { a["zzzzzzzzzz"] = json.Number("1e9999999") }, "/zzzzzzzzzz", "too large")
		_, err := n.try(t.Context(), c, o.Name, `[]`)
		require.ErrorIs(t, err, schemas.ErrInvalid, o.Name)
		_, err = n.try(t.Context(), c, o.Name, `{`)
		require.ErrorIs(t, err, schemas.ErrInvalid, o.Name)
	}
	require.Greater(t, cases, 10*len(ops.Catalogue()))
	require.Equal(t, before, fingerprint(t, db, nil), "nothing was written")
}
