// Package jsonschema checks JSON values against JSON Schemas (draft 2020-12) and says
// what is wrong in words, by path.
package jsonschema
