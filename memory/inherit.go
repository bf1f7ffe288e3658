package memory

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Insight is a private learning of an agent, for those who decide who gets it.
type Insight struct {
	ID         schemas.ItemID
	Text       string // as its owner wrote it: data
	SecondHand bool
}

// MaxInherited is how many insights a child gets at most (role seed §4.9).
const MaxInherited = 20

// inheritedPermille is what is left of the confidence of an insight that is inherited.
const inheritedPermille = 700

// InsightsOf lists the private learnings of an agent that are in effect, the most certain
// first, at most MaxInherited: those that one of words is a tag or a word of, or all without
// words. It is for the node and those above the agent. Lessons of tasks are none.
func InsightsOf(g access.Grant, owner schemas.EntityID, words []string) ([]Insight, error) {
	rows, err := insights(g, owner, words)
	out := make([]Insight, len(rows))
	for i, r := range rows {
		out[i] = Insight{ID: r.id, Text: r.name, SecondHand: r.source.SecondHand() || r.tainted}
	}
	return out, err
}

func insights(g access.Grant, owner schemas.EntityID, words []string) ([]row, error) {
	if g.Tx() == nil {
		return nil, access.ErrNoGrant
	}
	if !g.IsNode() {
		if above, err := g.Holds(owner); err != nil || !above {
			return nil, cmp.Or(err, access.NotKnown(string(owner)))
		}
	}
	found, err := allOf(g, selectOwned, owner)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(r row) bool {
		var p Provenance
		bad := json.Unmarshal([]byte(r.provenance), &p) != nil
		return bad || p.Task != "" || r.typ != LearningItem || r.visibility != schemas.Private || !r.current ||
			r.inQuarantine() || r.unreleased() || !r.speaksOf(words)
	})
	slices.SortStableFunc(found, func(a, b row) int {
		return cmp.Or(b.confidence-a.confidence, cmp.Compare(b.created, a.created))
	})
	return found[:min(len(found), MaxInherited)], nil
}

// allOf reads all of an agent's items that a query lists by pages.
func allOf(g access.Grant, query string, owner schemas.EntityID) (all []row, err error) {
	for after := int64(0); ; {
		page, err := rowsOf(g.Tx(), query, owner, after)
		if err != nil || len(page) == 0 {
			return all, err
		}
		all, after = append(all, page...), page[len(page)-1].n
	}
}

// speaksOf reports whether one of words is among r's text or tags; without words all is.
func (r *row) speaksOf(words []string) bool {
	text := strings.ToLower(r.data)
	return len(words) == 0 || slices.ContainsFunc(words, func(w string) bool {
		return w != "" && strings.Contains(text, strings.ToLower(w))
	})
}

// Inherit gives a child what its parent knows about words, each with 0.7 of its confidence
// and the tag inherited, and says how many that were. It is for the node.
func Inherit(g access.Grant, from, to schemas.EntityID, words []string) (int, error) {
	list, err := insights(g, from, words)
	if err != nil {
		return 0, err
	}
	ids := make([]schemas.ItemID, len(list))
	for i, r := range list {
		ids[i] = r.id
	}
	return Bequeath(g, ids, to, inheritedPermille, "inherited")
}

// Bequeath writes copies of private learnings into another agent's private memory, derived
// from them, with permille of their confidence and one more tag, and says how many are new
// there. It is for the node. CodeNotFound if one is gone.
func Bequeath(g access.Grant, ids []schemas.ItemID, to schemas.EntityID, permille int, tag string) (n int, err error) {
	if !g.IsNode() || g.Tx() == nil {
		return 0, access.ErrNoGrant
	}
	for _, id := range ids {
		found, err := rowsOf(g.Tx(), selectOwn, id)
		if err != nil || len(found) == 0 || found[0].data == "" {
			return n, cmp.Or(err, absent(id))
		}
		fresh, err := bequeath(g, found[0], to, permille, tag)
		if err != nil {
			return n, err
		}
		if fresh {
			n++
		}
	}
	return n, nil
}

func bequeath(g access.Grant, src row, to schemas.EntityID, permille int, tag string) (fresh bool, err error) {
	var value map[string]any
	if err := json.Unmarshal([]byte(src.data), &value); err != nil {
		return false, fmt.Errorf("data of %s: %w", src.id, err)
	}
	tags, _ := value["tags"].([]any)
	if !slices.Contains(tags, any(tag)) && len(tags) < maxList {
		value["tags"] = append(tags, tag)
	}
	data, err := json.Marshal(value)
	if err != nil {
		return false, err
	}
	c, bad := parseContent(LearningItem, data, "/data")
	if len(bad) > 0 {
		return false, schemas.Invalidf("%s cannot be inherited", src.id).With(bad...)
	}
	return own(g, row{owner: to, author: src.author, subject: src.subject, key: src.key,
		confidence: src.confidence * permille / 1000, source: src.source}, c,
		Provenance{Author: src.author, Via: []schemas.EntityID{access.NodeEntity}, Source: src.source,
			Tainted: src.tainted, DerivedFrom: []schemas.ItemID{src.id}})
}

// own stores a private learning as r and p say, unless its owner has an equal one.
func own(g access.Grant, r row, c content, p Provenance) (fresh bool, err error) {
	hash, err := ContentHash(LearningItem, c.data)
	if err != nil {
		return false, fmt.Errorf("hash item: %w", err)
	}
	words, now := indexOf(c, r.subject, r.key), g.Tx().Micros()
	r.id, r.typ, r.visibility, r.version = schemas.ItemID(schemas.NewID()), LearningItem, schemas.Private, 1
	r.data, r.name, r.tags, r.hash = string(c.data), c.name(), store.List(c.tags()), hash[:]
	r.terms, r.tokens, r.current, r.created, r.updated = words.terms, words.tokens, true, now, now
	p.ContentHash, p.At = hex.EncodeToString(hash[:]), events.Timestamp(now)
	r.provenance = encodeProvenance(p)
	if r.scope, err = scopeOf(g, schemas.Private, string(r.owner)); err != nil {
		return false, err
	}
	var rel relation
	if err := ownEqual(g.Tx(), &r, &rel); err != nil || rel.equal {
		return false, err
	}
	if err := insert(g.Tx(), &r, words); err != nil {
		return false, err
	}
	if err := link(g.Tx(), r.n, "derived_from", p.DerivedFrom); err != nil {
		return false, err
	}
	return true, g.Audit("item/"+string(r.id), r.recorded(map[string]any{"from": p.DerivedFrom, "to": r.owner}))
}

// Learned is an insight that a role drew from its episodes.
type Learned struct {
	Content    string   `json:"content"`
	Tags       []string `json:"tags,omitempty"`
	Confidence *float64 `json:"confidence,omitempty"`
}

// Reflect writes an insight into an agent's private memory, in its name; outside = it was drawn
// from what others wrote. It is for the node, and answers whether it is new there. CodeInvalid
// for one that no item can hold.
func Reflect(g access.Grant, owner schemas.EntityID, l Learned, outside bool) (fresh bool, err error) {
	if !g.IsNode() || g.Tx() == nil {
		return false, access.ErrNoGrant
	}
	data, err := json.Marshal(map[string]any{"type": "insight", "content": l.Content, "tags": append([]string{},
		l.Tags...)})
	if err != nil {
		return false, err
	}
	c, bad := parseContent(LearningItem, data, "/data")
	if len(bad) > 0 {
		return false, schemas.Invalidf("the insight cannot be kept").With(bad...)
	}
	confidence := DefaultConfidence
	if l.Confidence != nil {
		confidence = thousandths(max(0, min(1, *l.Confidence)))
	}
	source := FromAgent
	if outside {
		source = FromExternal
	}
	return own(g, row{owner: owner, author: owner, confidence: confidence, source: source}, c,
		Provenance{Author: owner, Via: []schemas.EntityID{access.NodeEntity}, Source: source, Tainted: outside})
}

// PurgeOwned removes all that an agent owns privately, its archive and what it had deleted too,
// for good; the node does it when an agent is removed whose memory is to be deleted.
func PurgeOwned(g access.Grant, owner schemas.EntityID) (n int, err error) {
	if !g.IsNode() || g.Tx() == nil {
		return 0, access.ErrNoGrant
	}
	found, err := allOf(g, selectToPurge, owner)
	if err != nil {
		return 0, err
	}
	for i := range found {
		if _, err := purge(g, &found[i]); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
