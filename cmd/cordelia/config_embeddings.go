package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"cordelia/internal/embedding"
	"cordelia/internal/endpoint"
	vectors "cordelia/memory/embedding"
	"cordelia/node"
	"cordelia/schemas"
)

// embeddings is the part of config.json that turns search by meaning on.
type embeddings struct {
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

// client checks e and makes its client.
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

// configure puts e into c.
func (e *embeddings) configure(c *node.Config) error {
	client, err := e.client(c.Home)
	if err != nil {
		return err
	}
	c.Embedder = client
	c.Embeddings = vectors.Options{Wait: time.Duration(e.Timeout), Private: client.Loopback()}
	if e.IncludePrivate != nil {
		c.Embeddings.Private = *e.IncludePrivate
	}
	return nil
}

// settings checks config.json with the folders it names, and asks the embedding
// model in it, if any.
func (x *examination) settings(ctx context.Context, home node.Home) {
	s, err := readSettings(home)
	if err != nil {
		x.refused("settings", unusable(home, err))
		return
	}
	x.checkFolders(s)
	if s.Embeddings == nil {
		return
	}
	const check = "embeddings"
	client, err := s.Embeddings.client(home)
	if err != nil {
		x.refused(check, unusable(home, err))
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second) // a model may have to be loaded first
	defer cancel()
	vector, err := client.Query(ctx, "cordelia")
	switch {
	case schemas.CodeOf(err) == schemas.CodeUnavailable:
		x.report(check, warning, hintOf(err), "%s", messageOf(err))
		return
	case err != nil:
		x.refused(check, err)
		return
	}
	state := x.vectors
	switch {
	case state == nil:
		x.report(check, warning, "see the line about the database", "%s at %s answers; its vectors cannot be counted",
			client.Model(), client.Host())
	case state.Model != client.Model():
		x.report(check, fine, "", "%s at %s answers; nothing is embedded with it yet", client.Model(), client.Host())
	case state.Dim != 0 && state.Dim != len(vector):
		x.report(check, problem, fmt.Sprintf("set dimensions to %d, or name another model, which embeds all anew",
			state.Dim),
			"%s at %s answers %s; the stored vectors have %d", client.Model(), client.Host(),
			schemas.Count(len(vector), "dimension", "dimensions"), state.Dim)
	default:
		x.report(check, fine, "", "%s at %s answers; %s embedded, %d to look at", client.Model(), client.Host(),
			schemas.Count(int(state.Embedded), "item", "items"), state.Waiting)
	}
}
