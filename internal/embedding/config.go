package embedding

import (
	"net/url"
	"strings"

	"cordelia/internal/endpoint"
	"cordelia/schemas"
)

// Config says which model to ask, and where.
type Config struct {
	URL            string // up to and without /embeddings, such as http://127.0.0.1:11434/v1
	Model          string
	Dimensions     int          // asked for and insisted on; 0 leaves it to the model
	QueryPrefix    string       // put before a query, as some models want it
	DocumentPrefix string       // put before a text that is stored
	Key            endpoint.Key // the zero Key sends none
}

// MaxDimensions is the longest vector taken.
const MaxDimensions = 8192

// endpoint checks c and gives the address to post to.
func (c Config) endpoint() (*url.URL, error) {
	refuse := func(what, expected string) (*url.URL, error) {
		return nil, schemas.Invalidf("embeddings: %s", what).Expecting("%s", expected)
	}
	u, err := endpoint.Parse("embeddings", c.URL)
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(c.Model) == "" || len(c.Model) > 200:
		return refuse("model is missing or longer than 200 bytes",
			"the server's name for the model, such as nomic-embed-text")
	case c.Dimensions < 0 || c.Dimensions > MaxDimensions:
		return refuse("dimensions is out of range", "1 to 8192, or leave it out")
	case len(c.QueryPrefix) > 200 || len(c.DocumentPrefix) > 200:
		return refuse("a prefix is longer than 200 bytes", "what the model's card says, such as \"search_query: \"")
	}
	return u.JoinPath("embeddings"), nil
}
