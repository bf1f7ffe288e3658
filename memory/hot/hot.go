package hot

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"time"

	"cordelia/access"
	"cordelia/events"
	"cordelia/memory/canonical"
	"cordelia/schemas"
)

// Sizes of a context, in bytes of the entity's part as canonical JSON.
const (
	Limit     = 64 << 10 // more is refused
	SoftLimit = 16_000   // more is accepted with a warning per large section

	inputLimit = 512 << 10 // of the data of one write, which may repeat a whole read
)

// version is the version of the context's schema.
const version = 1

// Sections lists the parts of a context that can be read alone.
func Sections() []string {
	return []string{"identity", "active", "prefs", "delegation", "ephemeral", "agent"}
}

// View is what the node knows and the context only shows: merged in on read,
// never stored with it.
type View struct {
	Agent *schemas.Agent        // the agent, of which parent, type and capabilities show; nil for a person
	Queue []schemas.QueuedEvent // unread events, oldest first
	Older int                   // unread events before them, not shown

	capabilities any // the agent's as decoded JSON, nil if not made yet
}

// Doc is a context as its entity reads it.
type Doc struct {
	Entity    schemas.EntityID
	Context   map[string]any // decoded JSON of schema l1
	UpdatedAt string         // RFC 3339, microseconds
	Size      int            // bytes of the entity's part
	Warnings  []schemas.Hint
}

// Operation is how a write changes the context.
type Operation string

const (
	Patch   Operation = "patch"   // RFC 7396 merge patch
	Replace Operation = "replace" // all of the entity's part
)

// Change is a write that was checked as far as it can be without the
// context it is for.
type Change struct {
	op       Operation
	data     map[string]any
	expected int64 // updated_at the writer has read, µs; 0 = not checked
}

// NewChange reads a write: data is a JSON object, expectedUpdatedAt the
// updated_at that was read before (RFC 3339) or "". Errors: CodeInvalid.
func NewChange(op Operation, data []byte, expectedUpdatedAt string) (Change, error) {
	c := Change{op: op}
	if op != Patch && op != Replace {
		return c, schemas.Invalidf("there is no operation %q", op).Expecting("patch or replace")
	}
	if len(data) > inputLimit {
		return c, tooLarge(len(data), nil)
	}
	var err error
	if c.data, err = canonical.Object(data); err != nil {
		return c, err
	}
	// A replace that repeats what was read says at which version it was.
	if repeated, ok := c.data["updated_at"].(string); ok && op == Replace {
		if at, err := time.Parse(time.RFC3339Nano, repeated); err == nil {
			c.expected = at.UnixMicro()
		}
	}
	if expectedUpdatedAt != "" {
		at, err := time.Parse(time.RFC3339Nano, expectedUpdatedAt)
		if err != nil {
			return c, schemas.Invalidf("expected_updated_at is not a time").
				Expecting("updated_at exactly as it was read").Try("%s", schemas.Tool("memory_read_hot"))
		}
		c.expected = at.UnixMicro()
	}
	return c, nil
}

var plainCapabilities access.Fact[schemas.EntityID, any]

// Read gives the context of entity (seed §3). What was changed behind the
// node's back is shown, with a warning. Errors: CodeNotFound if there is none
// or the caller may not see it.
func Read(g access.Grant, entity schemas.EntityID, view View) (Doc, error) {
	r, err := toRead(g, entity)
	if err != nil {
		return Doc{}, err
	}
	if a := view.Agent; a != nil {
		view.capabilities, err = plainCapabilities.Of(g, a.AgentID,
			func() (any, error) { return canonical.Plain(a.Capabilities) })
		if err != nil {
			return Doc{}, err
		}
	}
	return r.document(view)
}

// Write changes the context of entity. Node-owned fields may be repeated
// unchanged, so that what was read can be written back. Errors: CodeInvalid
// with the path of every violation, CodeConflict if the context was changed
// since the expected time, is archived, or (patch) was changed outside the node.
func Write(g access.Grant, entity schemas.EntityID, c Change, view View) (Doc, error) {
	r, err := open(g, access.KindWrite, entity)
	if err != nil {
		return Doc{}, err
	}
	if c.expected != 0 && c.expected != r.updatedAt {
		now := events.Timestamp(r.updatedAt)
		return Doc{}, schemas.Conflictf("the context was changed at %s, after it was read at %s", now,
			events.Timestamp(c.expected)).
			Expecting("expected_updated_at %s", now).
			Try("%s, then repeat the write with the updated_at it gives", schemas.Tool("memory_read_hot"))
	}
	if err := r.change(c, view); err != nil {
		return Doc{}, err
	}
	r.touch(g.Tx())
	if err := r.save(g.Tx(), updateContext); err != nil {
		return Doc{}, err
	}
	if err := g.Audit(r.target(), map[string]any{
		"operation": c.op, "sections": slices.Sorted(maps.Keys(c.data)), "doc_hash": r.docHash.String(),
	}); err != nil {
		return Doc{}, err
	}
	return r.document(view)
}

// change makes r's content what c says.
func (r *row) change(c Change, view View) error {
	before, err := r.render(view)
	if err != nil {
		return err
	}
	after, absent := c.data, true
	if c.op == Patch {
		if err := r.verify(); err != nil { // a patch would seal what it did not see
			return err
		}
		after, absent = mergePatch(before, c.data).(map[string]any), false
	}
	return r.set(ownPart(after), touched(before, after, absent))
}

// set validates own, adds what is wrong to found, and takes own if nothing is.
func (r *row) set(own map[string]any, found []schemas.Violation) error {
	r.own = own
	// The node's own values are not the writer's to get right.
	doc, err := r.render(View{})
	if err != nil {
		return err
	}
	wrong, err := validate("l1", doc)
	if err != nil {
		return err
	}
	for _, v := range wrong {
		if !slices.ContainsFunc(found, func(f schemas.Violation) bool { return f.Path == v.Path }) {
			found = append(found, v)
		}
	}
	if len(found) > 0 {
		return schemas.Invalidf("the context was not written: %s wrong",
			schemas.Count(len(found), "of its fields is", "of its fields are")).
			Expecting("sections identity, active, prefs, delegation, ephemeral, agent; what is free as %s",
				`{"agent": {"working_memory": {…}}}`).
			Try("correct what is listed and %s again", schemas.Do("memory_write_hot")).With(found...)
	}
	if r.raw, err = canonical.Of(own); err != nil {
		return err
	}
	if len(r.raw) > Limit {
		return tooLarge(len(r.raw), own)
	}
	r.docHash = sha256.Sum256(r.raw)
	return nil
}

func tooLarge(size int, own map[string]any) error {
	err := schemas.Invalidf("the context would have %d bytes", size).
		Expecting("at most %d", Limit).
		Try("move what is not needed in every session to %s", schemas.Tool("memory_write_warm"))
	for _, s := range Sections() {
		if n := sectionSize(own, s); n > 0 {
			err = err.With(schemas.Violation{Path: "/" + s, Msg: fmt.Sprintf("holds %d bytes", n)})
		}
	}
	return err
}

func sectionSize(own map[string]any, section string) int {
	if own[section] == nil {
		return 0
	}
	raw, err := canonical.Of(own[section])
	if err != nil { // it is part of a value that has a canonical form
		return 0
	}
	return len(raw)
}
