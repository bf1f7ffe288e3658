package hot

import (
	"fmt"
	"strings"
	"time"

	"cordelia/access"
	"cordelia/memory/canonical"
	"cordelia/schemas"
)

// The routines of this file are the node's part in an agent's lifecycle: they
// change a context that is not the caller's. They run for the node itself or
// for an entity above, inside Grant.Routine, and are called by the operations
// that register, deactivate, reactivate and remove.

// Create makes the empty context of a new entity (seed §1.4). Its chain
// begins at Genesis. Errors: CodeConflict if it has one.
func Create(g access.Grant, entity schemas.EntityID) error {
	genesis := Genesis(entity)
	r := &row{entity: entity, chain: genesis, previous: genesis}
	return routine(g, entity, "created", func() error {
		if _, err := load(g.Tx(), entity); err == nil {
			return schemas.Conflictf("%s has a context already", entity).Try("%s", schemas.Tool("memory_read_hot"))
		} else if schemas.CodeOf(err) != schemas.CodeNotFound {
			return err
		}
		if err := r.set(map[string]any{}, nil); err != nil {
			return err
		}
		r.touch(g.Tx())
		return r.save(g.Tx(), insertContext)
	})
}

// Archive puts the context of a deactivated agent away and returns its final
// state for L2 (seed §8.4). It is preserved but closed to writes; archiving it
// again changes nothing and gives the same record.
func Archive(g access.Grant, entity schemas.EntityID, displayName string, view View) (schemas.SessionRecord, error) {
	var record schemas.SessionRecord
	err := routine(g, entity, "archived", func() error {
		r, err := load(g.Tx(), entity)
		if err != nil {
			return err
		}
		if r.archived == 0 {
			r.touch(g.Tx())
			r.archived = r.updatedAt
			if err := r.save(g.Tx(), updateContext); err != nil {
				return err
			}
		}
		doc, err := r.document(view)
		if err != nil {
			return err
		}
		record = archiveSummary(doc, displayName, time.UnixMicro(r.archived))
		return nil
	})
	return record, err
}

// Restore brings back the context of a reactivated agent.
func Restore(g access.Grant, entity schemas.EntityID) error {
	return routine(g, entity, "restored", func() error {
		r, err := load(g.Tx(), entity)
		if err != nil {
			return err
		}
		r.archived = 0
		r.touch(g.Tx())
		return r.save(g.Tx(), updateContext)
	})
}

// Delete deletes the context of a removed agent; there may be none.
func Delete(g access.Grant, entity schemas.EntityID) error {
	return routine(g, entity, "deleted", func() error {
		if _, err := g.Tx().Exec(deleteContext, entity); err != nil {
			return fmt.Errorf("delete context: %w", err)
		}
		return nil
	})
}

// routine runs f, a part of entity's lifecycle, and records it. The caller must
// be the node or stand above entity, and must be inside Grant.Routine: without it
// the store refuses the row, by INV-SOVEREIGN.
func routine(g access.Grant, entity schemas.EntityID, what string, f func() error) error {
	if !g.IsNode() {
		above, err := g.Holds(entity)
		if err != nil {
			return err
		}
		if !above {
			return noContext()
		}
	}
	if err := f(); err != nil {
		return err
	}
	return g.Audit("l1/"+string(entity), map[string]any{"l1": what})
}

// archiveSummary is an agent's final state as a session record (seed §8.4),
// from its context as of now: what it last did and found, what it decided (the
// list working_memory.decisions, if it kept one), and whom and what it names.
func archiveSummary(d Doc, displayName string, now time.Time) schemas.SessionRecord {
	now = now.UTC()
	r := schemas.SessionRecord{
		Type:              "session",
		ID:                fmt.Sprintf(schemas.ArchivePrefix+"%s-%s", d.Entity, now.Format("20060102T150405.000000Z")),
		Date:              now.Format(time.DateOnly),
		Focus:             fmt.Sprintf("Agent %s final state", displayName),
		Highlights:        []string{},
		Decisions:         []string{},
		EntitiesMentioned: []string{string(d.Entity)},
	}
	highlight := func(label string, values ...string) {
		for _, v := range values {
			if strings.TrimSpace(v) != "" {
				r.Highlights = append(r.Highlights, label+": "+v)
			}
		}
	}
	highlight("Last session", d.text("ephemeral", "last_summary"))
	highlight("Focus", d.text("active", "focus"))
	goal, findings := d.task()
	highlight("Task", goal)
	highlight("Finding", findings...)
	highlight("Blocked by", d.texts("active", "blockers")...)
	highlight("Open", d.texts("ephemeral", "open_threads")...)
	highlight("Next", d.texts("active", "next")...)
	if own, ok := holder(d.Context, "agent")["working_memory"].(map[string]any); ok {
		r.Decisions = append(r.Decisions, canonical.Strings(own["decisions"])...)
	}
	for _, named := range append([]string{d.text("agent", "parent_entity_id"), d.text("active", "project")},
		d.orgs()...) {
		if named != "" {
			r.EntitiesMentioned = append(r.EntitiesMentioned, named)
		}
	}
	return r
}
