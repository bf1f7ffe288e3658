package ops

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"cordelia/access"
	"cordelia/schemas"
)

// A result's text is all that a model gets, so it is complete and compact: ids in their
// short form, which every argument takes; names in place of hashes; cursors whole.

// short is the short form of an id.
func short[S ~string](id S) string { return schemas.ShortID(string(id)) }

// shorts lists ids in their short form.
func shorts[S ~string](ids []S) string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = short(id)
	}
	return strings.Join(list, ", ")
}

// names are what agents and people are called, by id.
type names map[schemas.EntityID]string

// add looks up who the ids are; an id that has no name stays an id.
func (n *names) add(g access.Grant, ids ...schemas.EntityID) {
	for _, id := range ids {
		if *n == nil {
			*n = names{}
		}
		if _, known := (*n)[id]; !known && id != "" {
			n.put(g, id, g.NameOf(id))
		}
	}
}

// put records a name. Of two with the same name it shows parent/name, as arguments take it.
func (n names) put(g access.Grant, id schemas.EntityID, name string) {
	alike := []schemas.EntityID{id}
	for other, known := range n {
		if known == name || strings.HasSuffix(known, "/"+name) {
			alike = append(alike, other)
		}
	}
	n[id] = name
	for _, one := range alike {
		if len(alike) > 1 && n[one] == name {
			n[one] = qualified(g, one, name)
		}
	}
}

// qualified is parent/name, or the id where the actor cannot name the parent.
func qualified(g access.Grant, id schemas.EntityID, name string) string {
	who, err := g.Profile(id)
	if err != nil {
		return string(id)
	}
	if _, err := g.Resolve(string(who.ParentEntityID)); err != nil {
		return string(id)
	}
	return g.NameOf(who.ParentEntityID) + "/" + name
}

// of is the name of id, else the beginning of the id, which arguments take too.
func (n names) of(id schemas.EntityID) string {
	if name := n[id]; name != "" {
		return shortEntity(name)
	}
	return shortEntity(string(id))
}

// shortEntity cuts what is an agent's id, and leaves names alone.
func shortEntity(name string) string {
	if entityID.MatchString(name) {
		return name[:12]
	}
	return Line(name)
}

var entityID = regexp.MustCompile(`^[0-9a-f]{64}$`)

// minute is a timestamp to the minute, in UTC.
func minute(stamp string) string {
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return stamp
	}
	return at.UTC().Format("2006-01-02 15:04Z")
}

// second is a timestamp to the second, in UTC.
func second(stamp string) string {
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return stamp
	}
	return at.UTC().Format("2006-01-02 15:04:05Z")
}

// oneJSON is JSON on one line, with what is hidden in it made visible.
func oneJSON(raw json.RawMessage) string {
	return strings.ReplaceAll(string(ShowJSON(raw)), "\n", " ")
}

// words joins the parts of a line that are there.
func words(sep string, parts ...string) string {
	var list []string
	for _, p := range parts {
		if p != "" {
			list = append(list, p)
		}
	}
	return strings.Join(list, sep)
}

// when is text with a value in it, "" where yes is false.
func when(yes bool, format string, args ...any) string {
	if !yes {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// lines joins lines that are there.
func lines(list ...string) string { return words("\n", list...) }

// hintLines words hints for an agent, a line each.
func hintLines(list []schemas.Hint) string {
	texts := make([]string, len(list))
	for i, h := range list {
		texts[i] = h.String()
	}
	return lines(texts...)
}

// more is how a page goes on.
func more(cursor string) string { return when(cursor != "", "more with cursor: %s", cursor) }
