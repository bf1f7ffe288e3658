package ops

import (
	"encoding/json"
	"reflect"

	"cordelia/memory"
)

// Some objects are published in words, for their schema would cost every session more than
// it helps: what they hold is checked where it is read. Their members are listed here, so
// that slips in them are taken, and names found, as in all others.
var likes = map[string]like{
	"capabilities": {object: reflect.TypeFor[likeCapabilities]()},
	"item":         {object: reflect.TypeFor[likeItem](), members: fieldsOfItem},
	"context":      {object: reflect.TypeFor[likeContext]()},
}

// like is an object that is published in words.
type like struct {
	object  reflect.Type
	members func(given map[string]any) []string // those that it has beside the arguments given; nil = all
}

// fieldsOfItem are those of the type of item that is given, of all types if none is.
func fieldsOfItem(given map[string]any) []string {
	typ, _ := given["type"].(string)
	return memory.Fields(memory.ItemType(typ))
}

type likeCapabilities struct {
	MemoryRead         likeScope `json:"memory_read,omitzero"`
	MemoryWrite        likeScope `json:"memory_write,omitzero"`
	Tools              []string  `json:"tools,omitempty"`
	MaxParallelOps     int       `json:"max_parallel_ops,omitempty"`
	TTLSeconds         int64     `json:"ttl_seconds,omitempty"`
	Autonomous         bool      `json:"autonomous,omitempty"`
	MaxDelegationDepth int       `json:"max_delegation_depth,omitempty"`
}

type likeScope struct {
	Layers     []string `json:"layers,omitempty" enum:"l1,l2"`
	Groups     []string `json:"groups,omitempty"`
	Visibility []string `json:"visibility,omitempty" enum:"private,group,public"`
}

// likeItem has the fields of all types of items; memory.Fields says which type has which.
type likeItem struct {
	Type              string   `json:"type,omitempty" enum:"person,org,project,concept,pattern,insight,principle,procedure,constraint,template"`
	Name              string   `json:"name,omitempty"`
	Aliases           []string `json:"aliases,omitempty"`
	Tags              []string `json:"tags,omitempty" commas:"true"`
	Summary           string   `json:"summary,omitempty" free:"lines"`
	Refs              []string `json:"refs,omitempty"`
	Date              string   `json:"date,omitempty"`
	Focus             string   `json:"focus,omitempty"`
	Highlights        []string `json:"highlights,omitempty"`
	Decisions         []string `json:"decisions,omitempty"`
	EntitiesMentioned []string `json:"entities_mentioned,omitempty"`
	DurationMinutes   int      `json:"duration_minutes,omitempty"`
	Content           string   `json:"content,omitempty" also:"text" free:"lines"`
	Context           string   `json:"context,omitempty" free:"lines"`
	Tools             []string `json:"tools,omitempty"`
	SourceSession     string   `json:"source_session,omitempty"`
	Confidence        float64  `json:"confidence,omitempty"`
	Validated         bool     `json:"validated,omitempty"`

	Details    json.RawMessage `json:"details,omitempty"`
	Prediction json.RawMessage `json:"prediction,omitempty"`
}

// likeContext has the sections of a hot context. What they hold stays as it was given: a
// patch deletes by null.
type likeContext struct {
	Identity   json.RawMessage `json:"identity,omitempty" any:"true"`
	Active     json.RawMessage `json:"active,omitempty" any:"true"`
	Prefs      json.RawMessage `json:"prefs,omitempty" any:"true"`
	Delegation json.RawMessage `json:"delegation,omitempty" any:"true"`
	Ephemeral  json.RawMessage `json:"ephemeral,omitempty" any:"true"`
	Agent      json.RawMessage `json:"agent,omitempty" any:"true"`
}

// loose reports whether value gives an object whose members are published in words.
func (s *schema) loose(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, p := range s.properties {
			if given := v[p.name]; given != nil && (p.like != nil || p.loose(given)) {
				return true
			}
		}
	case []any:
		for _, element := range v {
			if s.items != nil && s.items.loose(element) {
				return true
			}
		}
	}
	return false
}
