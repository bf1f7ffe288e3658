package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"unicode"

	"cordelia/schemas"
)

const maxKey = 4 << 10 // bytes

// Key is the server's secret. It sits behind a function so that no printer finds it. The
// zero Key is none.
type Key struct{ secret func() string }

// Given reports whether there is a key.
func (k Key) Given() bool { return k.secret != nil }

// Send puts the key into a header, after a word such as "Bearer ".
func (k Key) Send(h http.Header, name, word string) {
	if k.secret != nil {
		h.Set(name, word+k.secret())
	}
}

// Hide is text without the key: servers quote keys.
func (k Key) Hide(text string) string {
	if k.secret == nil {
		return text
	}
	return strings.ReplaceAll(text, k.secret(), "[secret]")
}

// HideJSON is a JSON text, as encoding/json writes it, without the key.
func (k Key) HideJSON(raw json.RawMessage) json.RawMessage {
	if k.secret == nil {
		return raw
	}
	quoted, err := json.Marshal(k.secret())
	if err != nil {
		return nil // of a text it is none: nothing is shown rather than the key
	}
	return bytes.ReplaceAll(raw, quoted[1:len(quoted)-1], []byte("[secret]"))
}

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
