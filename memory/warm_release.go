package memory

import (
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/memory/canonical"
	"cordelia/schemas"
)

// instruction is what of a learning's data makes it one.
type instruction struct {
	Kind  string   `json:"type"`
	Tools []string `json:"tools"`
}

// instruction reads r as one; ok is false for everything that only tells.
func (r *row) instruction() (in instruction, ok bool) {
	kinds := schemas.InstructionKinds()
	// Data is canonical: most cases need no parsing.
	if r.typ != LearningItem || !slices.ContainsFunc(kinds,
		func(k string) bool { return strings.Contains(r.data, typed(k)) }) {
		return in, false
	}
	if json.Unmarshal([]byte(r.data), &in) != nil {
		return in, false
	}
	slices.Sort(in.Tools)
	return in, slices.Contains(kinds, in.Kind)
}

// Instructs reports whether an item of that type and data is an instruction.
func Instructs(typ ItemType, data string) bool {
	_, ok := (&row{typ: typ, data: data}).instruction()
	return ok
}

// typed is how the type of a learning stands in canonical data.
func typed(kind string) string { return `"type":"` + kind + `"` }

// typedKinds is how the types that instruct stand in canonical data.
func typedKinds() (list []string) {
	for _, kind := range schemas.InstructionKinds() {
		list = append(list, typed(kind))
	}
	return list
}

// unreleased reports whether r instructs and is held back.
func (r *row) unreleased() bool {
	if !r.quarantined {
		return false
	}
	_, ok := r.instruction()
	return ok
}

// holdBack keeps what instructs from taking effect until something released it.
// What a person puts there, a person has released.
func (r *row) holdBack(g access.Grant) {
	if _, ok := r.instruction(); ok && !g.IsHuman() {
		r.quarantined = true
	}
}

// waits words that r is not released.
func (r *row) waits() error {
	return schemas.Deniedf("%s instructs and is not released", r.id).
		Expecting("an item that a person released, or that an independent agent wrote with the same words").
		Try("ask the user to run: cordelia memory release %s --if-version %d", r.id, r.version)
}

// reconsider asks of an item just written, and of what says the same beside it,
// whether it is effective by now.
func reconsider(g access.Grant, r *row, known []string) error {
	if _, ok := r.instruction(); !ok {
		return nil
	}
	same, err := sayingSame(g, r)
	if err != nil {
		return err
	}
	if effective, err := mayInstruct(g, r, known, same); err != nil {
		return err
	} else if effective && r.quarantined {
		if err := free(g, r, true); err != nil {
			return err
		}
	}
	for i := range same {
		o := &same[i]
		if !o.unreleased() {
			continue
		}
		others, err := sayingSame(g, o)
		if err != nil {
			return err
		}
		effective, err := mayInstruct(g, o, known, others)
		if err != nil {
			return err
		}
		if !effective {
			continue
		}
		if err := free(g, o, true); err != nil {
			return err
		}
		if err := announce(g, o, nil); err != nil {
			return err
		}
	}
	return nil
}

// mayInstruct decides whether an item that instructs is effective (INV-RELEASE): a
// person's last word about these words; else, no person held the same words back, it names tools and only known ones,
// its words are its own, its author is Medium or better, and one of same, which have
// equal words, is of an independent second source.
func mayInstruct(g access.Grant, r *row, known []string, same []row) (bool, error) {
	released, given, err := personsWord(g.Tx(), r)
	if err != nil || given {
		return released, err
	}
	in, _ := r.instruction()
	if len(in.Tools) == 0 || slices.ContainsFunc(in.Tools, func(t string) bool { return !slices.Contains(known, t) }) ||
		!r.ownWords() {
		return false, nil
	}
	if held, err := heldBackThere(g, r); err != nil || held {
		return false, err
	}
	owner, err := placeOwner(g, r)
	if err != nil {
		return false, err
	}
	believed := func(author schemas.EntityID) (bool, error) {
		tier, _, err := g.TierOf(author, owner)
		return tier == schemas.Medium || tier == schemas.High, err
	}
	if ok, err := believed(r.author); err != nil || !ok {
		return false, err
	}
	for i := range same {
		if ok, err := believed(same[i].author); err != nil {
			return false, err
		} else if !ok {
			continue
		}
		apart, err := independent(g, r, &same[i])
		if err != nil || apart {
			return apart, err
		}
	}
	return false, nil
}

// ownWords reports whether r speaks for its author alone, and is believed.
func (r *row) ownWords() bool {
	return !r.source.SecondHand() && r.origin == "" && (r.confidence >= quarantineBelow || r.validated)
}

// sayingSame lists what agents wrote in r's place with the same words as r, whether or
// not the actor may see it: what comes of it is effective for all who read that place.
func sayingSame(g access.Grant, r *row) ([]row, error) {
	if !r.current {
		return nil, nil
	}
	mine, _ := r.instruction()
	there, err := within(g.Tx(), r.scope)
	if err != nil {
		return nil, err
	}
	found, err := rowsOf(g.Tx(), selectSaysSame, r.hash, r.scope, store.List(bandsOf(setOf(r.terms))), r.n,
		typed(mine.Kind),
		store.List(there.hiddenThere()))
	if err != nil {
		return nil, err
	}
	hidden, err := there.hiddenOf(g.Tx(), found)
	if err != nil {
		return nil, err
	}
	words := r.wordsHash()
	return slices.DeleteFunc(found, func(o row) bool {
		return hidden[o.n] || !schemas.IsAgentID(string(o.author)) || !o.ownWords() || o.wordsHash() != words
	}), nil
}

// wordsHash stands for all the words an instruction gives its readers: kind, tools,
// text, tags, subject and key; see NormalWord.
func (r *row) wordsHash() [sha256.Size]byte {
	var value map[string]any
	if json.Unmarshal([]byte(r.data), &value) != nil {
		return sha256.Sum256([]byte(r.id)) // equal to no other
	}
	delete(value, "confidence") // what it says of itself
	delete(value, "validated")
	delete(value, "source_session")
	raw, err := canonical.Of(map[string]any{"type": string(r.typ), "data": normalWords(value),
		"subject": normalWords(r.subject), "key": normalWords(r.key)})
	if err != nil {
		return sha256.Sum256([]byte(r.id))
	}
	return sha256.Sum256(raw)
}

// normalWords folds every text in v; lists, whose order says nothing, are sorted.
func normalWords(v any) any {
	switch v := v.(type) {
	case string:
		var lines []string
		for line := range strings.Lines(v) {
			words := strings.Fields(line)
			for i, w := range words {
				words[i] = NormalWord(w)
			}
			if len(words) > 0 {
				lines = append(lines, strings.Join(words, " "))
			}
		}
		return strings.Join(lines, "\n")
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = normalWords(v[i])
		}
		slices.SortFunc(out, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[key] = normalWords(value)
		}
		return out
	}
	return v
}

// NormalWord folds upper case, and the marks that end a sentence, of a word of letters
// alone. Any other word may stand in a command, where -d is not -D and a sign counts.
func NormalWord(w string) string {
	bare := strings.TrimRight(w, ".,:!")
	if bare == "" || strings.ContainsFunc(bare, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return w
	}
	return strings.ToLower(bare)
}

// independent reports whether the authors of two items are unrelated, and the items have no
// common source.
func independent(g access.Grant, a, b *row) (bool, error) {
	var writers [2][]schemas.EntityID
	var sources [2][]schemas.ItemID
	for i, r := range []*row{a, b} {
		var p Provenance
		if err := json.Unmarshal([]byte(r.provenance), &p); err != nil {
			return false, fmt.Errorf("provenance of %s: %w", r.id, err)
		}
		writers[i] = append(p.Via, r.author)
		var err error
		if sources[i], err = lineage(g.Tx(), r); err != nil {
			return false, err
		}
	}
	for _, one := range writers[0] {
		for _, other := range writers[1] {
			if related, err := g.ShareAgent(one, other); err != nil || related {
				return false, err
			}
		}
	}
	return !slices.ContainsFunc(sources[0], func(id schemas.ItemID) bool { return slices.Contains(sources[1], id) }),
		nil
}

// lineage lists r and everything it is derived from.
func lineage(tx querier, r *row) ([]schemas.ItemID, error) {
	rows, err := tx.Query(selectLineage, r.n)
	up, err := store.Collect(rows, err, func(rows *sql.Rows) (id schemas.ItemID, err error) {
		return id, rows.Scan(&id)
	})
	if err != nil {
		return nil, fmt.Errorf("read lineage: %w", err)
	}
	return append(up, r.id), nil
}

// placeOwner is whose place r lies in.
func placeOwner(g access.Grant, r *row) (owner schemas.EntityID, err error) {
	if r.visibility != schemas.Group {
		return r.owner, nil
	}
	if err = g.Tx().QueryRow(selectGroupOwner, r.group).Scan(&owner); err != nil {
		return "", fmt.Errorf("read group: %w", err)
	}
	return owner, nil
}

// free lets r take effect, or with false holds it back again.
func free(g access.Grant, r *row, effective bool) error {
	words := rewords(r)
	if err := unindex(g.Tx(), r); err != nil {
		return err
	}
	r.quarantined = !effective
	if _, err := g.Tx().Exec(holdItem, r.quarantined, r.n); err != nil {
		return fmt.Errorf("hold item: %w", err)
	}
	return index(g.Tx(), r, words)
}
