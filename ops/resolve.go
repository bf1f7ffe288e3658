package ops

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/pipeline/controller"
	"cordelia/review"
	"cordelia/roles"
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
	refNote   ref = "message"
)

// lookups find what a short form may stand for.
func (r ref) lookups() []access.Lookup {
	return map[ref][]access.Lookup{
		refItem:   {memory.ItemsNamed},
		refWork:   {work.Named},
		refTask:   {controller.Named, work.TasksNamed},
		refReview: {review.Named, work.Named, controller.Named, roles.AsksNamed},
		refNote:   {roles.MessagesNamed},
	}[r]
}

// one gives the id that a short form stands for; see access.OneID.
func (r ref) one(g access.Grant, short string) (string, error) {
	return access.OneID(g, string(r), short, r.lookups()...)
}

// whole is the id that text, an id or a short form of one, stands for.
func (r ref) whole(g access.Grant, text string) (string, error) {
	if !schemas.IsShortID(text) {
		return text, nil
	}
	return r.one(g, text)
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
	if err := c.do(ctx, c.lookOp(), func(g access.Grant) error {
		for _, r := range refs {
			id, err := r.kind.one(g, r.short)
			if e, ok := errors.AsType[*schemas.Error](err); ok && e.Code == schemas.CodeInvalid {
				err = e.Try("%s again with one of these",
					schemas.Do(c.Op.Name)).With(schemas.Violation{Path: r.path, Msg: "is ambiguous"})
			}
			if err != nil {
				return err
			}
			r.set(id)
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
