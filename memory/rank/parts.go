package rank

import (
	"math"
	"slices"
)

// The reasons that hits and the parts of their scores give. docs/search.md names each.
const (
	ofWord           = "word"
	closeTo          = "close to"
	speltLike        = "spelt like"
	saidBeside       = "said next to it"
	nextToMatch      = "next to a match"
	ofSession        = "its session is about the query"
	withoutWords     = "no word of the query"
	byName           = "by "
	ofTheDate        = "of the date named"
	byTheNamed       = "said by who is named"
	answersKind      = "answers "
	fromOutside      = "second-hand"
	originChanged    = "its origin changed"
	provedInaccurate = "author proved inaccurate"
	replacesMatch    = "replaces a match"
	isCurrent        = "current for the same subject"
	placeOfCurrent   = "has the place of its subject"
	behindCurrent    = "another is current for the same subject"
	neighboursLast   = "neighbours of matches come last"
	dominantAuthor   = "its author wrote most matches"
	byMeaning        = "meaning"
	besideBest       = "as a part of the best by words"
	newest           = "newest"

	// JudgedWrong is why what the reader takes for wrong stands last.
	JudgedWrong = "judged wrong"
)

// Score is what a hit is worth and why. Its parts, one after the other, make the value. Greater
// values stand first, but for hits that a step of the order put behind others.
type Score struct {
	Value  float64 `json:"value"`
	Parts  []Part  `json:"parts"`
	Behind string  `json:"behind,omitempty" jsonschema:"why hits that are worth less stand before it"`
}

// Part adds to a score, or multiplies it.
type Part struct {
	Why   string  `json:"why"`
	Of    string  `json:"of,omitempty" jsonschema:"the word or the name that counts"`
	Plus  float64 `json:"plus,omitempty"`
	Times float64 `json:"times,omitempty"`
}

// Score is what d is worth, as it was ranked.
func (d *Doc) Score() Score {
	return Score{Value: d.score, Parts: slices.Clone(d.parts), Behind: d.behind}
}

// unscored takes all parts of d's score away.
func (d *Doc) unscored() { d.score, d.parts, d.behind = 0, nil, "" }

// plus adds to d's score. What several neighbours give is one part.
func (d *Doc) plus(why, of string, by float64) {
	if by == 0 {
		return
	}
	d.score += by
	if n := len(d.parts) - 1; n >= 0 && d.parts[n].Plus != 0 && d.parts[n].Why == why && d.parts[n].Of == of {
		d.parts[n].Plus += by
		return
	}
	d.parts = append(d.parts, Part{Why: why, Of: of, Plus: by})
}

// times multiplies d's score.
func (d *Doc) times(why string, by float64) {
	if d.score *= by; by != 1 {
		d.parts = append(d.parts, Part{Why: why, Times: by})
	}
}

// become gives d another score, which depends on more than its own.
func (d *Doc) become(why string, score float64) {
	d.plus(why, "", score-d.score)
	d.score = score
}

// overtaken says of the documents that a step of the order put behind others why they stand there.
func overtaken(before, after []*Doc, why string) []*Doc {
	if slices.Equal(before, after) {
		return after
	}
	place := make(map[*Doc]int, len(before))
	for i, d := range before {
		place[d] = i
	}
	furthest := math.MinInt
	for _, d := range after {
		if place[d] < furthest {
			d.behind = why
		}
		furthest = max(furthest, place[d])
	}
	return after
}
