package hot

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"cordelia/events"
	"cordelia/memory/canonical"
	"cordelia/schemas"
)

// document is what a reader gets.
func (r *row) document(view View) (Doc, error) {
	doc, err := r.render(view)
	if err != nil {
		return Doc{}, err
	}
	d := Doc{Entity: r.entity, Context: doc, UpdatedAt: events.Timestamp(r.updatedAt), Size: len(r.raw),
		Warnings: r.heavy()}
	if view.Older > 0 {
		d.Warnings = append(d.Warnings, schemas.Hintf("%s not shown: %s has them", schemas.Count(int(view.Older),
			"older unread event is", "older unread events are"), schemas.Tool("events_poll")))
	}
	if r.archived != 0 {
		d.Warnings = append(d.Warnings, schemas.Hintf("archived since %s", events.Timestamp(r.archived)))
	}
	if err := r.verify(); err != nil {
		d.Warnings = append(d.Warnings, schemas.Hintf("%v", err))
	}
	return d, nil
}

// heavy warns of every section that holds more than its even share of the soft
// limit, once the whole exceeds it.
func (r *row) heavy() []schemas.Hint {
	if len(r.raw) <= SoftLimit {
		return nil
	}
	var warnings []schemas.Hint
	for _, s := range Sections() {
		if n := sectionSize(r.own, s); n > SoftLimit/len(Sections()) {
			warnings = append(warnings, schemas.Hintf("%s holds %d of %d bytes; above %d in all every session pays "+
				"for it: move what is not always needed to %s", s, n, len(r.raw), SoftLimit,
				schemas.Tool("memory_write_warm")))
		}
	}
	return warnings
}

// Part is the context as JSON with its members in order, or with a section only that part of it in
// its place: the name of a top-level section, or a JSON pointer to a member below
// one. What makes it exceed limit bytes is left out, largest first, and named by
// pointer. Errors: CodeInvalid if there is no such section, CodeNotFound if there
// is nothing at that place below it.
func (d Doc) Part(section string, limit int) (raw []byte, leftOut []string, err error) {
	part := maps.Clone(d.Context)
	if section != "" {
		steps := strings.Split(strings.TrimPrefix(section, "/"), "/")
		if !slices.Contains(Sections(), steps[0]) {
			return nil, nil, schemas.Invalidf("there is no section %q", section).
				Expecting("%s, or a JSON pointer below one, such as /agent/task", strings.Join(Sections(), ", "))
		}
		if part[steps[0]] == nil { // nothing was written to it yet
			part[steps[0]] = map[string]any{}
		}
		if part = prune(part, steps); part == nil {
			return nil, nil, schemas.NotFoundf("there is nothing at %q in this context",
				section).Try("%s without section", schemas.Tool("memory_read_hot"))
		}
	}
	encode := func() error {
		raw, err = json.Marshal(part, json.Deterministic(true))
		return err
	}
	if err := encode(); err != nil || len(raw) <= limit {
		return raw, nil, err
	}
	if leftOut, err = fit(part, limit); err != nil {
		return nil, nil, err
	}
	return raw, leftOut, encode()
}

// prune is object with nothing but what steps leads to, nil if that is nowhere.
func prune(object map[string]any, steps []string) map[string]any {
	name := strings.NewReplacer("~1", "/", "~0", "~").Replace(steps[0])
	value, ok := object[name]
	if !ok {
		return nil
	}
	if len(steps) > 1 {
		below, _ := value.(map[string]any)
		if below = prune(below, steps[1:]); below == nil {
			return nil
		}
		value = below
	}
	return map[string]any{name: value}
}

// fit takes the largest members out of doc, or out of the objects in it, until
// at most limit bytes are left. It goes into an object only for a member worth
// an eighth of what is too much, so the work is bounded and many small members
// go together. Objects in doc are copied, not changed.
func fit(doc map[string]any, limit int) (leftOut []string, err error) {
	for {
		_, _, size, err := largest(doc)
		if err != nil || size <= limit || len(doc) == 0 {
			return leftOut, err
		}
		object, path := doc, []string(nil)
		for {
			name, _, _, err := largest(object)
			if err != nil {
				return nil, err
			}
			path = append(path, name)
			below, _ := object[name].(map[string]any)
			_, part, _, err := largest(below)
			if err != nil {
				return nil, err
			}
			if part == 0 || part < (size-limit)/8 {
				delete(object, name)
				leftOut = append(leftOut, schemas.Pointer(path...))
				break
			}
			below = maps.Clone(below)
			object[name], object = below, below
		}
	}
}

// largest names the member of object with the most bytes, the first of equals,
// and gives its size and that of the object as canonical JSON.
func largest(object map[string]any) (name string, part, whole int, err error) {
	whole = len("{}")
	for n, value := range object {
		raw, err := canonical.Of(map[string]any{n: value})
		if err != nil {
			return "", 0, 0, err
		}
		size := len(raw) - len("{}") + len(",")
		whole += size
		if size > part || size == part && n < name {
			name, part = n, size
		}
	}
	return name, part, whole, nil
}

// sessionText is the most an answer to a session call repeats of a text, bytes.
const sessionText = 2000

// LastSummary is what the last session left behind, cut to 2,000 bytes.
func (d Doc) LastSummary() string {
	return schemas.Shorten(d.text("ephemeral", "last_summary"), sessionText)
}

// OpenThreads are what was left open, the first 2,000 bytes of them.
func (d Doc) OpenThreads() []string {
	threads, room := []string{}, sessionText
	for _, t := range d.texts("ephemeral", "open_threads") {
		t = schemas.Shorten(t, digestLine)
		if room -= len(t); room < 0 {
			break
		}
		threads = append(threads, t)
	}
	return threads
}

// StartedAt is when the open session began, "" if none is open.
func (d Doc) StartedAt() string { return d.text("ephemeral", "current_session_start") }

// text gives the string at section.field.
func (d Doc) text(section, field string) string {
	s, _ := holder(d.Context, section)[field].(string)
	return s
}

// texts gives the strings of the list at section.field.
func (d Doc) texts(section, field string) []string {
	return canonical.Strings(holder(d.Context, section)[field])
}

// task gives the goal of the agent's task, with its progress, and its findings.
func (d Doc) task() (goal string, findings []string) {
	task, _ := holder(d.Context, "agent")["task"].(map[string]any)
	goal, _ = task["goal"].(string)
	if progress, ok := task["progress"].(float64); ok && goal != "" {
		goal += fmt.Sprintf(" (%.0f %% done)", 100*progress)
	}
	return goal, canonical.Strings(task["findings"])
}

// orgs gives the ids of the organisations the entity belongs to.
func (d Doc) orgs() []string {
	orgs, _ := holder(d.Context, "identity")["orgs"].([]any)
	var ids []string
	for _, o := range orgs {
		org, _ := o.(map[string]any)
		if id, ok := org["id"].(string); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// Without is the document without the members at the pointers, and without sections
// that are empty then. Both share what is left.
func (d Doc) Without(pointers ...string) Doc {
	d.Context = maps.Clone(d.Context)
	for _, p := range pointers {
		section, member, below := strings.Cut(strings.TrimPrefix(p, "/"), "/")
		if !below {
			delete(d.Context, section)
			continue
		}
		held, _ := d.Context[section].(map[string]any)
		if _, there := held[member]; !there {
			continue
		}
		held = maps.Clone(held)
		delete(held, member)
		if d.Context[section] = held; len(held) == 0 {
			delete(d.Context, section)
		}
	}
	return d
}

// Own is the part of the context that its entity may write, as canonical JSON:
// what an export carries to another node.
func (d Doc) Own() ([]byte, error) { return canonical.Of(ownPart(d.Context)) }
