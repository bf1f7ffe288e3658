package wordvec

import (
	_ "embed"
	"encoding/binary"
	"strings"
)

// Name tells this table from others: what is made of its vectors is made anew with another.
const Name = "word-vectors-1"

// Dim is how many numbers a vector has.
const Dim = 100

// scale is the length that every vector has, up to rounding.
const scale = 256

// table holds, in this order and little-endian: how many stems there are (4 bytes), where each
// begins and where the last ends (4 bytes each), the stems in order, and their vectors.
//
//go:embed table.bin
var table string

// Vector is the vector of a stem: Dim signed bytes. "" = the table lacks the stem.
type Vector string

// Of looks a stem up. It reads the pages of the table that it needs, and allocates nothing.
func Of(stem string) Vector {
	low, high := 0, size()
	for low < high {
		mid := int(uint(low+high) >> 1)
		switch strings.Compare(at(mid), stem) {
		case 0:
			return vector(mid)
		case -1:
			low = mid + 1
		default:
			high = mid
		}
	}
	return ""
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

// Near is a stem and how alike it is.
type Near struct {
	Stem   string
	Cosine float64
}

// Nearest lists at most most stems that are at least that much alike v, nearest first.
func Nearest(v Vector, least float64, most int) []Near {
	var out []Near
	if v == "" {
		return nil
	}
	for i := range size() {
		c := Cosine(v, vector(i))
		if c < least || len(out) == most && c <= out[most-1].Cosine {
			continue
		}
		if len(out) < most {
			out = append(out, Near{})
		}
		j := len(out) - 1
		for ; j > 0 && out[j-1].Cosine < c; j-- {
			out[j] = out[j-1]
		}
		out[j] = Near{at(i), c}
	}
	return out
}

func size() int { return int(number(0)) }

// number is the i-th of the numbers in front of the stems.
func number(i int) uint32 { return binary.LittleEndian.Uint32([]byte(table[4*i : 4*i+4])) }

func stems() int { return 4 * (size() + 2) }

// at is the i-th stem.
func at(i int) string { return table[stems()+int(number(i+1)) : stems()+int(number(i+2))] }

func vector(i int) Vector {
	from := stems() + int(number(size()+1)) + i*Dim
	return Vector(table[from : from+Dim])
}
