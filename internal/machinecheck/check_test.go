package machinecheck

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

func TestHolds(t *testing.T) {
	root, second := t.TempDir(), t.TempDir()
	write := func(dir, name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write(root, "docs/notes.md", "released v2.1 — at last\n")
	write(root, "pkg.json", `{"name": "x", "list": [{"n": 1.0}, {"odd name": null}], "ok": true}`)
	write(root, "broken.json", `{"name": `)
	write(second, "only/here", "")
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	equals := func(s string) json.RawMessage { return json.RawMessage(s) }
	for _, tt := range []struct {
		c    schemas.Check
		want bool
	}{
		{schemas.Check{Kind: schemas.CheckFile, Path: "docs/notes.md"}, true},
		{schemas.Check{Kind: schemas.CheckFile, Path: "docs/none.md"}, false},
		{schemas.Check{Kind: schemas.CheckFile, Path: "docs/notes.md/below"}, false},
		{schemas.Check{Kind: schemas.CheckFile, Path: "only/here"}, true},
		{schemas.Check{Kind: schemas.CheckRegex, Path: "docs/notes.md", Pattern: `v2\.\d+ —`}, true},
		{schemas.Check{Kind: schemas.CheckRegex, Path: "docs/notes.md", Pattern: `^v2`}, false},
		{schemas.Check{Kind: schemas.CheckRegex, Path: "none", Pattern: ``}, false},
		{schemas.Check{Kind: schemas.CheckJSONPath, Path: "pkg.json", JSONPath: "$.list[0].n", Equals: equals(`1`)},
			true},
		{schemas.Check{Kind: schemas.CheckJSONPath, Path: "pkg.json", JSONPath: "$.list[1]['odd name']",
			Equals: equals(`null`)}, true},
		{schemas.Check{Kind: schemas.CheckJSONPath, Path: "pkg.json", JSONPath: "$.list[2]", Equals: equals(`null`)},
			false},
		{schemas.Check{Kind: schemas.CheckJSONPath, Path: "pkg.json", JSONPath: "$.ok", Equals: equals(`"true"`)},
			false},
		{schemas.Check{Kind: schemas.CheckJSONPath, Path: "pkg.json", JSONPath: "$.list[0]", Equals: equals(`{"n":1}`)},
			true},
		{schemas.Check{Kind: schemas.CheckJSONPath, Path: "broken.json", JSONPath: "$.name", Equals: equals(`1`)},
			false},
		{schemas.Check{Kind: schemas.CheckDate, Equals: equals(`"2026-11-20"`)}, true},
		{schemas.Check{Kind: schemas.CheckDate, Equals: equals(`"2026-11-21"`)}, false},
	} {
		got, err := Holds(t.Context(), []string{root, second}, tt.c, now)
		require.NoError(t, err, "%+v", tt.c)
		require.Equal(t, tt.want, got, "%+v", tt.c)
	}
	_, err := Holds(t.Context(), nil, schemas.Check{Kind: schemas.CheckFile, Path: "docs/notes.md"}, now)
	require.Error(t, err, "no folder, no answer")
	_, err = Holds(t.Context(), []string{filepath.Join(root, "gone")},
		schemas.Check{Kind: schemas.CheckFile, Path: "x"}, now)
	require.Error(t, err, "a folder that is not there is not an empty one")
}

func TestALargeFileIsNotRead(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "large"), make([]byte, maxFile+1), 0o600))
	_, err := Holds(t.Context(), []string{root}, schemas.Check{Kind: schemas.CheckRegex, Path: "large", Pattern: "x"},
		time.Now())
	require.ErrorContains(t, err, "larger")
}

// A pattern that takes too long is given up, and says nothing.
func TestASlowPatternEnds(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "long"), []byte(strings.Repeat("a", maxFile)), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Holds(ctx, []string{root}, schemas.Check{Kind: schemas.CheckRegex, Path: "long",
		Pattern: `(a{0,100}){10}b|^a+$`}, time.Now())
	require.ErrorContains(t, err, "too long")
}
