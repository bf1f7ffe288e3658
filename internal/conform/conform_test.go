package conform

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
		`{"$ref": "file:///etc/passwd"}`:       "must be written out",
		`{"properties": {"a": {"$ref": "#"}}}`: "must be written out",
		`{"allOf": [{"$dynamicRef": "#x"}]}`:   "must be written out",
		`{"$id": "x"}`:                         "must be written out",
		`{"$defs": {"a": {}}}`:                 "must be written out",
		`{"type": "text"}`:                     "is not a JSON Schema: /type",
		`{"pattern": "("}`:                     "is not a JSON Schema",
		`[]`:                                   "must be an object",
		`true`:                                 "must be an object",
		`{`:                                    "is not JSON",
		`{"$schema": "http://localhost/own"}`:  "is not a JSON Schema",
		`{"const": "` + strings.Repeat("a", MaxForeign) + `"}`: "at most 8192",
	} {
		_, err := Foreign([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
	_, err := Foreign([]byte(`{"$schema": "https://json-schema.org/draft/2020-12/schema", "$comment": "no reference"}`))
	require.NoError(t, err)
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
