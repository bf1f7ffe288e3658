package memory

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"cordelia/internal/store"
	"cordelia/memory/rank"
	"cordelia/memory/text"
	"cordelia/schemas"
)

const (
	maxHops     = 8   // times that an item was replaced, followed
	maxSubjects = 50  // subjects and keys of candidates whose current items are read
	maxSpans    = 12  // spans of time named in a question that fetch items
	dated       = 200 // items that they fetch
	likely      = 60  // items fetched by words used like those of the question
	perLarge    = 12  // of a span with more items than are fetched: a month of a year
)

// ofDates adds the items of the days, weeks and months that the question names.
func (p *plan) ofDates(tx querier, live []*doc) ([]*doc, error) {
	if p.Text == "" || len(p.Tags) > 0 || p.lessons || p.Without&ByDate != 0 {
		return live, nil
	}
	spans := text.SpansIn(p.Text, time.UnixMicro(p.now))
	if len(spans) == 0 {
		return live, nil
	}
	spans = spans[:min(len(spans), maxSpans)]
	bounds := make([][2]int64, len(spans))
	for i, s := range spans {
		bounds[i] = [2]int64{s.From.UnixMicro(), s.To.UnixMicro()}
	}
	rows, err := tx.Query(selectDated, store.List(p.see.scopes), store.List(bounds), dated)
	ns, err := store.Collect(rows, err, store.Column[int64])
	if err != nil {
		return nil, fmt.Errorf("search by date: %w", err)
	}
	within := len(ns)
	if within == dated {
		within = max(within, int(p.see.items/perLarge))
	}
	p.words.DatedBy(spans, within)
	return p.join(tx, live, ns)
}

// usedAlike adds items with words used like those of the question, where its own words find
// little.
func (p *plan) usedAlike(tx querier, live []*doc) ([]*doc, error) {
	if len(p.terms) == 0 {
		return live, nil
	}
	docs := make([]*rank.Doc, len(live))
	for i, d := range live {
		docs[i] = &d.Doc
	}
	stems := p.words.Alternatives(docs)
	if len(stems) == 0 {
		return live, nil
	}
	counts, err := p.frequencies(tx, wordEntry, stems)
	if err != nil {
		return nil, err
	}
	others := *p
	others.probes = nil
	for _, f := range p.words.CountAlternatives(counts) {
		others.probes = append(others.probes, probe{entry(wordEntry, f.Value), f.Weight, false})
	}
	ns, err := others.matches(tx)
	if err != nil {
		return nil, err
	}
	return p.join(tx, live, ns[:min(len(ns), likely)])
}

// join adds to the candidates those of the items ns that may show and that the filters let
// through; of tags it knows nothing.
func (p *plan) join(tx querier, live []*doc, ns []int64) ([]*doc, error) {
	ns = slices.DeleteFunc(ns, func(n int64) bool {
		return slices.ContainsFunc(live, func(d *doc) bool { return d.n == n })
	})
	docs, err := p.read(tx, ns)
	if err != nil {
		return nil, err
	}
	for _, n := range ns {
		if d := docs[n]; d != nil && p.shows(d) {
			live = append(live, d)
		}
	}
	return live, nil
}

// shows reports whether d may show, and the filters let it through but that of tags.
func (p *plan) shows(d *doc) bool {
	return (p.Type == "" || d.typ == p.Type) && (p.author == "" || d.author == p.author) && p.inSpan(&d.row) &&
		p.isTrue(&d.row)
}

// ofSubjects adds the current items of the subjects and keys that candidates tell of, so that
// what was is never found without what is.
func (p *plan) ofSubjects(tx querier, live []*doc) ([]*doc, error) {
	type place struct {
		Scope   int64  `json:"n"`
		Subject string `json:"s"`
		Key     string `json:"k"`
	}
	var places []place
	for _, d := range live {
		at := place{d.scope, d.subject, d.key}
		if d.subject != "" && len(places) < maxSubjects && !slices.Contains(places, at) {
			places = append(places, at)
		}
	}
	if len(places) == 0 || len(p.Tags) > 0 || p.asOf != 0 || p.Without&BySubject != 0 {
		return live, nil
	}
	rows, err := tx.Query(selectOfSubjects, store.List(places))
	ns, err := store.Collect(rows, err, store.Column[int64])
	if err != nil {
		return nil, fmt.Errorf("search by subject: %w", err)
	}
	return p.join(tx, live, ns)
}

// successors adds the items that stand in the place of matches that are no longer so, however
// many times these were replaced.
func (p *plan) successors(tx querier, live, replaced []*doc) ([]*doc, error) {
	if len(p.Tags) > 0 || p.asOf != 0 || p.Without&BySubject != 0 {
		return live, nil
	}
	old := map[schemas.ItemID]*doc{} // the first of each line, by what replaces it now
	for _, d := range replaced[:min(len(replaced), maxSubjects)] {
		if old[d.supersededBy] == nil {
			old[d.supersededBy] = d
		}
	}
	known := map[int64]*doc{}
	for _, d := range live {
		known[d.n] = d
	}
	for hop := 0; hop < maxHops && len(old) > 0; hop++ {
		rows, err := tx.Query(selectNumbers, store.List(slices.Sorted(maps.Keys(old))))
		ns, err := store.Collect(rows, err, store.Column[int64])
		if err != nil {
			return nil, fmt.Errorf("search for successors: %w", err)
		}
		docs, err := p.read(tx, ns)
		if err != nil {
			return nil, err
		}
		further := map[schemas.ItemID]*doc{}
		for _, n := range ns {
			d := docs[n]
			switch {
			case d == nil:
			case known[n] != nil:
				known[n].Replace(&old[d.id].Doc)
			case p.shows(d):
				d.Replace(&old[d.id].Doc)
				live = append(live, d)
			case d.supersededBy != "" && further[d.supersededBy] == nil:
				further[d.supersededBy] = old[d.id]
			}
		}
		old = further
	}
	return live, nil
}
