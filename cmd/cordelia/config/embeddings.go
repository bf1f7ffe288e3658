package config

import (
	"errors"
	"path/filepath"
	"time"

	"cordelia/internal/embedding"
	"cordelia/internal/endpoint"
	vectors "cordelia/memory/embedding"
	"cordelia/memory/sentence"
	"cordelia/node"
)

// embeddings is the part of config.json that turns search by meaning on.
type embeddings struct {
	// vectors are made in this process, by the encoder of cordelia embeddings install
	BuiltIn bool `json:"built_in" default:"ask a server"`
	// of an OpenAI-compatible server, such as http://127.0.0.1:11434/v1
	URL            string `json:"url"`
	Model          string `json:"model"`                                // the server's name for it
	Dimensions     int    `json:"dimensions" default:"the model's own"` // asked for
	QueryPrefix    string `json:"query_prefix"`                         // put before queries
	DocumentPrefix string `json:"document_prefix"`                      // put before items
	KeyEnv         string `json:"key_env"`                              // environment variable with the key
	KeyFile        string `json:"key_file"`                             // file with the key, mode 0600
	// how long a search waits for the model
	Timeout        duration `json:"timeout" default:"500ms"`
	IncludePrivate *bool    `json:"include_private" default:"only to this machine"` // send private items
}

// Model gives vectors, and says where.
type Model interface {
	vectors.Embedder
	Host() string
	Loopback() bool // no text leaves this machine
}

// Open checks e and makes what gives vectors.
func (e *embeddings) Open(home node.Home) (Model, error) {
	if !e.BuiltIn {
		return e.client(home)
	}
	if e.URL != "" {
		return nil, errors.New("embeddings: built_in and url exclude each other")
	}
	return sentence.Open(EncoderFile(home))
}

// EncoderFile is where the built-in encoder lies.
func EncoderFile(home node.Home) string { return filepath.Join(string(home), sentence.File) }

// client makes the client of a model's server.
func (e *embeddings) client(home node.Home) (*embedding.Client, error) {
	c := embedding.Config{URL: e.URL, Model: e.Model, Dimensions: e.Dimensions, QueryPrefix: e.QueryPrefix,
		DocumentPrefix: e.DocumentPrefix}
	var err error
	switch {
	case e.KeyEnv != "" && e.KeyFile != "":
		return nil, errors.New("embeddings: key_env and key_file exclude each other")
	case e.KeyEnv != "":
		c.Key, err = endpoint.KeyFromEnv(e.KeyEnv)
	case e.KeyFile != "":
		path := e.KeyFile
		if !filepath.IsAbs(path) {
			path = filepath.Join(string(home), path)
		}
		c.Key, err = endpoint.KeyFromFile(path)
	}
	if err != nil {
		return nil, err
	}
	return embedding.New(c)
}

// Configure puts e into c.
func (e *embeddings) Configure(c *node.Config) error {
	model, err := e.Open(c.Home)
	if err != nil {
		return err
	}
	c.Embedder = model
	c.Embeddings = vectors.Options{Wait: time.Duration(e.Timeout), Private: model.Loopback()}
	if e.IncludePrivate != nil {
		c.Embeddings.Private = *e.IncludePrivate
	}
	return nil
}
