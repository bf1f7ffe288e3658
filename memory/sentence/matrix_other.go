//go:build !amd64

package sentence

// products multiplies signed weights with four rows of the same length and sums each up.
func products(weights []byte, rows []int16, sums *[rows4]int32) { slowly(weights, rows, sums) }
