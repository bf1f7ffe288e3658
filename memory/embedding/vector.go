package embedding

import (
	"encoding/binary"
	"math"
)

// unit brings v to length 1.
func unit(v []float32) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	scale := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
}

// signsOf are the signs of v, 64 to a word: how many two vectors differ in tells
// about the angle between them.
func signsOf(v []float32) []uint64 {
	words := make([]uint64, (len(v)+63)/64)
	for i, x := range v {
		if x > 0 {
			words[i/64] |= 1 << (i % 64)
		}
	}
	return words
}

func packWords(words []uint64) []byte {
	out := make([]byte, 0, 8*len(words))
	for _, w := range words {
		out = binary.LittleEndian.AppendUint64(out, w)
	}
	return out
}

func packVector(v []float32) []byte {
	out := make([]byte, 0, 4*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

// Dot is the product of v with a packed vector of its length.
func Dot(v []float32, packed []byte) float64 {
	sum := float32(0)
	for i, x := range v {
		sum += x * math.Float32frombits(binary.LittleEndian.Uint32(packed[4*i:]))
	}
	return float64(sum)
}
