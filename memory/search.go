package memory

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/memory/rank"
	"cordelia/memory/text"
	"cordelia/schemas"
)

// Bounds of a search.
const (
	defaultHits  = 10
	maxHits      = 50
	maxQuery     = 4000 // bytes
	nearMisses   = 3
	snippetBytes = 240

	maxPostings     = 20_000 // of one entry; of what is more common, the newest
	countedPostings = 6_000  // to tell how common the words are, in all
	leastCounted    = 200    // of each
	counted         = 1000   // items counted to tell how much is hidden

	matched    = 800 // items found by words, before validity
	candidates = 200 // items scored
	leastRead  = 40  // at once
	surrounded = 100 // of these, the best by words are read with their neighbours
)

// Search asks for items by their words.
type Search struct {
	Text   string
	Type   ItemType
	Tags   []string // all of them
	Group  schemas.GroupID
	Author string // name or id
	Since  string
	Until  string
	AsOf   string // what was true then
	Limit  int    // 0 = 10, at most 50
	Full   bool   // whole items
	// Explain gives each hit the parts of its score.
	Explain bool
	// Item asks where one item stands among the results, or why it is not among them.
	Item   schemas.ItemID
	Cursor string
	Here   schemas.GroupID // what the searcher's folder is bound to: its items come first
	Inject *rank.Inject    // what is shown unasked; nil = an ordinary search
	// Without are ways of finding that are left out, to measure what they are worth.
	Without Way
	// Trust weighs an author's items, 1 = as they are; nil weighs none. It is asked
	// for each item scored, so it must not ask the database each time.
	Trust func(author schemas.EntityID) float64
	// Judged tells of which of these lines of items there is a verdict, nil of none; Wrong tells
	// which of such items the searcher takes for wrong.
	Judged func(lines []schemas.ItemID) ([]schemas.ItemID, error)
	Wrong  func([]schemas.ItemWords) (map[schemas.ItemID]bool, error)
}

// Hit is one item found.
type Hit struct {
	ID         schemas.ItemID   `json:"id"`
	Type       ItemType         `json:"type"`
	Name       string           `json:"name"`
	Why        string           `json:"why"`
	Snippet    string           `json:"snippet,omitempty"`
	Author     string           `json:"author"`
	AuthorID   schemas.EntityID `json:"-"`
	Date       string           `json:"date"`
	Group      schemas.GroupID  `json:"group,omitempty"`
	Confidence float64          `json:"confidence"`
	NextTo     bool             `json:"next_to_match,omitempty"` // it has no word of the query
	// ConflictsWith are those shown beside it that say otherwise of its subject and key.
	ConflictsWith []schemas.ItemID `json:"conflicts_with,omitempty"`
	// by the person, by whom its place belongs to, or by the reader
	Wrong      bool        `json:"judged_wrong,omitempty"`
	Score      *rank.Score `json:"score,omitempty" jsonschema:"if the search explains itself"`
	Item       *Item       `json:"item,omitempty"`
	ByWords    int         `json:"-"` // place in the ranking by words, 0 = found by meaning alone
	Words      int         `json:"-"` // of the query, that it holds as they are
	SecondHand bool        `json:"-"` // words of tools or from outside, or derived from such
}

// Hidden counts what a search did not show: what was superseded, and of the caller's own
// and its descendants' items what quarantine or time hid. What the caller may not see is
// never counted.
type Hidden struct {
	Quarantined int `json:"quarantined,omitempty"`
	Expired     int `json:"expired,omitempty"`
	NotYet      int `json:"not_yet_valid,omitempty"`
	Superseded  int `json:"superseded,omitempty"`
}

// Found is the answer to a search.
type Found struct {
	Hits   []Hit
	Cursor string // of the next page, "" if there is none
	Hidden Hidden
	// Weak says that no hit of this page has much of what the query asks for.
	Weak bool
	Near []NearMiss // when there are no hits
	// Withheld says that lessons were left out, if there are any: their reader works
	// from a brief alone.
	Withheld bool
	// SecondHand says that what is shown holds words a tool printed or that were
	// read outside.
	SecondHand bool
	Standing   *Standing // of Search.Item
}

// Query is a checked Search, cut into words.
type Query struct {
	Search
	terms              []text.Word
	since, until, asOf int64
	fingerprint        string
	page               page
	named              []nameOf // entities whose name stands in the text
	wanted             *row     // Item, as the searcher may read it
	ofSwarm            bool     // Here is where the searcher works in its swarm
	lessons            bool     // only those of tasks
	dim                int      // of the vectors to compare with
	meaning            *meant   // nil: by words alone
}

// NewQuery checks s and does what needs no lock.
func NewQuery(s Search) (*Query, error) {
	q := &Query{Search: s}
	check := checker{}
	if len(s.Text) > maxQuery {
		check.add("/query", "is %d bytes long, more than %d", len(s.Text), maxQuery)
	}
	if s.Type != "" && !slices.Contains(ItemTypes(), s.Type) {
		check.add("/type", "must be entity, session or learning")
	}
	if len(s.Tags) > maxList {
		check.add("/tags", "has more than %d elements", maxList)
	}
	for path, t := range map[string]string{"/since": s.Since, "/until": s.Until, "/as_of": s.AsOf} {
		if t != "" && schemas.DateOf(t).IsZero() {
			check.add(path, "%s", schemas.NoDate(t))
		}
	}
	if since, until := micros(s.Since), endOf(s.Until); since != 0 && until != 0 && since > until {
		check.add("/until", "is before since")
	}
	if s.Limit < 0 || s.Limit > maxHits {
		check.add("/limit", "must be from 1 to %d", maxHits)
	}
	q.fingerprint = s.fingerprint()
	if s.Cursor != "" {
		var err error
		if q.page, err = parseCursor(s.Cursor, q.fingerprint); err != nil {
			check.add("/cursor", "%s", err)
		}
	}
	if len(check.found) > 0 {
		return nil, schemas.Invalidf("the search was not made").Try(
			"correct what is listed and %s again", schemas.Do("memory_search")).With(check.found...)
	}
	if q.Limit == 0 {
		q.Limit = defaultHits
	}
	q.since, q.until, q.asOf = micros(s.Since), endOf(s.Until), endOf(s.AsOf)
	q.terms = rank.Words(s.Text)
	return q, nil
}

// endOf is the stored form of a time up to which something counts: a date means
// the whole day.
func endOf(s string) int64 {
	at := micros(s)
	if at != 0 && len(s) == len(time.DateOnly) {
		at += (24 * time.Hour).Microseconds()
	}
	return at
}

// Find runs q over what the actor may read. Errors: CodeNotFound for a group or
// author the actor cannot know, and for an item that it may not read.
func Find(g access.Grant, q *Query) (Found, error) {
	see, err := readable(g)
	if err != nil {
		return Found{}, err
	}
	if q.wanted, err = wantedOf(g.Tx(), see, q.Item); err != nil {
		return Found{}, err
	}
	var author schemas.EntityID
	if q.Author != "" {
		if author, err = g.Resolve(q.Author); err != nil {
			return Found{}, err
		}
	}
	if q.Group != "" {
		if see.scopes, see.items, err = groupScope(g, q.Group); err != nil {
			return Found{}, err
		}
	}
	if q.Here != "" {
		place, err := swarmPlace(g)
		if err != nil {
			return Found{}, err
		}
		q.ofSwarm = place == q.Here
	}
	if q.named, err = namedIn(g, q.Text); err != nil {
		return Found{}, err
	}
	return find(g.Tx(), see, q, author)
}

// groupScope narrows a search to one group that the actor reads.
func groupScope(g access.Grant, id schemas.GroupID) ([]int64, int64, error) {
	scope, err := g.ReadScope()
	if err != nil {
		return nil, 0, err
	}
	if !slices.Contains(scope.Groups, id) {
		return nil, 0, NoGroup(g, id)
	}
	return scopeNumbers(g.Tx(), [][2]string{{string(schemas.Group), string(id)}})
}

// nearGroups adds to a refusal of a group those of the groups whose names are like it.
func nearGroups(groups []schemas.GroupID, id schemas.GroupID, refusal *schemas.Error) *schemas.Error {
	hint, asked := make([]string, 0, 5), text.SpellingOf(text.WordGrams(strings.ToLower(string(id))))
	for _, known := range groups {
		if asked.Alike(string(known)) > 0.3 && len(hint) < cap(hint) {
			hint = append(hint, string(known))
		}
	}
	if len(hint) == 0 {
		return refusal
	}
	return refusal.Try("did you mean %s? %s shows your groups", strings.Join(hint, ", "),
		schemas.Tool("memory_group", "action", "list"))
}

// find is Find on what is readable. Its queries do not depend on items that the actor may not
// see.
func find(tx querier, see readScope, q *Query, author schemas.EntityID) (Found, error) {
	p, err := newPlan(tx, see, q, author)
	if err != nil {
		return Found{}, err
	}
	live, found, err := p.candidates(tx)
	if err != nil {
		return Found{}, err
	}
	held, err := p.quarantined(tx)
	if err != nil {
		return Found{}, err
	}
	found.Hidden.Quarantined += held
	ranked, err := p.rank(tx, live)
	if err != nil {
		return Found{}, err
	}
	ranked, next, err := p.fused(tx, ranked)
	if err != nil {
		return Found{}, err
	}
	if ranked, err = p.last(tx, ranked); err != nil {
		return Found{}, err
	}
	from := q.page.start(ranked)
	to := min(from+q.Limit, len(ranked))
	if to < len(ranked) {
		next.At, next.After, next.Offset = p.now, ranked[to-1].ID, to
		found.Cursor = next.cursor(q.fingerprint)
	}
	if found.Hits, err = p.hits(tx, ranked[from:to]); err != nil {
		return Found{}, err
	}
	found.Weak = p.words.Weak(ranked[from:to])
	if len(ranked) == 0 {
		found.Near, err = p.near(tx, live)
	}
	found.Standing = p.standing(ranked)
	found.SecondHand, found.Withheld = p.secondHand, !see.lessons
	return found, err
}

// hits makes the answer of ranked documents.
func (p *plan) hits(tx querier, docs []*rank.Doc) ([]Hit, error) {
	ids := make([]schemas.ItemID, len(docs))
	for i, d := range docs {
		ids[i] = d.ID
	}
	rows, err := fetch(tx, p.see, ids)
	if err != nil {
		return nil, err
	}
	hits := make([]Hit, 0, len(docs))
	for _, d := range docs {
		r, ok := rows[d.ID]
		if !ok { // cannot be: the same snapshot
			continue
		}
		p.secondHand = p.secondHand || r.source.SecondHand()
		hit := Hit{ID: r.id, Type: r.typ, Name: r.name, Why: p.words.Why(d), Author: p.authorName(r.author),
			AuthorID: r.author,
			Date:     events.Timestamp(r.created)[:10], Group: r.group, Confidence: float64(r.confidence) / 1000,
			ByWords: d.ByWords,
			Words:   p.words.Holds(d), NextTo: d.IsNeighbour(), SecondHand: r.source.SecondHand(), Wrong: p.wrong[d.ID]}
		if hit.Wrong {
			hit.Why = rank.JudgedWrong + " · " + hit.Why
		}
		if p.Explain {
			score := d.Score()
			hit.Score = &score
		}
		if p.Full {
			item, err := r.item(p.now)
			if err != nil {
				return nil, err
			}
			hit.Item = &item
		} else {
			hit.Snippet = p.snippet(&r)
		}
		hits = append(hits, hit)
	}
	contradictions(hits, rows)
	return hits, linkedConflicts(tx, hits, rows)
}

// snippet is the line or two of r that has most of the query's words.
func (p *plan) snippet(r *row) string {
	var c content
	if json.Unmarshal([]byte(r.data), &c.value) != nil {
		return ""
	}
	best, most := "", -1
	for line := range strings.FieldsFuncSeq(strings.NewReplacer(". ", ".\n", "! ", "!\n", "? ",
		"?\n").Replace(c.body()), func(r rune) bool { return r == '\n' }) {
		n := 0
		for _, w := range text.Words(line) {
			if p.words.Has(w.Term) {
				n++
			}
		}
		if n > most {
			best, most = line, n
		}
	}
	if best = oneLine(best, snippetBytes); strings.TrimSuffix(best, "…") != "" &&
		strings.HasPrefix(r.name, strings.TrimSuffix(best, "…")) {
		return "" // the name says it
	}
	return best
}

// names reads the names of authors.
func names(tx querier, ids []schemas.EntityID) (rank.Names, error) {
	type named struct {
		id    schemas.EntityID
		names [2]string
	}
	rows, err := tx.Query(selectNames, store.List(ids))
	list, err := store.Collect(rows, err, func(r *sql.Rows) (n named, err error) {
		return n, r.Scan(&n.id, &n.names[0], &n.names[1])
	})
	if err != nil {
		return nil, fmt.Errorf("read names: %w", err)
	}
	out := rank.Names{}
	for _, n := range list {
		out[n.id] = n.names
	}
	return out, nil
}
