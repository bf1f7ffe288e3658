package embed

import (
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"unicode"

	"cordelia/schemas"
)

// Config says which model to ask, and where.
type Config struct {
	URL            string // up to and without /embeddings, such as http://127.0.0.1:11434/v1
	Model          string
	Dimensions     int    // asked for and insisted on; 0 leaves it to the model
	QueryPrefix    string // put before a query, as some models want it
	DocumentPrefix string // put before a text that is stored
	Key            Key    // the zero Key sends none
}

// MaxDimensions is the longest vector taken.
const MaxDimensions = 8192

const maxKey = 4 << 10 // bytes

// Key is the server's secret. It sits behind a function so that no printer
// finds it.
type Key struct{ secret func() string }

// KeyFromEnv reads the key from an environment variable.
func KeyFromEnv(name string) (Key, error) {
	k, err := keyOf(os.Getenv(name))
	if err != nil {
		return k, schemas.Errorf(schemas.CodeUnauthenticated, "the environment variable %s holds no usable key", name).
			Expecting("the key on one line").
			Try("set it where the client starts cordelia, or name a file with key_file").Because(err)
	}
	return k, nil
}

// KeyFromFile reads the key from a file that is its owner's alone.
func KeyFromFile(path string) (Key, error) {
	refuse := func(what string, err error) (Key, error) {
		return Key{}, schemas.Errorf(schemas.CodeUnauthenticated, "the key file %s %s", path, what).
			Try("keep the key on one line in a file of mode 0600").Because(err)
	}
	f, err := os.Open(path)
	if err != nil {
		return refuse("cannot be read", err)
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return refuse("cannot be read", err)
	case !info.Mode().IsRegular():
		return refuse("is no file", nil)
	case info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/':
		return refuse("can be read by other users", nil)
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxKey+1))
	if err != nil {
		return refuse("cannot be read", err)
	}
	k, err := keyOf(string(raw))
	if err != nil {
		return refuse("holds no usable key", err)
	}
	return k, nil
}

func keyOf(text string) (Key, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return Key{}, errors.New("it is empty")
	case len(text) > maxKey:
		return Key{}, errors.New("it is too long")
	case strings.ContainsFunc(text, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsGraphic(r) ||
			r == ' '
	}):
		return Key{}, errors.New("it has blanks or other characters no key has")
	}
	return Key{func() string { return text }}, nil
}

// endpoint checks c and gives the address to post to.
func (c Config) endpoint() (*url.URL, error) {
	refuse := func(what, expected string) (*url.URL, error) {
		return nil, schemas.Invalidf("embeddings: %s", what).Expecting("%s", expected)
	}
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Host == "":
		return refuse("url is no address", "for example http://127.0.0.1:11434/v1")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return refuse("url carries a name, password, query or fragment",
			"the address alone; the key comes from key_env or key_file")
	case u.Scheme != "https" && u.Scheme != "http":
		return refuse("url is neither https nor http", "https://HOST/v1, or http:// for this machine")
	case u.Scheme == "http" && !loopbackName(u.Hostname()):
		return refuse("url is plain http to another machine",
			"https://, because texts and the key would be readable on the way")
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

func loopbackName(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
