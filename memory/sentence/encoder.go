package sentence

import (
	"errors"
	"math"
)

const (
	heads   = 4
	atOnce  = 128 // pieces; what comes after is encoded by itself
	parts   = 8   // of a long text; the rest is not read
	epsilon = 1e-6
)

// encoder is the model: two layers of a transformer over the vectors of pieces, their mean, and
// one layer more.
type encoder struct {
	Texts  []string  // of the pieces
	Scores []float32 // how likely they are
	Table  matrix    // their vectors, a row each
	Turns  []float32 // how fast the signals of a place turn
	Layers []layer
	Last   matrix

	pieces *pieces
}

// layer is one of a transformer. Wider brings what goes around the attention to the width of what
// comes out of it, if that is another.
type layer struct {
	Before, Between norm
	Wider           matrix
	Ask, Answer     matrix
	Inner, Outer    matrix
}

type norm struct{ Scale, Bias []float32 }

// ready checks that all of e fits together, so that no text makes it fail.
func (e *encoder) ready() error {
	width := e.Table.In
	valid := len(e.Texts) > reserved && len(e.Scores) == len(e.Texts) && e.Table.takes(width) &&
		e.Table.Out >= len(e.Texts) && 2*len(e.Turns) == width
	for i := range e.Layers {
		l := &e.Layers[i]
		valid = valid && l.Before.takes(width) && l.Ask.takes(width) && l.Ask.Out%(3*heads) == 0 &&
			l.Answer.takes(l.Ask.Out/3) && (l.Wider.Out == 0 && l.Answer.Out == width ||
			l.Wider.takes(width) && l.Wider.Out == l.Answer.Out)
		width = l.Answer.Out
		valid = valid && l.Between.takes(width) && l.Inner.takes(width) && l.Outer.takes(l.Inner.Out) &&
			l.Outer.Out == width
	}
	if !valid || !e.Last.takes(width) {
		return errors.New("its parts do not fit together")
	}
	e.pieces = newPieces(e.Texts, e.Scores)
	return nil
}

func (n norm) takes(width int) bool { return len(n.Scale) == width && len(n.Bias) == width }

// encode gives the vector of a text, of length 1. A long one is the mean of its parts.
func (e *encoder) encode(text string) []float32 {
	found := e.pieces.cut(text)
	if len(found) == 0 {
		found = []int{unknown}
	}
	sum := make([]float32, e.Last.Out)
	for n := 0; n < parts && len(found) > 0; n++ {
		part := found[:min(len(found), atOnce)]
		found = found[len(part):]
		for i, x := range e.part(part) {
			sum[i] += x * float32(len(part))
		}
	}
	unit(sum)
	return sum
}

// part is the vector of at most atOnce pieces.
func (e *encoder) part(found []int) []float32 {
	rows := make([][]float32, len(found))
	for i, n := range found {
		row := make([]float32, e.Table.In)
		cells, scale := e.Table.cells[n*e.Table.In:(n+1)*e.Table.In], e.Table.Scale[n]
		for k, c := range cells {
			row[k] = 2 * float32(int8(c)) * scale // the model adds it to itself
		}
		for k, turn := range e.Turns {
			sin, cos := math.Sincos(float64(float32(i) * turn))
			row[k] += float32(sin)
			row[len(e.Turns)+k] += float32(cos)
		}
		rows[i] = row
	}
	for i := range e.Layers {
		rows = e.Layers[i].run(rows)
	}
	mean := make([]float32, e.Last.In)
	for _, row := range rows {
		for k, x := range row {
			mean[k] += x / float32(len(rows))
		}
	}
	out := e.Last.times([][]float32{mean})[0]
	for k, x := range out {
		out[k] = float32(math.Tanh(float64(x)))
	}
	unit(out)
	return out
}

func (l *layer) run(rows [][]float32) [][]float32 {
	around := rows
	if l.Wider.Out > 0 {
		around = l.Wider.times(rows)
	}
	rows = l.Answer.times(attention(l.Ask.times(l.Before.of(rows))))
	add(rows, around)
	inner := l.Inner.times(l.Between.of(rows))
	for _, row := range inner {
		for k, x := range row {
			row[k] = max(x, 0)
		}
	}
	out := l.Outer.times(inner)
	add(out, rows)
	return out
}

func add(to, rows [][]float32) {
	for i, row := range rows {
		for k, x := range row {
			to[i][k] += x
		}
	}
}

// of brings each row to mean 0 and variance 1, and from there to where the layer wants it.
func (n norm) of(rows [][]float32) [][]float32 {
	out := make([][]float32, len(rows))
	for i, row := range rows {
		mean, square := 0.0, 0.0
		for _, x := range row {
			mean += float64(x) / float64(len(row))
		}
		for _, x := range row {
			square += (float64(x) - mean) * (float64(x) - mean) / float64(len(row))
		}
		by := 1 / math.Sqrt(square+epsilon)
		out[i] = make([]float32, len(row))
		for k, x := range row {
			out[i][k] = float32((float64(x)-mean)*by)*n.Scale[k] + n.Bias[k]
		}
	}
	return out
}

// attention mixes the rows: each holds a query, a key and a value, and gets the values of the
// others by how well its query fits their keys.
func attention(rows [][]float32) [][]float32 {
	size := len(rows[0]) / 3
	each := size / heads
	by := 1 / math.Sqrt(float64(each))
	out := make([][]float32, len(rows))
	weights := make([]float64, len(rows))
	for i, row := range rows {
		out[i] = make([]float32, size)
		for head := range heads {
			from, to := head*each, (head+1)*each
			asks, top := row[from:to], math.Inf(-1)
			for j, other := range rows {
				sum := float32(0)
				for k, x := range other[size+from : size+to] {
					sum += x * asks[k]
				}
				weights[j] = float64(sum) * by
				top = max(top, weights[j])
			}
			all := 0.0
			for j, w := range weights {
				weights[j] = math.Exp(w - top)
				all += weights[j]
			}
			for j, other := range rows {
				w := float32(weights[j] / all)
				for k, x := range other[2*size+from : 2*size+to] {
					out[i][from+k] += w * x
				}
			}
		}
	}
	return out
}

// unit brings v to length 1.
func unit(v []float32) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return
	}
	by := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= by
	}
}
