package sentence

import "golang.org/x/sys/cpu"

// products multiplies signed weights with four rows of the same length and sums each up.
func products(weights []byte, rows []int16, sums *[rows4]int32) {
	if n := len(weights); cpu.X86.HasAVX2 && n%wide == 0 && len(rows) == rows4*n && n > 0 {
		quickly(&weights[0], &rows[0], n, sums)
		return
	}
	slowly(weights, rows, sums)
}

// quickly is slowly for n weights, a multiple of 16, with AVX2.
//
//go:noescape
func quickly(weights *byte, rows *int16, n int, sums *[rows4]int32)
