package embedding

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"cordelia/internal/store"
	"cordelia/schemas"
)

// Embedder turns texts into vectors that lie close when the texts mean alike.
// It is safe for concurrent use, and every vector it gives is finite, not zero
// and of one length; nil stands for a text that means nothing to it.
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
	keptQueries   = 64 // vectors of recent queries, so that a next page does not ask the model
)

// Options of New. Zero values mean the defaults.
type Options struct {
	Private bool          // send private items, too
	Wait    time.Duration // how long a search waits for the model; default 500 ms
}

// Vectors are what a process needs to search by meaning: the model, whether it
// answers, and the signs of the vectors it has read. A search asks the model only while
// it is known to answer; the routine that embeds items finds out whether it does again.
type Vectors struct {
	model  Embedder
	texts  Texts
	opts   Options
	down   atomic.Bool
	asking chan struct{}
	chosen atomic.Bool // by this process
	signs  index

	mu     sync.Mutex
	recent map[string][]float32
	order  []string // of recent, oldest first
}

// New makes the vectors of a process by model e. Items to embed are read by texts.
func New(e Embedder, texts Texts, o Options) *Vectors {
	if o.Wait == 0 {
		o.Wait = queryPatience
	}
	return &Vectors{model: e, texts: texts, opts: o, asking: make(chan struct{}, maxAsking),
		recent: map[string][]float32{}}
}

// Any reports whether a scope has a vector of the model, and how long the vectors are. It
// asks the model nothing.
func (m *Vectors) Any(tx querier, scopes []int64) (dim int, any bool, err error) {
	now, err := m.current(tx)
	if err != nil || now.n == 0 {
		return 0, false, err
	}
	if err := tx.QueryRow(selectAny, now.n, store.List(scopes)).Scan(&any); err != nil {
		return 0, false, fmt.Errorf("look for vectors: %w", err)
	}
	return now.dim, any, nil
}

// Query asks the model for the vector of a query, which is to have dim dimensions; nil if the
// query means nothing to it. False: it is down or did not answer in time. Call it outside of
// transactions.
func (m *Vectors) Query(ctx context.Context, text string, dim int) (vector []float32, answered bool) {
	if vector = m.recall(text); vector != nil {
		return vector, true
	}
	if vector, answered = m.ask(ctx, text); vector == nil {
		return nil, answered
	}
	if len(vector) != dim {
		m.failed(m.errOtherLength(len(vector), dim))
		return nil, false
	}
	m.keep(text, vector)
	return vector, true
}

func (m *Vectors) ask(ctx context.Context, text string) (vector []float32, answered bool) {
	if m.down.Load() {
		return nil, false
	}
	select {
	case m.asking <- struct{}{}:
		defer func() { <-m.asking }()
	default:
		return nil, false
	}
	limited, cancel := context.WithTimeout(ctx, m.opts.Wait)
	defer cancel()
	vector, err := m.model.Query(limited, text)
	if err != nil {
		// the caller's giving up says nothing of the model
		if ctx.Err() == nil && schemas.CodeOf(err) != schemas.CodeInvalid {
			m.failed(err)
		}
		return nil, false
	}
	unit(vector)
	return vector, true
}

// Model is the name of the model.
func (m *Vectors) Model() string { return m.model.Model() }

// failed notes that the model does not answer.
func (m *Vectors) failed(err error) {
	if !m.down.Swap(true) {
		slog.Warn("searching by words alone: the embedding model does not answer", "model", m.model.Model(), "err", err)
	}
}

// Down reports whether the model failed to answer the last time it was asked.
func (m *Vectors) Down() bool { return m.down.Load() }

// Probe asks a model that is down whether it answers again.
func (m *Vectors) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	_, err := m.model.Query(ctx, "cordelia")
	if err == nil {
		m.down.Store(false)
		slog.Info("the embedding model answers again", "model", m.model.Model())
	}
	return err
}

func (m *Vectors) recall(text string) []float32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.recent[text]
}

func (m *Vectors) keep(text string, vector []float32) {
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

// errOtherLength is what a vector of another length than the model's others means.
func (m *Vectors) errOtherLength(have, want int) error {
	return schemas.Errorf(schemas.CodeUnavailable, "the model %s gives %d dimensions; its stored vectors have %d",
		m.model.Model(), have, want).
		Try("set dimensions of embeddings in config.json to %d, or name another model: its vectors are made anew",
			want).
		Because(errors.New("dimensions"))
}
