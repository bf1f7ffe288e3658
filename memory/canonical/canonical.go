package canonical

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cordelia/schemas"
)

// maxDepth is the deepest nesting a context may have.
const maxDepth = 32

// JSON gives the one form of a JSON value that is hashed (RFC 8785):
// members sorted by UTF-16 code units, numbers as an IEEE 754 double prints,
// no white space. It refuses what has no such form: duplicate members, invalid
// UTF-8, numbers a double cannot hold, and data after the value.
func JSON(data []byte) ([]byte, error) {
	if err := eachNumber(data, func(_ jsontext.Pointer, literal string) error {
		_, err := strconv.ParseFloat(literal, 64)
		return err
	}); err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	v := jsontext.Value(bytes.Clone(data))
	if err := v.Canonicalize(); err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	return v, nil
}

// Of is the canonical form of a decoded value.
func Of(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return JSON(data)
}

// Plain turns a Go value into what decoding its JSON gives: maps, slices,
// strings, float64, booleans. An empty list becomes [], never null.
func Plain(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return out, nil
}

// Object decodes an untrusted JSON object. Besides what JSON refuses
// it refuses integers that a double would change, so that nothing is stored
// differently from what was sent.
func Object(data []byte) (map[string]any, error) {
	var inexact []schemas.Violation
	err := eachNumber(data, func(at jsontext.Pointer, literal string) error {
		f, err := strconv.ParseFloat(literal, 64)
		if err != nil {
			inexact = append(inexact, schemas.Violation{Path: string(at),
				Msg: "is larger than a JSON number can be here (1.8e308)"})
			return nil
		}
		if strings.ContainsAny(literal, ".eE") {
			return nil
		}
		if exact, ok := new(big.Int).SetString(literal, 10); ok {
			if got, _ := big.NewFloat(f).Int(nil); got.Cmp(exact) != 0 {
				inexact = append(inexact, schemas.Violation{Path: string(at),
					Msg: "is an integer that a JSON number cannot hold exactly; write it as a string"})
			}
		}
		return nil
	})
	if err != nil {
		return nil, schemas.Invalidf("the data is not one JSON value: %v", err).Expecting("a JSON object")
	}
	if len(inexact) > 0 {
		return nil, schemas.Invalidf("the data holds numbers that would not be kept as they are").With(inexact...)
	}
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil || v == nil {
		return nil, schemas.Invalidf("the data is not a JSON object").Expecting("a JSON object").Because(err)
	}
	return v, nil
}

var errTooDeep = fmt.Errorf("nested deeper than %d levels", maxDepth)

// eachNumber reads the JSON value data begins with and calls f with every number
// and where it stands.
func eachNumber(data []byte, f func(at jsontext.Pointer, literal string) error) error {
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	for first := true; first || dec.StackDepth() > 0; first = false {
		tok, err := dec.ReadToken()
		if err != nil {
			return wordSyntax(err)
		}
		if dec.StackDepth() > maxDepth {
			return errTooDeep
		}
		if tok.Kind() == '0' {
			if err := f(dec.StackPointer(), tok.String()); err != nil {
				return err
			}
		}
	}
	return nil
}

// wordSyntax says where reading stopped, without quoting the input.
func wordSyntax(err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it ends before it is complete")
	case errors.Is(err, jsontext.ErrDuplicateName):
		errors.As(err, &syntax)
		return fmt.Errorf("a member appears twice at byte %d", syntax.ByteOffset)
	case errors.As(err, &syntax):
		return fmt.Errorf("not valid JSON at byte %d", syntax.ByteOffset)
	}
	return err
}

// Strings gives the strings of a decoded list, without what else is in it.
func Strings(v any) []string {
	values, _ := v.([]any)
	var out []string
	for _, v := range values {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
