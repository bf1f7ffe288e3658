package sentence

import "math"

// matrix is whole numbers in rows, one for each number that comes out, and what one of each row
// is worth.
type matrix struct {
	In, Out int
	Scale   []float32
	Bias    []float32 // nil = none
	cells   []byte    // Out rows of In signed numbers
}

// quantized cuts rows of a length into whole numbers.
func quantized(cells []float32, in int) matrix {
	m := matrix{In: in, Out: len(cells) / in, cells: make([]byte, len(cells)), Scale: make([]float32, len(cells)/in)}
	for o := range m.Out {
		row, most := cells[o*in:(o+1)*in], float32(0)
		for _, x := range row {
			most = max(most, x, -x)
		}
		if most == 0 {
			continue
		}
		m.Scale[o] = most / math.MaxInt8
		for k, x := range row {
			m.cells[o*in+k] = byte(int8(math.RoundToEven(float64(x / m.Scale[o]))))
		}
	}
	return m
}

// takes reports whether m is whole and takes rows of a length.
func (m *matrix) takes(in int) bool {
	return m.In == in && in > 0 && m.Out > 0 && len(m.cells) == m.In*m.Out && len(m.Scale) == m.Out &&
		(m.Bias == nil || len(m.Bias) == m.Out)
}

const (
	steps = 1023 // into which an input is cut, up and down: sums of products stay within 32 bits
	rows4 = 4    // rows multiplied at once
	wide  = 16   // cells that the fastest way takes at once
)

// times multiplies each of rows with m and adds what is to be added.
func (m *matrix) times(rows [][]float32) [][]float32 {
	out := make([][]float32, len(rows))
	for i := range out {
		out[i] = make([]float32, m.Out)
	}
	cells, sums := make([]int16, rows4*m.In), [rows4]int32{}
	for at := 0; at < len(rows); at += rows4 {
		var scale [rows4]float32
		clear(cells)
		few := rows[at:min(at+rows4, len(rows))]
		for i, row := range few {
			scale[i] = cut(row, cells[i*m.In:(i+1)*m.In])
		}
		for o := range m.Out {
			products(m.cells[o*m.In:(o+1)*m.In], cells, &sums)
			for i := range few {
				out[at+i][o] = float32(sums[i]) * m.Scale[o] * scale[i]
			}
		}
	}
	for _, row := range out {
		for k, x := range m.Bias {
			row[k] += x
		}
	}
	return out
}

// cut puts a row into whole numbers and gives what one of them is worth.
func cut(row []float32, cells []int16) float32 {
	most := float32(0)
	for _, x := range row {
		most = max(most, x, -x)
	}
	if most == 0 {
		return 0
	}
	for k, x := range row {
		cells[k] = int16(math.RoundToEven(float64(x / most * steps)))
	}
	return most / steps
}

// slowly is what products is, in the language itself.
func slowly(weights []byte, rows []int16, sums *[rows4]int32) {
	n := len(weights)
	a, b, c, d := rows[:n], rows[n:2*n], rows[2*n:3*n], rows[3*n:4*n]
	var s, t, u, v int32
	for i, w := range weights {
		x := int32(int8(w))
		s += x * int32(a[i])
		t += x * int32(b[i])
		u += x * int32(c[i])
		v += x * int32(d[i])
	}
	*sums = [rows4]int32{s, t, u, v}
}
