package embedding

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"cordelia/internal/endpoint"
	"cordelia/schemas"
)

const (
	maxConnections = 8
	maxAnswer      = 32 << 20 // bytes, decompressed: 64 vectors of 8192 numbers and then some
	attempts       = 3        // of a call that may be repeated
	firstPause     = 500 * time.Millisecond
	longestPause   = 30 * time.Second // to wait within a call when the server asks for it
	longestRefuse  = time.Hour        // to obey a server that asks for more
)

// Client asks one model of one server. It is safe for concurrent use.
type Client struct {
	cfg  Config
	to   *url.URL
	http *http.Client

	mu        sync.Mutex
	notBefore time.Time // the server asked to be left alone until then
}

// New checks c and makes a client; it asks nothing yet. Errors: CodeInvalid.
func New(c Config) (*Client, error) {
	to, err := c.endpoint()
	if err != nil {
		return nil, err
	}
	return &Client{cfg: c, to: to, http: endpoint.NewClient(to, maxConnections)}, nil
}

// Model names what the vectors depend on: the model, the dimensions asked for,
// and what is put before stored texts.
func (c *Client) Model() string {
	name := c.cfg.Model
	if c.cfg.Dimensions != 0 {
		name += " " + strconv.Itoa(c.cfg.Dimensions)
	}
	if c.cfg.DocumentPrefix != "" {
		name += " " + strconv.Quote(c.cfg.DocumentPrefix)
	}
	return name
}

// Host is where texts are sent.
func (c *Client) Host() string { return c.to.Host }

// Loopback reports whether the server is on this machine, so that no text
// leaves it.
func (c *Client) Loopback() bool { return endpoint.Loopback(c.to) }

// Query gives the vector of a query. It asks once.
func (c *Client) Query(ctx context.Context, text string) ([]float32, error) {
	vectors, err := c.ask(ctx, []string{c.cfg.QueryPrefix + text})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// Documents gives the vectors of texts to be stored, in order. What may pass is
// tried again. Errors: CodeInvalid when the server refuses the texts,
// CodeUnauthenticated when it refuses the key, CodeUnavailable for the rest.
func (c *Client) Documents(ctx context.Context, texts []string) ([][]float32, error) {
	input := make([]string, len(texts))
	for i, t := range texts {
		input[i] = c.cfg.DocumentPrefix + t
	}
	pause := firstPause
	for attempt := 1; ; attempt++ {
		vectors, err := c.ask(ctx, input)
		f, ok := errors.AsType[*failure](err)
		if !ok || !f.passing || attempt == attempts {
			return vectors, err
		}
		wait := max(pause+rand.N(pause/2), f.after)
		if wait > longestPause {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(wait):
		}
		pause *= 2
	}
}

// failure is the cause of an error that may pass by itself.
type failure struct {
	passing bool
	after   time.Duration // how long the server asked to wait
	err     error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func (c *Client) unavailable(f *failure, format string, args ...any) *schemas.Error {
	return schemas.Errorf(schemas.CodeUnavailable, "the embedding server %s %s", c.to.Host,
		fmt.Sprintf(format, args...)).
		Try("search goes on by words alone; run: cordelia doctor").Because(f)
}

func (c *Client) ask(ctx context.Context, input []string) ([][]float32, error) {
	if wait := c.silence(); wait > 0 {
		return nil, c.unavailable(&failure{err: errors.New("it is not yet time")},
			"asked to be left alone for another %s", wait.Round(time.Second))
	}
	body, err := json.Marshal(request{Model: c.cfg.Model, Input: input, Dimensions: c.cfg.Dimensions, Format: "float"})
	if err != nil {
		return nil, fmt.Errorf("encode embedding request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make embedding request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "cordelia")
	c.cfg.Key.Send(req.Header, "Authorization", "Bearer ")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	defer resp.Body.Close() //nolint:errcheck // what is needed of it was read
	if resp.StatusCode != http.StatusOK {
		return nil, c.refused(resp)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, c.unreachable(ctx, err)
	case len(raw) > maxAnswer:
		return nil, c.unavailable(&failure{err: errors.New("too big")}, "answered more than %d MiB", maxAnswer>>20)
	}
	vectors, err := c.vectors(raw, len(input))
	if err != nil {
		return nil, c.unavailable(&failure{err: err}, "gave an answer that cannot be used: %v", err)
	}
	return vectors, nil
}

func (c *Client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return c.unavailable(&failure{err: err}, "did not answer in time")
	}
	cause := endpoint.Reason(err)
	return c.unavailable(&failure{passing: true, err: cause}, "cannot be reached: %v", cause)
}

// refused words a status by its number alone.
func (c *Client) refused(resp *http.Response) error {
	f := &failure{err: fmt.Errorf("status %d", resp.StatusCode)}
	switch status := resp.StatusCode; {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return schemas.Errorf(schemas.CodeUnauthenticated, "the embedding server %s refused the key (status %d)",
			c.to.Host, status).
			Try("check key_env or key_file of embeddings in config.json, then restart; search goes on by words alone").
			Because(f)
	case status == http.StatusBadRequest, status == http.StatusRequestEntityTooLarge,
		status == http.StatusUnprocessableEntity:
		return schemas.Invalidf("the embedding server %s refused the text (status %d)", c.to.Host, status).
			Try("check model and dimensions of embeddings in config.json").Because(f)
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		e := c.unavailable(f, "does not know the address or the model %s (status %d)", c.cfg.Model, status)
		return e.Try("check url, which usually ends in /v1, and model in config.json; with Ollama: ollama pull %s",
			c.cfg.Model)
	case status/100 == 3:
		return c.unavailable(f, "sends elsewhere (status %d), which is not followed", status).
			Try("put the final address into url of embeddings in config.json")
	case status == http.StatusTooManyRequests, status >= 500:
		f.passing = true
		f.after = min(endpoint.RetryAfter(resp.Header.Get("Retry-After"), time.Now()), longestRefuse)
		c.leaveAlone(f.after)
		return c.unavailable(f, "is busy or broken (status %d)", status)
	}
	return c.unavailable(f, "answered status %d", resp.StatusCode)
}

func (c *Client) leaveAlone(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if until := time.Now().Add(d); until.After(c.notBefore) {
		c.notBefore = until
	}
}

func (c *Client) silence() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Until(c.notBefore)
}

type request struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions,omitempty"`
	Format     string   `json:"encoding_format"`
}

type answer struct {
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

// vectors takes the answer apart: one finite vector for each of n inputs, all of
// one length.
func (c *Client) vectors(raw []byte, n int) ([][]float32, error) {
	var a answer
	if json.Unmarshal(raw, &a) != nil {
		return nil, errors.New("it is not the JSON of an embedding") // the decoder's words may quote it
	}
	if len(a.Data) != n {
		return nil, fmt.Errorf("%d vectors for %d texts", len(a.Data), n)
	}
	out := make([][]float32, n)
	length := c.cfg.Dimensions
	for _, d := range a.Data {
		if d.Index < 0 || d.Index >= n || out[d.Index] != nil {
			return nil, fmt.Errorf("index %d twice or out of range", d.Index)
		}
		if length == 0 {
			length = len(d.Embedding)
		}
		if len(d.Embedding) == 0 || len(d.Embedding) != length || length > MaxDimensions {
			return nil, fmt.Errorf("a vector has %d dimensions, not %d", len(d.Embedding), length)
		}
		sum := 0.0
		for _, x := range d.Embedding {
			sum += float64(x) * float64(x)
		}
		if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
			return nil, errors.New("a vector is zero or not finite")
		}
		out[d.Index] = d.Embedding
	}
	return out, nil
}
