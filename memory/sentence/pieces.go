package sentence

// pieces cuts a text into the pieces of the vocabulary that are likeliest together: the unigram
// model of SentencePiece (Kudo 2018), as the model's own library reads it, quirks included, for
// the model was trained on no other.
type pieces struct {
	texts  []string
	scores []float32
	lookup map[string]int
}

const (
	space    = '▁' // stands for a space, and before the text
	reserved = 6   // pieces that no text has
	longest  = 16  // characters of a piece
	unknown  = 0
)

func newPieces(texts []string, scores []float32) *pieces {
	p := &pieces{texts, scores, make(map[string]int, len(texts))}
	for i := reserved; i < len(texts); i++ {
		p.lookup[texts[i]] = i
	}
	return p
}

// cut gives the numbers of the pieces of a text. What the vocabulary lacks is one unknown piece.
func (p *pieces) cut(text string) []int {
	if text == "" {
		return nil
	}
	chars := []rune{space}
	for _, r := range text {
		if r == ' ' {
			r = space
		}
		chars = append(chars, r)
	}
	at, joined := make([]int, len(chars)+1), string(chars) // at: where each character begins
	for i, r := range chars {
		at[i+1] = at[i] + len(string(r))
	}
	type step struct {
		score float32
		piece int
	}
	best := make([]step, len(chars)+1)
	for from := range chars { // what ends at from was all seen before
		found := false
		for to := from + 1; to <= min(from+longest, len(chars)); to++ {
			i, ok := p.lookup[joined[at[from]:at[to]]]
			if !ok {
				continue
			}
			found = true
			score := p.scores[i] + best[from].score
			if b := best[to]; b.score == 0 || score >= b.score {
				best[to] = step{score, i}
			}
		}
		if b := best[from+1]; !found && (b.score == 0 || best[from].score >= b.score) {
			best[from+1] = step{best[from].score, unknown}
		}
	}
	var back []int
	for to := len(chars); to > 0; {
		i := best[to].piece
		to -= p.length(i)
		if i != unknown || len(back) == 0 || back[len(back)-1] != unknown {
			back = append(back, i)
		}
	}
	out := make([]int, len(back))
	for i, n := range back {
		out[len(back)-1-i] = n
	}
	return out
}

// length is how many characters a piece has.
func (p *pieces) length(i int) int {
	n := 0
	for range p.texts[i] {
		n++
	}
	return max(n, 1)
}
