package ops

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"cordelia/access"
	"cordelia/agents"
	"cordelia/memory"
	"cordelia/schemas"
)

var memoryReadHot = Define(Spec{
	Name: "memory_read_hot", Title: "Read hot context", Toolset: Memory,
	Effect: access.Read, AlwaysLoad: true, SearchHint: "L1 context identity focus preferences working memory task",
	Description: "Read your hot context (L1): identity, active, prefs, delegation, ephemeral, agent. Keep updated_at for the next write.",
}, readHot)

type memoryReadHotIn struct {
	Entity  string `json:"entity,omitempty" jsonschema:"default you"`
	Section string `json:"section,omitempty" jsonschema:"one section, or a pointer such as /agent/task"`
}

type memoryReadHotOut struct {
	Context   json.RawMessage `json:"context"`
	UpdatedAt string          `json:"updated_at"`
	Size      int             `json:"size" jsonschema:"bytes stored"`
	LeftOut   []string        `json:"left_out,omitempty" jsonschema:"too large to show: read each as section"`
	Warnings  []string        `json:"warnings,omitempty"`
}

// Text says what is worth a second look.
func (o memoryReadHotOut) Text() string {
	lines := []string{fmt.Sprintf("context of %d bytes, updated %s", o.Size, o.UpdatedAt)}
	if len(o.LeftOut) > 0 {
		lines = append(lines, "left out, read each as section: "+Escape(strings.Join(o.LeftOut, ", ")))
	}
	return strings.Join(append(lines, o.Warnings...), "\n")
}

const (
	// hotBytes of a context fit into one answer of at most 8,000 tokens.
	hotBytes = 30_000
	// hotEvents of the mailbox are shown in the context; events_poll has them all.
	hotEvents = 20
)

func readHot(ctx context.Context, c *Call, in memoryReadHotIn) (memoryReadHotOut, error) {
	var doc memory.HotDoc
	if err := c.Do(ctx, func(g access.Grant) error {
		entity, view, err := hotOf(g, in.Entity)
		if err != nil {
			return err
		}
		doc, err = memory.ReadHot(g, entity, view)
		return err
	}); err != nil {
		return memoryReadHotOut{}, err
	}
	raw, left, err := doc.Part(in.Section, hotBytes)
	if err != nil {
		return memoryReadHotOut{}, err
	}
	return memoryReadHotOut{Context: raw, UpdatedAt: doc.UpdatedAt, Size: doc.Size, LeftOut: left, Warnings: doc.Warnings}, nil
}

// hotOf resolves whose context is meant, "" for the actor's own, and gathers
// what the node shows in it. The event queue is the actor's mailbox, so it shows
// in the actor's own context alone.
func hotOf(g access.Grant, ref string) (schemas.EntityID, memory.HotView, error) {
	var view memory.HotView
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
