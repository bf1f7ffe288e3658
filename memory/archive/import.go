package archive

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/memory"
	"cordelia/schemas"
)

// ImportOptions say how to import.
type ImportOptions struct {
	Known          Known
	CreateGroups   bool            // make the groups that are missing
	Group          schemas.GroupID // the place of what names none: Markdown and the memory server's
	ReplaceContext bool
	// Hot compares an L1 context with the actor's and, if it may, replaces that. nil leaves
	// contexts out.
	Hot func(g access.Grant, context json.RawMessage, replace bool) (ContextImport, error)
}

// ContextImport says what became of the L1 context of an import, "" if there is none in it.
type ContextImport string

const (
	ContextSame     ContextImport = "same"     // the actor has that
	ContextReplaced ContextImport = "replaced" // the actor's is now that of the file
	ContextKept     ContextImport = "kept"     // they differ, and the actor's stays
)

// Imported counts what an import did.
type Imported struct {
	New      int           `json:"new"`      // items that were not here
	Same     int           `json:"same"`     // items that are here already
	External int           `json:"external"` // of the new ones those that nothing known here signed
	Groups   int           `json:"groups"`   // made
	Context  ContextImport `json:"context,omitempty"`
	Refused  []Refused     `json:"refused"`
}

// RefusedCount is how many records were not imported.
func (i Imported) RefusedCount() (n int) {
	for _, r := range i.Refused {
		n += r.Count
	}
	return n
}

// Import takes a bundle over as the actor's own, in one transaction: same ids, same hashes;
// a second time it changes nothing. A record whose signature holds (see seal.holds) keeps
// author, provenance, confidence and place. Every other is external, also if a person imports it:
// tainted, not validated, at most of DefaultConfidence, marked as imported by the actor, and
// what instructs in it waits for release, by INV-IMPORT. An id that is in use for something
// else is replaced by another, always the same. What cannot be imported is left out and
// counted by reason.
//
// Errors: CodeNotFound, and nothing is imported, when groups are missing and CreateGroups is
// not said.
func Import(g access.Grant, b *Bundle, o ImportOptions) (Imported, error) {
	if g.Tx() == nil {
		return Imported{}, access.ErrNoGrant
	}
	i := importing{Grant: g, o: o, done: Imported{Refused: []Refused{}}, refused: slices.Clone(b.refused)}
	if err := i.groups(b); err != nil {
		return Imported{}, err
	}
	if err := i.items(b); err != nil {
		return Imported{}, err
	}
	if err := i.context(b); err != nil {
		return Imported{}, err
	}
	i.done.Refused = append(i.done.Refused, i.refused...)
	return i.done, g.Audit("entity/"+string(g.Actor()), map[string]any{"from": b.from,
		"new": i.done.New, "same": i.done.Same, "external": i.done.External, "groups": i.done.Groups,
		"context": i.done.Context, "refused": i.done.RefusedCount()})
}

// importing is one import under way.
type importing struct {
	access.Grant
	o       ImportOptions
	done    Imported
	refused refusals
}

// refuse counts a record as refused if err says what is wrong with it; any other error ends
// the import.
func (i *importing) refuse(where string, err error) error {
	why, refused := memory.Refusal(err)
	if refused {
		i.refused.add(where, why)
		return nil
	}
	return err
}

// groups makes those that a signature that holds brings and, if the actor said so, all that
// are missing.
func (i *importing) groups(b *Bundle) error {
	heads := map[schemas.GroupID]memory.GroupRecord{}
	for _, o := range b.groups {
		heads[o.value.ID] = o.value
		if o.value.Kind != memory.NormalGroup {
			continue
		}
		trusted, err := o.seal.trusted(i.Grant, i.o.Known)
		if err != nil {
			return err
		}
		if !trusted && !i.o.CreateGroups {
			continue
		}
		if err := i.refuse(o.where, i.makeGroup(o.value)); err != nil {
			return err
		}
	}
	missing := map[schemas.GroupID]int{}
	for _, o := range b.items {
		if id := i.placed(o.value).Group; id != "" {
			missing[id]++
		}
	}
	for id := range missing {
		if !memory.LacksGroup(i.Grant, id) {
			delete(missing, id)
		}
	}
	return i.makeMissing(missing, heads)
}

// makeMissing makes the groups that items need, or names them all at once.
func (i *importing) makeMissing(missing map[schemas.GroupID]int, heads map[schemas.GroupID]memory.GroupRecord) error {
	if len(missing) == 0 {
		return nil
	}
	var list []string
	for _, id := range slices.Sorted(maps.Keys(missing)) {
		if i.o.CreateGroups {
			head, ok := heads[id]
			if !ok {
				head = memory.GroupRecord{Culture: memory.DefaultCulture()}
			}
			head.ID, head.Kind = id, memory.NormalGroup
			if err := i.makeGroup(head); err != nil {
				return err
			}
			continue
		}
		list = append(list, fmt.Sprintf("%s (%s)", id, schemas.Count(missing[id], "item", "items")))
	}
	if list == nil {
		return nil
	}
	return schemas.NotFoundf("nothing was imported: items belong to groups that are not here: %s",
		strings.Join(list, ", ")).
		Expecting("groups that you may write to").
		Try("make them: cordelia import --create-groups FILE; or ask their owners to add you")
}

// placed gives an item without a place the place of the import.
func (i *importing) placed(o memory.Incoming) memory.Incoming {
	if o.Visibility == "" {
		if o.Visibility, o.Group = schemas.Private, i.o.Group; o.Group != "" {
			o.Visibility = schemas.Group
		}
	}
	return o
}

// items imports the items of the bundle.
func (i *importing) items(b *Bundle) error {
	items := make([]memory.Incoming, len(b.items))
	for n, o := range b.items {
		items[n] = i.placed(o.value)
		var err error
		if items[n].Signed, err = o.seal.trusted(i.Grant, i.o.Known); err != nil {
			return err
		}
	}
	taken, err := memory.Take(i.Grant, items)
	if err != nil {
		return err
	}
	for n, t := range taken {
		switch {
		case t.Refused != "":
			i.refused.add(b.items[n].where, t.Refused)
		case !t.New:
			i.done.Same++
		default:
			if i.done.New++; !items[n].Signed {
				i.done.External++
			}
		}
	}
	return nil
}

// makeGroup makes a group of the actor's unless the actor is in it.
func (i *importing) makeGroup(o memory.GroupRecord) error {
	made, err := memory.TakeGroup(i.Grant, o)
	if made {
		i.done.Groups++
	}
	return err
}

// context compares the L1 context of the bundle with the actor's. Of several only the
// actor's own counts.
func (i *importing) context(b *Bundle) error {
	for _, o := range b.hots {
		if i.o.Hot == nil || len(b.hots) > 1 && o.of != i.Actor() {
			continue
		}
		done, err := i.o.Hot(i.Grant, o.value, i.o.ReplaceContext)
		if err := i.refuse(o.where, err); err != nil {
			return err
		}
		i.done.Context = done
	}
	return nil
}
