package jsonschema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

func TestForeignSchemas(t *testing.T) {
	s, err := Foreign([]byte(`{"type": "object", "properties": {"metres": {"type": "number", "minimum": 0}}, "required": ["metres"], "additionalProperties": false}`))
	require.NoError(t, err)
	for text, want := range map[string]string{
		`{"metres": 3}`:            "",
		`{}`:                       "/metres is missing",
		`{"metres": -1}`:           "/metres must be at least 0",
		`{"metres": "3"}`:          "/metres must be number, not string",
		`{"metres": 1, "feet": 3}`: "/feet is not a known field",
		`null`:                     " must be object, not null",
		`{`:                        " is not JSON",
		`{"metres": 1e400}`:        "",
		`{"metres": 1E-0400}`:      "",
		`{"metres": 1e401}`:        "/metres is a number too large to be compared",
		`{"metres": 1e-9999999}`:   "/metres is a number too large to be compared",
		`{"metres": 1e9999999}`:    "/metres is a number too large to be compared",
		`[[1e999999]]`:             "/0/0 is a number too large to be compared",
		`{"metres": 1` + strings.Repeat("0", 400) + `.5}`: "/metres is a number too large to be compared",
		`{"metres": 1` + strings.Repeat("0", 399) + `}`:   "",
	} {
		found, err := s.CheckText([]byte(text))
		require.NoError(t, err)
		if want == "" {
			require.Empty(t, found, text)
			continue
		}
		require.Len(t, found, 1, text)
		require.Equal(t, want, found[0].Path+" "+found[0].Msg)
	}
}

// A schema of an agent reads no file, and makes no check that never ends.
func TestForeignSchemasThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"$ref": "file:///etc/passwd"}`:                  "which is not taken",
		`{"properties": {"a": {"$ref": "#"}}}`:            "which is not taken",
		`{"allOf": [{"$dynamicRef": "#x"}]}`:              "which is not taken",
		`{"$id": "x"}`:                                    "which is not taken",
		`{"$defs": {"a": {}}}`:                            "which is not taken",
		`{"type": "text"}`:                                "is not a JSON Schema: /type",
		`{"pattern": "("}`:                                "which is not taken",
		`{"items": {"allOf": [{"minimum": 9}]}}`:          "allOf, which is not taken",
		`{"additionalProperties": {"uniqueItems": true}}`: "uniqueItems, which is not taken",
		`{"format": "regex"}`:                             "format, which is not taken",
		`{"default": "x", "format": 1e9999999}`:           "/format is a number too large to be compared",
		`{"items": {"minimum": 1e999999}}`:                "/items/minimum is a number too large to be compared",
		`[]`:                                              "must be an object",
		`true`:                                            "must be an object",
		`{`:                                               "is not JSON",
		`{"$schema": "http://localhost/own"}`:             "is not a JSON Schema",
		`{"const": "` + strings.Repeat("a", MaxForeign) + `"}`: "at most 8192",
	} {
		_, err := Foreign([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
	_, err := Foreign([]byte(`{"$schema": "https://json-schema.org/draft/2020-12/schema", "$comment": "no reference"}`))
	require.NoError(t, err)
}

// A format is checked, and not only noted.
func TestForeignFormats(t *testing.T) {
	s, err := Foreign([]byte(`{"format": "date"}`))
	require.NoError(t, err)
	found, err := s.CheckText([]byte(`"yesterday"`))
	require.NoError(t, err)
	require.Equal(t, []schemas.Violation{{Msg: "must be a date"}}, found)
}

// A bound is worded as a number is written.
func TestBoundsInWords(t *testing.T) {
	for bound, want := range map[string]string{"0.1": "0.1", "250000": "250000", "1e300": "1e+300"} {
		s, err := Foreign([]byte(`{"minimum": ` + bound + `}`))
		require.NoError(t, err)
		found, err := s.CheckText([]byte("-1"))
		require.NoError(t, err)
		require.Equal(t, []schemas.Violation{{Msg: "must be at least " + want}}, found)
	}
}

// References between documents that are given work, and to any other do not.
func TestCompile(t *testing.T) {
	all, err := Compile(map[string][]byte{"urn:a": []byte(`{"$ref": "urn:b"}`), "urn:b": []byte(`{"type": "string"}`)})
	require.NoError(t, err)
	found, err := all["urn:a"].Check(3.0)
	require.NoError(t, err)
	require.Len(t, found, 1)
	_, err = Compile(map[string][]byte{"urn:a": []byte(`{"$ref": "file:///etc/hostname"}`)})
	require.ErrorContains(t, err, "cannot refer to another document")
}

func FuzzForeign(f *testing.F) {
	f.Add(`{"type": "object"}`, `{}`)
	f.Add(`{"anyOf": [{"pattern": "^a+$"}, {"multipleOf": 0.1}]}`, `[1, "aaa", 1e400]`)
	f.Add(`{"type": "integer"}`, `{"a": [1e999999, 1e9999999]}`)
	f.Add(`{"type": "integer", "minimum": 1e9999999}`, `1`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		s, err := Foreign([]byte(schema))
		if err != nil {
			return
		}
		found, err := s.CheckText([]byte(value))
		require.NoError(t, err)
		_, err = json.Marshal(found)
		require.NoError(t, err)
	})
}

// However large a result and a schema are, the check is short: it is made while
// others wait to write.
func TestForeignChecksAreBounded(t *testing.T) {
	var names []string
	for i := range 200 {
		names = append(names, fmt.Sprintf("%q", fmt.Sprint("name", i)))
	}
	s, err := Foreign([]byte(`{"items": {"required": [` + strings.Join(names, ",") + `]}}`))
	require.NoError(t, err)
	found, err := s.CheckText([]byte("[" + strings.Repeat("{},", 30_000) + "{}]"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Contains(t, found[0].Msg, "too many values")
	found, err = s.CheckText([]byte("[{}]"))
	require.NoError(t, err)
	require.Len(t, found, 200)
}
