package memory

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"cordelia/access"
	"cordelia/internal/store"
	"cordelia/schemas"
)

// Embedder turns texts into vectors that lie close when the texts mean alike.
// It is safe for concurrent use, and every vector it gives is finite, not zero
// and of one length.
type Embedder interface {
	// Model names everything the vectors of documents depend on.
	Model() string
	Query(ctx context.Context, text string) ([]float32, error)
	// Documents answers in the order of texts. CodeInvalid means that one of them
	// is at fault; any other error that the model is.
	Documents(ctx context.Context, texts []string) ([][]float32, error)
}

const (
	queryPatience = 500 * time.Millisecond // default time a search waits for its vector
	batchPatience = 2 * time.Minute        // for a batch, with the model's loading and repeats
	probePatience = time.Minute
	maxAsking     = 8  // queries under way at once; more are answered by words
	keptQueries   = 64 // vectors of recent queries, so that a next page asks nobody
)

// EmbeddingOptions of NewEmbeddings. Zero values mean the defaults.
type EmbeddingOptions struct {
	Private bool          // send private items, too
	Wait    time.Duration // how long a search waits for the model; default 500 ms
}

// Embeddings is what a process needs to search by meaning: the model, whether it
// answers, and the signs of the vectors it has read. Search asks only while the
// model is known to answer; finding out whether it does again is the refresh's.
type Embeddings struct {
	model  Embedder
	opts   EmbeddingOptions
	down   atomic.Bool
	asking chan struct{}
	chosen atomic.Bool // by this process
	signs  signIndex

	mu     sync.Mutex
	recent map[string][]float32
	order  []string // of recent, oldest first
}

// NewEmbeddings makes the embeddings of a process by model e.
func NewEmbeddings(e Embedder, o EmbeddingOptions) *Embeddings {
	if o.Wait == 0 {
		o.Wait = queryPatience
	}
	return &Embeddings{model: e, opts: o, asking: make(chan struct{}, maxAsking), recent: map[string][]float32{}}
}

// meant is the meaning of a query.
type meant struct {
	by     *Embeddings
	vector []float32
}

// Wants reports whether the meaning of q can add anything: q has words, is no
// later page of a search by words alone, and something the actor may read has a
// vector. It asks the model nothing.
func (m *Embeddings) Wants(g access.Grant, q *Query) (bool, error) {
	if q.Text == "" || q.page.At != 0 && !q.page.fused() {
		return false, nil
	}
	see, err := readable(g)
	if err != nil {
		return false, err
	}
	model, err := m.current(g.Tx())
	if err != nil || model.n == 0 {
		return false, err
	}
	q.dim = model.dim
	var any bool
	if err := g.Tx().QueryRow(selectAnyEmbedding, model.n, store.List(see.scopes)).Scan(&any); err != nil {
		return false, fmt.Errorf("look for vectors: %w", err)
	}
	return any, nil
}

// Mean asks the model what q means. False: it is down or did not answer in time,
// and q is searched by words alone. Call it after Wants, outside of transactions.
func (m *Embeddings) Mean(ctx context.Context, q *Query) bool {
	vector := m.recall(q.Text)
	if vector == nil {
		if vector = m.ask(ctx, q.Text); vector == nil {
			return false
		}
		if len(vector) != q.dim {
			m.failed(m.errOtherLength(len(vector), q.dim))
			return false
		}
		m.keep(q.Text, vector)
	}
	q.meaning = &meant{by: m, vector: vector}
	return true
}

func (m *Embeddings) ask(ctx context.Context, text string) []float32 {
	if m.down.Load() {
		return nil
	}
	select {
	case m.asking <- struct{}{}:
		defer func() { <-m.asking }()
	default:
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, m.opts.Wait)
	defer cancel()
	vector, err := m.model.Query(limited, text)
	if err != nil {
		// the caller's giving up says nothing of the model
		if ctx.Err() == nil && schemas.CodeOf(err) != schemas.CodeInvalid {
			m.failed(err)
		}
		return nil
	}
	unit(vector)
	return vector
}

// failed notes that the model does not answer.
func (m *Embeddings) failed(err error) {
	if !m.down.Swap(true) {
		slog.Warn("searching by words alone: the embedding model does not answer", "model", m.model.Model(), "err", err)
	}
}

// Down reports whether the model failed to answer the last time it was asked.
func (m *Embeddings) Down() bool { return m.down.Load() }

// Probe asks a model that is down whether it answers again.
func (m *Embeddings) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	_, err := m.model.Query(ctx, "cordelia")
	if err == nil {
		m.down.Store(false)
		slog.Info("the embedding model answers again", "model", m.model.Model())
	}
	return err
}

func (m *Embeddings) recall(text string) []float32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.recent[text]
}

func (m *Embeddings) keep(text string, vector []float32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.recent[text]; known {
		return
	}
	if len(m.order) == keptQueries {
		delete(m.recent, m.order[0])
		m.order = slices.Delete(m.order, 0, 1)
	}
	m.recent[text] = vector
	m.order = append(m.order, text)
}

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

// dot is the product of v with a packed vector of its length.
func dot(v []float32, packed []byte) float64 {
	sum := float32(0)
	for i, x := range v {
		sum += x * math.Float32frombits(binary.LittleEndian.Uint32(packed[4*i:]))
	}
	return float64(sum)
}

// errOtherLength is what a vector of another length than the model's others means.
func (m *Embeddings) errOtherLength(have, want int) error {
	return schemas.Errorf(schemas.CodeUnavailable, "the model %s gives %d dimensions; its stored vectors have %d",
		m.model.Model(), have, want).
		Try("set dimensions of embeddings in config.json to %d, or name another model: its vectors are made anew",
			want).
		Because(errors.New("dimensions"))
}
