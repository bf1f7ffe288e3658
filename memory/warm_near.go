package memory

import (
	"cordelia/memory/text"
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"unicode"
)

// A set of stems is signed by MinHash (Broder 1997) in 8 bands of 3: two sets
// that share 0.7 of their words share a band with probability 0.97.
const (
	bands       = 8
	bandRows    = 3
	minSetWords = 3 // fewer say too little to be called alike

	sameAt    = 0.9 // Jaccard from which two items say the same
	refinesAt = 0.7 // and from which one refines the other
)

// bandsOf gives the bands of a set of stems, nil for a set too small.
func bandsOf(set []string) []int64 {
	if len(set) < minSetWords {
		return nil
	}
	var least [bands * bandRows]uint64
	for i := range least {
		least[i] = math.MaxUint64
	}
	for _, term := range set {
		h := fnv.New64a()
		h.Write([]byte(term)) //nolint:errcheck // never fails
		x := h.Sum64()
		for i := range least {
			least[i] = min(least[i], mix(x+uint64(i)*0x9e3779b97f4a7c15))
		}
	}
	out := make([]int64, bands)
	for b := range out {
		h := fnv.New64a()
		h.Write([]byte{byte(b)}) //nolint:errcheck // never fails
		for _, v := range least[b*bandRows : (b+1)*bandRows] {
			h.Write(binary.BigEndian.AppendUint64(nil, v)) //nolint:errcheck // never fails
		}
		out[b] = int64(h.Sum64() >> 1) // JSON and SQLite carry 63 bits
	}
	return out
}

// mix is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// setOf gives the distinct stems of a stored line of terms, sorted.
func setOf(terms string) []string {
	set := strings.Fields(terms)
	slices.Sort(set)
	return slices.Compact(set)
}

// jaccard is the share of common stems of two sorted sets, and whether what sets
// them apart turns the statement round: other numbers, or a denial.
func jaccard(a, b []string) (share float64, opposed bool) {
	common, i, j := 0, 0, 0
	var denied, numberA, numberB bool
	for i < len(a) || j < len(b) {
		switch {
		case j >= len(b) || i < len(a) && a[i] < b[j]:
			denied, numberA = denied || text.Negates(a[i]), numberA || hasDigit(a[i])
			i++
		case i >= len(a) || b[j] < a[i]:
			denied, numberB = denied || text.Negates(b[j]), numberB || hasDigit(b[j])
			j++
		default:
			common, i, j = common+1, i+1, j+1
		}
	}
	opposed = denied || numberA && numberB
	if len(a)+len(b) == 0 {
		return 1, false
	}
	return float64(common) / float64(len(a)+len(b)-common), opposed
}

func hasDigit(w string) bool { return strings.ContainsFunc(w, unicode.IsDigit) }
