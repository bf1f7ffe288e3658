package ops

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/memory/hot"
	"cordelia/schemas"
)

var memoryReadHot = Define(Spec{
	Name: "memory_read_hot", Title: "Read hot context", Toolset: Memory,
	Effect: access.Read, AlwaysLoad: true, SearchHint: "L1 context identity focus preferences working memory task",
	Description: "Read your hot context (L1): identity, active, prefs, delegation, ephemeral, agent. Keep " +
		"updated_at for the next write.",
}, readHot)

type memoryReadHotIn struct {
	Entity  string `json:"entity,omitempty" also:"agent,agentid" jsonschema:"default you"`
	Section string `json:"section,omitempty" jsonschema:"section, or a pointer as /agent/task"`
}

// MemoryReadHotOut is the answer of memory_read_hot.
type MemoryReadHotOut struct {
	Context   json.RawMessage `json:"context"`
	UpdatedAt string          `json:"updated_at"`
	Size      int             `json:"size" jsonschema:"bytes stored"`
	LeftOut   []string        `json:"left_out,omitempty" jsonschema:"too large to show: read each as section"`
	Warnings  []schemas.Hint  `json:"warnings,omitempty"`

	lean json.RawMessage // what the text shows of a whole context
}

// Text is the context without what the node keeps in it for itself.
func (o MemoryReadHotOut) Text() string {
	shown := o.lean
	if shown == nil {
		shown = o.Context
	}
	return lines("updated_at "+o.UpdatedAt, oneJSON(shown),
		when(len(o.LeftOut) > 0, "left out, read each as section: %s", strings.Join(o.LeftOut, ", ")),
		hintLines(o.Warnings))
}

const (
	// hotBytes of a context fit into one answer of at most 8,000 tokens.
	hotBytes = 30_000
	// hotEvents of the mailbox are shown in the context; events_poll has them all.
	hotEvents = 20
)

func readHot(ctx context.Context, c *Call, in memoryReadHotIn) (MemoryReadHotOut, error) {
	var doc hot.Doc
	err := c.Do(ctx, func(g access.Grant) error {
		entity, view, err := hotOf(g, in.Entity)
		if err != nil {
			return err
		}
		if in.Section == "" {
			view.Queue, view.Older = nil, 0
		}
		doc, err = hot.Read(g, entity, view)
		return actAs(g, entity, err)
	})
	if err != nil {
		return MemoryReadHotOut{}, err
	}
	out := MemoryReadHotOut{UpdatedAt: doc.UpdatedAt, Size: doc.Size, Warnings: doc.Warnings}
	if in.Section == "" {
		if out.lean, _, err = doc.Without(hot.NodeOwned()...).Part("", hotBytes); err != nil {
			return MemoryReadHotOut{}, err
		}
		// Its rights and its mail are read with agent_list and events_poll.
		doc = doc.Without("/agent/capabilities", "/agent/event_queue")
	}
	out.Context, out.LeftOut, err = doc.Part(in.Section, hotBytes)
	return out, err
}

// actAs has a refusal of the context of an agent below the actor say how to read it.
func actAs(g access.Grant, entity schemas.EntityID, refusal error) error {
	e, ok := errors.AsType[*schemas.Error](refusal)
	if !ok || e.Code != schemas.CodeNotFound || entity == g.Actor() {
		return refusal
	}
	below, err := g.Holds(entity)
	if err != nil || !below {
		return cmp.Or(err, refusal)
	}
	return e.Try("act as that agent: %s", schemas.Tool("memory_read_hot", "as", access.RefOf(g.Tx(), entity)))
}

// ownHot is the actor's own context, without its mail.
func ownHot(g access.Grant) (schemas.EntityID, hot.View, error) {
	id, view, err := hotOf(g, "")
	view.Queue, view.Older = nil, 0
	return id, view, err
}

// hotOf resolves whose context is meant, "" for the actor's own, and gathers
// what the node shows in it. The event queue is the actor's mailbox, so it shows
// in the actor's own context alone.
func hotOf(g access.Grant, ref string) (schemas.EntityID, hot.View, error) {
	var view hot.View
	id, err := agents.Named(g, ref)
	if err != nil {
		return "", view, err
	}
	a, err := g.Profile(id)
	if err != nil {
		return "", view, err
	}
	if a.AgentType != "" {
		view.Agent = &a
	}
	if id == g.Actor() {
		view.Queue, view.Older, err = eventQueue(g, hotEvents)
	}
	return id, view, err
}
