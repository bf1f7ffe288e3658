package rank

// Model is how far meaning is believed, by what it is known from.
type Model struct {
	always float64 // how much it counts beside words that cover all of the query
	poor   float64 // of the query; where words cover less it counts more,
	more   float64 // up to that much more
	least  float64 // cosine below which it finds nothing by itself
	sure   float64 // cosine of a hit that answers a query of whose words it holds none; 0 = never
}

// What is known of cosines depends on the model: those of one that is served are taken as they
// come, and never prove that a hit answers.
var (
	OfServed    = &Model{always: 0.2, poor: 0.4, more: 1}
	OfSentences = &Model{always: 0.2, poor: 0.4, more: 1, least: 0.2, sure: 0.4}
	OfWords     = &Model{poor: 0.6, more: 0.5, least: 0.25, sure: 0.52}
)

// heldToo is how much the part of a query that a hit holds adds to its cosine, beside sure.
const heldToo = 0.3

// answers reports whether a hit of that cosine, which holds that part of the query, answers it.
func (m *Model) answers(near, held float64) bool {
	return m != nil && m.sure > 0 && near+heldToo*held >= m.sure
}

// WeightOf takes meaning as known from m, and gives how much it counts beside the score of these
// documents, ranked by words.
func (q *Query) WeightOf(m *Model, words []*Doc) float64 {
	q.model = m
	return m.always + m.more*max(1-q.cover(words)/m.poor, 0)
}
