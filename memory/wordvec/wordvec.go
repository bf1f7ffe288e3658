package wordvec

import (
	_ "embed"
	"encoding/binary"
	"sort"
	"strings"
)

// Name tells this table from others: what is made of its vectors is made anew with another.
const Name = "word-vectors-1"

// Dim is how many numbers a vector has.
const Dim = 100

// scale is the length that every vector has, up to rounding.
const scale = 256

// table holds, in this order and little-endian: how many stems there are (4 bytes), where each
// begins and where the last ends (4 bytes each), the stems in order, their vectors, where each
// one's nearest begin and where the last end (4 bytes each), and the nearest, by number (2 bytes
// each): at most MostNear of each, none less alike than LeastNear.
//
//go:embed table.bin
var table string

// Vector is the vector of a stem: Dim signed bytes. "" = the table lacks the stem.
type Vector string

// Of looks a stem up. It reads the pages of the table that it needs, and allocates nothing.
func Of(stem string) Vector {
	if i, found := find(stem); found {
		return vector(i)
	}
	return ""
}

func find(stem string) (i int, found bool) {
	return sort.Find(size(), func(i int) int { return strings.Compare(stem, at(i)) })
}

// Cosine is how alike two words are used, -1 to 1; 0 if the table lacks one of them.
func Cosine(a, b Vector) float64 {
	if len(a) != Dim || len(b) != Dim {
		return 0
	}
	sum := int32(0)
	for i := range Dim {
		sum += int32(int8(a[i])) * int32(int8(b[i]))
	}
	return min(float64(sum)/(scale*scale), 1)
}

// Bounds of what Nearest gives.
const (
	MostNear  = 12
	LeastNear = 0.6 // cosine
)

// Near is a stem and how alike it is.
type Near struct {
	Stem   string
	Cosine float64
}

// Nearest lists the other stems that are used most like this one, nearest first: MostNear at
// most, none less alike than LeastNear. They stand in the table, for to compare all takes
// milliseconds.
func Nearest(stem string) []Near {
	i, found := find(stem)
	if !found {
		return nil
	}
	from := vectors() + size()*Dim
	lists := from + 4*(size()+1)
	var out []Near
	for n := word(from + 4*i); n < word(from+4*(i+1)); n++ {
		j := int(binary.LittleEndian.Uint16([]byte(table[lists+2*int(n):][:2])))
		out = append(out, Near{at(j), Cosine(vector(i), vector(j))})
	}
	return out
}

func size() int { return int(word(0)) }

// word is the number of 4 bytes at a place of the table.
func word(place int) uint32 { return binary.LittleEndian.Uint32([]byte(table[place:][:4])) }

// stems is where the stems begin, vectors where their vectors do.
func stems() int   { return 4 * (size() + 2) }
func vectors() int { return stems() + int(word(4*(size()+1))) }

// at is the i-th stem.
func at(i int) string { return table[stems()+int(word(4*(i+1))) : stems()+int(word(4*(i+2)))] }

func vector(i int) Vector {
	from := vectors() + i*Dim
	return Vector(table[from : from+Dim])
}
