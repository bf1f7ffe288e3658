package memory

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cordelia/internal/store"
	"cordelia/memory/rank"
	"cordelia/schemas"
)

// frequencies estimates how many readable items have each value of a kind. What is rare
// is counted; of what is common, the share it has of as many of the newest items
// is taken for all. Only readable items enter.
func (p *plan) frequencies(tx querier, kind string, values []string) ([]float64, error) {
	out := make([]float64, len(values))
	if len(values) == 0 {
		return out, nil
	}
	most := max(countedPostings/len(values), leastCounted)
	var oldest int64
	if p.see.items > int64(most) {
		if err := tx.QueryRow(selectOldest, p.matchingAll(metaEntry), most).Scan(&oldest); err != nil {
			return nil, fmt.Errorf("count terms: %w", err)
		}
	}
	matches := make([]string, len(values))
	for i, v := range values {
		matches[i] = p.matchingAll(entry(kind, v))
	}
	type count struct {
		at int
		of string
	}
	rows, err := tx.Query(selectFrequencies, store.List(matches), most, oldest)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (c count, err error) { return c, r.Scan(&c.at, &c.of) })
	if err != nil {
		return nil, fmt.Errorf("count terms: %w", err)
	}
	for _, c := range list {
		var n [2]float64 // all, and among the newest
		if err := json.Unmarshal([]byte(c.of), &n); err != nil {
			return nil, fmt.Errorf("count terms: %w", err)
		}
		out[c.at] = n[0]
		if n[0] >= float64(most) && oldest > 0 {
			out[c.at] = max(n[0], float64(p.see.items)*(n[1]+0.5)/float64(most+1))
		}
	}
	return out, nil
}

// matches finds items by words, the most promising first: those that have the
// most, and the rarest, of the words. Without words it gives the newest.
func (p *plan) matches(tx querier) ([]int64, error) {
	probes := p.probes
	if len(p.terms) == 0 {
		probes = []probe{{metaEntry, 1, false}}
	}
	if len(probes) == 0 {
		return nil, nil
	}
	most := maxPostings
	if len(p.terms) == 0 {
		most = matched
	}
	postings, err := p.postings(tx, probes, most)
	return rank.Heaviest(postings, matched), err
}

// postings lists the newest items that have each entry.
func (p *plan) postings(tx querier, probes []probe, most int) ([]rank.Postings, error) {
	texts := make([]string, len(probes))
	for i, pr := range probes {
		texts[i] = p.matching(pr.entry)
	}
	type found struct {
		at int
		ns string
	}
	rows, err := tx.Query(selectPostings, store.List(texts), most)
	list, err := store.Collect(rows, err, func(r *sql.Rows) (f found, err error) { return f, r.Scan(&f.at, &f.ns) })
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	postings := make([]rank.Postings, len(list))
	for i, f := range list {
		ns, err := numbers(f.ns)
		if err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		postings[i] = rank.Postings{Items: ns, Weight: probes[f.at].weight, Letters: probes[f.at].letters}
	}
	return postings, nil
}

// numbers reads a list as group_concat writes it, newest first.
func numbers(list string) ([]int64, error) {
	out := make([]int64, 0, 1+strings.Count(list, ","))
	if list == "" {
		return out, nil
	}
	for s := range strings.SplitSeq(list, ",") {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	if !slices.IsSortedFunc(out, newerFirst) { // the order of an aggregate's rows is not promised
		slices.SortFunc(out, newerFirst)
	}
	return out, nil
}

func newerFirst(a, b int64) int { return cmp.Compare(b, a) }

// candidates reads the matches in order until there are enough that may show.
// It counts what validity hid of the actor's and those below.
func (p *plan) candidates(tx querier) ([]*doc, Found, error) {
	var found Found
	ns, err := p.matches(tx)
	if err != nil {
		return nil, found, err
	}
	var live []*doc
	var replaced []*doc
	cut, read := len(ns) == matched, map[schemas.EntityID]int{}
	for len(ns) > 0 && len(live) < candidates {
		batch := ns[:min(len(ns), max(candidates-len(live), leastRead))]
		ns = ns[len(batch):]
		docs, err := p.read(tx, batch)
		if err != nil {
			return nil, found, err
		}
		for _, n := range batch {
			d := docs[n]
			if d != nil {
				read[d.author]++
			}
			switch {
			case d == nil || !p.inSpan(&d.row):
			case d.hidden:
				if p.see.includes(d.owner) || p.see.includes(d.author) {
					found.Hidden.Quarantined++
				}
			case p.isTrue(&d.row):
				if len(live) < candidates {
					live = append(live, d)
				}
			case d.supersededBy != "" && !d.ended(p.now):
				replaced = append(replaced, d)
				found.Hidden.Superseded++ // a reader of the place may read it by its id
			case !p.see.includes(d.owner) && !p.see.includes(d.author):
			case d.supersededBy != "":
				found.Hidden.Superseded++
			case cmp.Or(p.asOf, p.now) < d.begins():
				found.Hidden.NotYet++
			default:
				found.Hidden.Expired++
			}
		}
	}
	if cut || len(ns) > 0 {
		if live, err = p.besideDominant(tx, live, read); err != nil {
			return nil, found, err
		}
	}
	if live, err = p.successors(tx, live, replaced); err != nil {
		return nil, found, err
	}
	for _, add := range []func(querier, []*doc) ([]*doc, error){p.usedAlike, p.ofDates, p.ofAuthors, p.ofSubjects} {
		if live, err = add(tx, live); err != nil {
			break
		}
	}
	return live, found, err
}

// inSpan reports whether r was written in the time searched and surfaces at all.
func (p *plan) inSpan(r *row) bool {
	return (p.since == 0 || r.created >= p.since) && (p.until == 0 || r.created < p.until) && r.created <= p.now &&
		!r.inQuarantine() && r.deleted == 0
}

// isTrue reports whether r tells what is so now, or was at the time asked about.
func (p *plan) isTrue(r *row) bool {
	if r.hidden {
		return false
	}
	if p.asOf != 0 {
		return r.supersededBy == "" && r.wasTrue(p.asOf)
	}
	return r.state(p.now) == stateCurrent && r.validFrom <= p.now
}

// read reads items for ranking; each is checked again to lie in a readable place.
func (p *plan) read(tx querier, ns []int64) (map[int64]*doc, error) {
	rows, err := tx.Query(selectDocs, store.List(ns), store.List(p.see.scopes), p.see.lessons)
	docs, err := store.Collect(rows, err, scanDoc)
	if err != nil {
		return nil, fmt.Errorf("read candidates: %w", err)
	}
	out := make(map[int64]*doc, len(docs))
	for _, d := range docs {
		out[d.n] = d
	}
	return out, p.weighStanding(tx, docs)
}

// doc is an item read for ranking. Its row says whether it may show.
type doc struct {
	row
	rank.Doc
}

func scanDoc(rows *sql.Rows) (*doc, error) {
	d := &doc{}
	err := rows.Scan(&d.n, &d.id, &d.origin, &d.typ, &d.subject, &d.key, &d.owner, &d.author, &d.thread, &d.tokens,
		&d.source, &d.stale, &d.SaidBy, &d.Told, &d.Shapes,
		&d.validFrom, &d.validTo, &d.supersededBy, &d.expires, &d.created, &d.confidence, &d.validated, &d.quarantined,
		&d.deleted, &d.groupTTL, &d.scope, &d.Asks, &d.terms)
	d.describe()
	return d, err
}

// describe tells ranking what the row says.
func (d *doc) describe() {
	d.N, d.ID, d.Author, d.Scope = d.n, d.id, d.author, d.scope
	d.Line = cmp.Or(d.origin, d.id)
	d.Subject, d.Key, d.Thread, d.Terms, d.Tokens = d.subject, d.key, d.thread, d.terms, d.tokens
	d.ValidFrom, d.Created = d.validFrom, d.created
	d.SecondHand, d.FromUser, d.Stale = d.source.SecondHand(), d.source == FromUser, d.stale != ""
}

// quarantined counts what quarantine keeps from this search among the items of
// the actor and those below.
func (p *plan) quarantined(tx querier) (n int, err error) {
	scopes := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(p.see.scopes), p.see.hidden...))))
	wanted, stems := []string{metaEntry}, p.words.Stems()
	if len(stems) > 0 {
		wanted = wanted[:0]
	}
	for _, stem := range stems[:min(len(stems), rank.MaxProbed)] {
		wanted = append(wanted, entry(wordEntry, stem))
	}
	matches := make([]string, len(wanted))
	to := audiencesOf(scopes, true)
	for i, of := range wanted {
		matches[i] = "(" + to.match(of) + ")" + p.see.withheld(to)
	}
	if authors := p.see.hiddenAuthors(p.see.includes); authors != "" {
		to = audiencesOf(scopes, false)
		for _, of := range wanted {
			matches = append(matches, "(("+to.match(of)+") AND ("+authors+"))"+p.see.withheld(to))
		}
	}
	if err := tx.QueryRow(countQuarantined, store.List(matches), store.List(p.see.below),
		counted).Scan(&n); err != nil {
		return 0, fmt.Errorf("count quarantine: %w", err)
	}
	return n, nil
}
