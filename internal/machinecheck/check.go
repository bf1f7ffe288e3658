package machinecheck

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"syscall"
	"time"
	"unicode/utf8"

	"cordelia/schemas"
)

const (
	maxFile = 1 << 20         // bytes of a file that is looked at
	limit   = 2 * time.Second // for a pattern
)

// ErrOff is why a check is not made: the operator did not turn such checks on.
var ErrOff = errors.New("such checks are off")

// Holds reports whether c holds at a moment: for a file, below any of the roots,
// which are absolute. A file that is not there makes a check fail; one that
// cannot be looked at is an error, and so is a command.
func Holds(ctx context.Context, roots []string, c schemas.Check, now time.Time) (bool, error) {
	if c.Kind == schemas.CheckDate {
		day, ok := c.Day()
		return ok && !now.Before(day), nil
	}
	if c.Kind == schemas.CheckCommand {
		return false, fmt.Errorf("%w: nothing is run to look whether something is so", ErrOff)
	}
	met := false
	err := each(roots, c.Path, func(f *os.File, _ fs.FileInfo) (done bool, err error) {
		met, err = meets(ctx, c, f)
		return met, err
	})
	return met && err == nil, err
}

// each calls look with the regular file at path below one root after the other,
// until it is done.
func each(roots []string, path string, look func(*os.File, fs.FileInfo) (done bool, err error)) error {
	if len(roots) == 0 {
		return fmt.Errorf("%w: no folder is configured for them", ErrOff)
	}
	for _, root := range roots {
		if done, err := below(root, path, look); done || err != nil {
			return err
		}
	}
	return nil
}

func below(root, path string, look func(*os.File, fs.FileInfo) (bool, error)) (done bool, err error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return false, fmt.Errorf("a folder for checks cannot be opened: %w", err)
	}
	defer r.Close() //nolint:errcheck // only read
	// Without waiting for a writer, should it be a pipe.
	f, err := r.OpenFile(filepath.FromSlash(path), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if absent(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("a file cannot be checked: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, errors.New("what is to be checked is no regular file")
	}
	return look(f, info)
}

func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// meets reports whether what r reads is as c says.
func meets(ctx context.Context, c schemas.Check, r io.Reader) (bool, error) {
	if c.Kind == schemas.CheckFile {
		return true, nil
	}
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return false, fmt.Errorf("a file cannot be checked: %w", err)
	}
	if len(data) > maxFile {
		return false, fmt.Errorf("the file to be checked is larger than %d bytes", maxFile)
	}
	if c.Kind == schemas.CheckRegex {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return matches(ctx, c.Pattern, data)
	}
	return leads(c, data)
}

// matches stops at the deadline: a pattern may be slow on a large file.
func matches(ctx context.Context, pattern string, data []byte) (bool, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return false, err
	}
	in := &runes{ctx: ctx, data: data}
	found := re.MatchReader(in)
	return found && !in.late, in.err()
}

// runes reads data rune by rune until the context ends.
type runes struct {
	ctx  context.Context
	data []byte
	n    int
	late bool
}

func (r *runes) ReadRune() (rune, int, error) {
	if r.n++; r.n%1024 == 0 && r.ctx.Err() != nil {
		r.late = true
	}
	if r.late || len(r.data) == 0 {
		return 0, 0, io.EOF
	}
	c, size := utf8.DecodeRune(r.data)
	r.data = r.data[size:]
	return c, size, nil
}

func (r *runes) err() error {
	if r.late {
		return errors.New("the pattern took too long")
	}
	return nil
}

// leads reports whether the path of c leads to the value it names.
func leads(c schemas.Check, data []byte) (bool, error) {
	steps, err := c.Steps()
	if err != nil {
		return false, err
	}
	value, err := decode(data)
	if err != nil {
		return false, nil // a file that is no JSON holds no value
	}
	want, err := decode(c.Equals)
	if err != nil {
		return false, err
	}
	for _, s := range steps {
		switch s := s.(type) {
		case string:
			object, _ := value.(map[string]any)
			inner, ok := object[s]
			if !ok {
				return false, nil
			}
			value = inner
		case int:
			list, _ := value.([]any)
			if s >= len(list) {
				return false, nil
			}
			value = list[s]
		}
	}
	return reflect.DeepEqual(value, want), nil
}

// decode reads one JSON value; numbers are compared as they compare in JSON.
func decode(data []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return v, nil
}
