package memory

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// slips are a word with one letter left out, doubled or wrong, or two that changed places;
// its first letter stays.
func slips(word string) (list []string) {
	for i := 1; i < len(word); i++ {
		head, tail := word[:i], word[i+1:]
		list = append(list, head+tail, head+word[i:i+1]+word[i:])
		if word[i] != 'x' {
			list = append(list, head+"x"+tail)
		}
		if i+1 < len(word) && word[i] != word[i+1] {
			list = append(list, head+word[i+1:i+2]+word[i:i+1]+word[i+2:])
		}
	}
	return list
}

// A word of a query with one typo finds what it was to find: nine times of
// ten, less often where a stem is short or the typo is in an ending that is cut.
func TestATypoIsForgiven(t *testing.T) {
	n := newWarmNode(t)
	words := strings.Fields(`authentication setting likeness service night configuration deployment database token migration
		gateway scheduler permission endpoint certificate replica timeout backup cluster exporter`)
	found, asked := map[bool]int{}, map[bool]int{}
	ids := map[string]string{}
	for _, w := range words {
		ids[w] = string(n.write(ada, learning("What we know about the "+w+" is kept here.")).ID)
	}
	for _, w := range words {
		for _, s := range slips(w) {
			long := len(w) >= 7
			asked[long]++
			hits := n.search(ada, s).Hits
			if len(hits) > 0 && string(hits[0].ID) == ids[w] {
				found[long]++
			}
		}
	}
	t.Logf("of words of 7 letters and more %d of %d, of shorter ones %d of %d", found[true], asked[true], found[false],
		asked[false])
	require.GreaterOrEqual(t, float64(found[true])/float64(asked[true]), 0.9)
	require.GreaterOrEqual(t, float64(found[false])/float64(asked[false]), 0.8)
}
