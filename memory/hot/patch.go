package hot

import (
	"maps"
	"reflect"
	"strings"

	"cordelia/schemas"
)

// mergePatch applies a JSON merge patch (RFC 7396): objects merge, null
// deletes, anything else replaces. target is not changed.
func mergePatch(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	merged := map[string]any{}
	if object, ok := target.(map[string]any); ok {
		merged = maps.Clone(object)
	}
	for name, change := range changes {
		if change == nil {
			delete(merged, name)
		} else {
			merged[name] = mergePatch(merged[name], change)
		}
	}
	return merged
}

// NodeOwned lists the fields of the context that the node keeps: no writer sets them. They are
// not stored with the entity's part, and are merged in when it is read.
func NodeOwned() []string {
	return []string{
		"/version", "/updated_at", "/identity/id",
		"/ephemeral/session_count", "/ephemeral/current_session_start", "/ephemeral/last_session_end",
		"/ephemeral/integrity",
		"/agent/parent_entity_id", "/agent/agent_type", "/agent/capabilities", "/agent/event_queue",
	}
}

// split cuts the pointer of a node-owned field, which is at most two deep.
func split(pointer string) (section, field string) {
	section, field, nested := strings.Cut(pointer[1:], "/")
	if !nested {
		return "", section
	}
	return section, field
}

// holder is the object in doc that holds the field, nil if there is none.
func holder(doc map[string]any, section string) map[string]any {
	if section == "" {
		return doc
	}
	object, _ := doc[section].(map[string]any)
	return object
}

// touched lists the node-owned fields that after has otherwise than before has.
// With absent allowed a field that is not in after at all is left alone.
func touched(before, after map[string]any, absent bool) []schemas.Violation {
	var found []schemas.Violation
	for _, pointer := range NodeOwned() {
		section, field := split(pointer)
		is, had := holder(before, section)[field]
		will, has := holder(after, section)[field]
		if had == has && reflect.DeepEqual(is, will) || absent && !has {
			continue
		}
		found = append(found, schemas.Violation{Path: pointer,
			Msg: "is kept by the node and cannot be written; leave it out"})
	}
	return found
}

// ownPart is doc without the node-owned fields.
func ownPart(doc map[string]any) map[string]any {
	own := maps.Clone(doc)
	for _, pointer := range NodeOwned() {
		section, field := split(pointer)
		if section == "" {
			delete(own, field)
			continue
		}
		if object := holder(own, section); object != nil {
			object = maps.Clone(object)
			delete(object, field)
			own[section] = object
		}
	}
	return own
}

// withOwned is own with the node's values, by pointer. A section that is not an
// object is left for the schema to refuse.
func withOwned(own, values map[string]any) map[string]any {
	doc := maps.Clone(own)
	copied := map[string]bool{"": true}
	for pointer, value := range values {
		section, field := split(pointer)
		if !copied[section] {
			copied[section] = true
			if doc[section] == nil {
				doc[section] = map[string]any{}
			} else if object := holder(doc, section); object != nil {
				doc[section] = maps.Clone(object)
			}
		}
		if object := holder(doc, section); object != nil {
			object[field] = value
		}
	}
	return doc
}
