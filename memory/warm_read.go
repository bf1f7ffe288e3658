package memory

import (
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"cordelia/access"
	"cordelia/events"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// MaxReadItems is how many items one read returns.
const MaxReadItems = 20

// Get reads items by id, in the order asked for. Errors: CodeNotFound, naming
// every id that is absent or hidden.
func Get(g access.Grant, ids []schemas.ItemID) ([]Item, error) {
	if len(ids) == 0 || len(ids) > MaxReadItems {
		return nil, schemas.Invalidf("%d ids", len(ids)).Expecting("1 to %d ids", MaxReadItems)
	}
	see, err := reachOf(g)
	if err != nil {
		return nil, err
	}
	return get(g.Tx(), see, ids)
}

func get(tx querier, see readScope, ids []schemas.ItemID) ([]Item, error) {
	found, err := fetch(tx, see, ids)
	if err != nil {
		return nil, err
	}
	numbers := make([]int64, 0, len(found))
	for _, r := range found {
		numbers = append(numbers, r.n)
	}
	links, err := related(tx, see, numbers)
	if err != nil {
		return nil, err
	}
	var missing []schemas.Violation
	items := make([]Item, 0, len(ids))
	for i, id := range ids {
		r, ok := found[id]
		if !ok {
			missing = append(missing, schemas.Violation{Path: fmt.Sprintf("/ids/%d", i),
				Msg: "there is no item with this id here"})
			continue
		}
		item, err := r.item(see.now)
		if err != nil {
			return nil, err
		}
		item.Related = links[r.n]
		items = append(items, item)
	}
	switch {
	case len(missing) == 0:
		return items, nil
	case len(ids) > 1:
		return nil, schemas.NotFoundf("%d of %d items are not here", len(missing), len(ids)).
			Try("repeat the call without them; %s finds items by their words", schemas.Tool("memory_search")).
			With(missing...)
	}
	return nil, see.absent(ids[0])
}

// absent words an item that is not there and one that the actor may not read alike.
func (r readScope) absent(id schemas.ItemID) error {
	if !r.lessons { // said of what is not there, too
		return notHere(id).Try("%s finds items by their words; %s", schemas.Tool("memory_search"), WithoutLessons)
	}
	return absent(id)
}

// related reads the links between visible items.
func related(tx querier, see readScope, numbers []int64) (map[int64][]Link, error) {
	type edge struct {
		from, to int64
		Link
	}
	rows, err := tx.Query(selectLinks, see.byID(), store.List(see.below), store.List(numbers))
	edges, err := store.Collect(rows, err, func(r *sql.Rows) (e edge, err error) {
		return e, r.Scan(&e.from, &e.to, &e.Kind, &e.Other)
	})
	if err != nil {
		return nil, fmt.Errorf("read links: %w", err)
	}
	ns := make([]int64, len(edges))
	for i, e := range edges {
		ns[i] = e.to
	}
	hidden, err := see.hiddenAmong(tx, ns)
	if err != nil {
		return nil, err
	}
	withheld, err := see.withheldAmong(tx, ns)
	if err != nil {
		return nil, err
	}
	out := map[int64][]Link{}
	for _, e := range edges {
		if hidden[e.to] || withheld[e.to] {
			continue
		}
		out[e.from] = append(out[e.from], e.Link)
	}
	return out, nil
}

// item is r as readers see it.
func (r *row) item(now int64) (Item, error) {
	it := Item{
		ID: r.id, Type: r.typ, Name: r.name, Data: json.RawMessage(r.data), Owner: r.owner, Author: r.author,
		Visibility: r.visibility, Group: r.group, Origin: r.origin, Parent: r.parent, Stale: r.stale,
		Subject: r.subject, Key: r.key, Supersedes: r.supersedes, SupersededBy: r.supersededBy,
		ValidFrom: stamp(r.validFrom), ValidTo: stamp(r.until()), Confidence: float64(r.confidence) / 1000,
		Validated: r.validated,
		State:     r.state(now), ExpiresAt: stamp(r.expiry()), Version: r.version, CreatedAt: stamp(r.created),
		UpdatedAt: stamp(r.updated),
	}
	if r.data == "" {
		it.Data = json.RawMessage("{}")
	}
	if err := json.Unmarshal([]byte(r.provenance), &it.Provenance); err != nil {
		return it, fmt.Errorf("provenance of %s: %w", r.id, err)
	}
	return it, nil
}

// stamp renders an optional time, "" for none.
func stamp(micros int64) string {
	if micros == 0 {
		return ""
	}
	return events.Timestamp(micros)
}

// Version is an earlier version of an item.
type Version struct {
	Version    int             `json:"version"`
	Data       json.RawMessage `json:"data,omitempty"`
	Subject    string          `json:"subject,omitempty"`
	Key        string          `json:"key,omitempty"`
	ValidFrom  string          `json:"valid_from,omitempty"`
	ValidTo    string          `json:"valid_to,omitempty"`
	Confidence float64         `json:"confidence"`
	Validated  bool            `json:"validated,omitempty"`
	Provenance Provenance      `json:"provenance"`
	Hash       string          `json:"content_hash"`
	At         string          `json:"at"`
}

// History reads the earlier versions of an item, oldest first.
func History(g access.Grant, id schemas.ItemID) ([]Version, error) {
	see, err := reachOf(g)
	if err != nil {
		return nil, err
	}
	found, err := fetch(g.Tx(), see, []schemas.ItemID{id})
	if err != nil {
		return nil, err
	}
	r, ok := found[id]
	if !ok {
		return nil, absent(id)
	}
	list, err := versions(g.Tx(), r.n)
	return slices.DeleteFunc(list, func(v Version) bool { return !see.lessons && v.Provenance.Task != "" }), err
}

func versions(tx querier, n int64) ([]Version, error) {
	rows, err := tx.Query(selectVersions, n)
	out, err := store.Collect(rows, err, func(r *sql.Rows) (v Version, err error) {
		var data, provenance string
		var from, to, at int64
		var confidence int
		var hash []byte
		if err := r.Scan(&v.Version, &data, &v.Subject, &v.Key, &from, &to, &confidence, &v.Validated, &provenance,
			&hash, &at); err != nil {
			return v, err
		}
		v.Data, v.Hash, v.Confidence = json.RawMessage(data), hex.EncodeToString(hash), float64(confidence)/1000
		v.ValidFrom, v.ValidTo, v.At = stamp(from), stamp(to), stamp(at)
		return v, json.Unmarshal([]byte(provenance), &v.Provenance)
	})
	if err != nil {
		return nil, fmt.Errorf("read versions: %w", err)
	}
	return out, nil
}
