package jsonschema

import "slices"

// A schema of an agent is plain: each value of a result is checked against one part
// of it at most, so that a check takes as long as the result is large and no
// longer. What combines schemas, matches patterns or points elsewhere multiplies
// that, by as much as its author likes.
var plainWords = []string{
	"$schema", "$comment", "title", "description", "default", "examples", "type", "properties", "required",
	"additionalProperties", "items", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
	"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "format",
}

// plainFormats are those whose check is one pass over the text.
var plainFormats = []any{"date", "date-time", "time", "uuid", "email", "uri"}

// notPlain is the first keyword of a schema that is not taken, "" if it is plain.
func notPlain(schema any) string {
	words, ok := schema.(map[string]any)
	if !ok {
		return "" // true and false are schemas; anything else the compiler refuses
	}
	for word, value := range words {
		if !slices.Contains(plainWords, word) {
			return word
		}
		switch word {
		case "format":
			if !slices.Contains(plainFormats, value) {
				return word
			}
		case "properties":
			parts, _ := value.(map[string]any)
			for _, part := range parts {
				if found := notPlain(part); found != "" {
					return found
				}
			}
		case "items", "additionalProperties":
			if found := notPlain(value); found != "" {
				return found
			}
		}
	}
	return ""
}

// maxWork bounds the values of a schema times those of what is checked against it:
// so many comparisons take tens of milliseconds, and findings some megabytes.
const maxWork = 200_000

// size counts the values in a document, itself included.
func size(doc any) int {
	n := 1
	switch v := doc.(type) {
	case map[string]any:
		for _, inner := range v {
			n += size(inner)
		}
	case []any:
		for _, inner := range v {
			n += size(inner)
		}
	}
	return n
}
