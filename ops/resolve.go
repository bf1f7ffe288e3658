package ops

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/pipeline/controller"
	"cordelia/review"
	"cordelia/schemas"
	"cordelia/work"
)

// ref is what an argument names by its id. Such an argument also takes the beginning or
// the end of an id, 8 characters or more, if it stands for one thing alone among what
// the caller may see. Items have a type of their own; the others carry the tag ref.
type ref string

const (
	refItem   ref = "item"
	refWork   ref = "work"
	refTask   ref = "task"
	refReview ref = "review"
)

// named gives what a short form may stand for.
func (r ref) named(g access.Grant, short string) ([]string, error) {
	lookups := map[ref][]func(access.Grant, string) ([]string, error){
		refItem:   {memory.ItemsNamed},
		refWork:   {work.Named},
		refTask:   {controller.Named, work.TasksNamed},
		refReview: {review.Named, work.Named, controller.Named},
	}[r]
	var found []string
	for _, look := range lookups {
		ids, err := look(g, short)
		if err != nil {
			return nil, err
		}
		found = append(found, ids...)
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// shortRef is an argument that names something by a short form.
type shortRef struct {
	kind  ref
	path  string
	short string
	set   func(id string)
}

// resolve puts whole ids in the place of short ones. What a short form stands for is
// looked up with the caller's rights; nothing that it may not see counts.
func (c *Call) resolve(ctx context.Context) error {
	s, err := c.Op.schemas()
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(c.args))
	decoder.UseNumber()
	var args any
	if err := decoder.Decode(&args); err != nil {
		return schemas.Invalidf("the arguments of %s cannot be read", c.Op.Name).Because(err)
	}
	refs := s.arguments.shortRefs(args, "", nil)
	if len(refs) == 0 {
		return nil
	}
	if err := c.Node.Auth.Do(ctx, c.Caller.Principal, c.lookOp(), func(g access.Grant) error {
		for _, r := range refs {
			found, err := r.kind.named(g, r.short)
			if err != nil {
				return err
			}
			if len(found) > 1 {
				return schemas.Invalidf("%q stands for more than one %s", r.short, r.kind).Expecting("one of %s", strings.Join(found, ", ")).
					Try("call %s again with one of these", c.Op.Name).With(schemas.Violation{Path: r.path, Msg: "is ambiguous"})
			}
			if len(found) == 1 {
				r.set(found[0])
			}
		}
		return nil
	}); err != nil {
		return err
	}
	c.args, err = plainJSON(args)
	return err
}

// shortRefs collects the short forms in a value of the schema.
func (s *schema) shortRefs(value any, path string, found []shortRef) []shortRef {
	visit := func(member *schema, v any, step string, set func(any)) {
		at := path + "/" + step
		if text, ok := v.(string); ok && member.ref != "" && schemas.IsShortID(text) {
			found = append(found, shortRef{member.ref, at, text, func(id string) { set(id) }})
			return
		}
		found = member.shortRefs(v, at, found)
	}
	switch v := value.(type) {
	case map[string]any:
		for _, p := range s.properties {
			if member, given := v[p.name]; given {
				visit(p.schema, member, p.name, func(id any) { v[p.name] = id })
			}
		}
	case []any:
		if s.items != nil {
			for i := range v {
				visit(s.items, v[i], strconv.Itoa(i), func(id any) { v[i] = id })
			}
		}
	}
	return found
}
