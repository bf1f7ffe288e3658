package machinecheck

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// A file of an earlier attempt passes no check of this one, and says which it is.
func TestStaleFilesDoNotPass_INV_FRESH(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "report.json")
	content := []byte(`{"ok":true}`)
	require.NoError(t, os.WriteFile(path, content, 0o600))
	began := time.Date(2026, 11, 20, 12, 0, 0, 500e6, time.UTC)
	checks := []schemas.Check{
		{Kind: schemas.CheckFile, Path: "report.json"},
		{Kind: schemas.CheckRegex, Path: "report.json", Pattern: "ok"},
		{Kind: schemas.CheckJSONPath, Path: "report.json", JSONPath: "$.ok", Equals: json.RawMessage("true")},
	}
	for name, tt := range map[string]struct {
		since, written time.Time
		exit           int
	}{
		"after":                        {began, began.Add(time.Minute), schemas.CheckHolds},
		"in the tick it began":         {began, began.Add(-fineStamp), schemas.CheckHolds},
		"just before":                  {began, began.Add(-fineStamp - time.Millisecond), schemas.CheckStale},
		"long before":                  {began, began.AddDate(-1, 0, 0), schemas.CheckStale},
		"in the even second it began":  {began, began.Truncate(time.Second), schemas.CheckHolds},
		"in an even second before":     {began, began.Truncate(time.Second).Add(-2 * time.Second), schemas.CheckStale},
		"in a year to come":            {began, time.Now().AddDate(1, 0, 0), schemas.CheckStale},
		"ever, when nobody asks since": {time.Time{}, began.AddDate(-9, 0, 0), schemas.CheckHolds},
	} {
		require.NoError(t, os.Chtimes(path, tt.written, tt.written))
		for _, c := range checks {
			ok, e, err := Run(t.Context(), Env{Roots: []string{root}}, c, tt.since)
			require.NoError(t, err)
			require.Equal(t, tt.exit == schemas.CheckHolds, ok, "%s: %s", name, e)
			require.Equal(t, tt.exit, e.Exit, name)
			require.Equal(t, tt.exit == schemas.CheckStale, e.Stale(), name)
			require.Contains(t, e.Head, fmt.Sprintf("11 bytes, SHA-256 %x, written %s", sha256.Sum256(content),
				tt.written.UTC().Format(time.RFC3339Nano)))
			if e.Stale() && tt.written.Before(tt.since) {
				require.Contains(t, e.Head, tt.since.Format(time.RFC3339Nano), "both times")
			}
		}
	}
	require.NoError(t, os.WriteFile(path, content, 0o600))
	ok, e, err := Run(t.Context(), Env{Roots: []string{root}}, checks[0], time.Now())
	require.NoError(t, err)
	require.True(t, ok, "written a moment ago: %s", e)
}

func TestFilesThatFail(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	env := Env{Roots: []string{first, second}}
	c := schemas.Check{Kind: schemas.CheckRegex, Path: "notes", Pattern: "^v2"}
	run := func() (bool, schemas.Evidence) {
		ok, e, err := Run(t.Context(), env, c, time.Time{})
		require.NoError(t, err)
		return ok, e
	}
	ok, e := run()
	require.False(t, ok)
	require.Equal(t, schemas.Evidence{Tool: "check_regex", Input: `notes matches "^v2"`, Exit: schemas.CheckFails,
		Head: "there is no such file"}, e)
	require.NoError(t, os.WriteFile(filepath.Join(first, "notes"), []byte("v1"), 0o600))
	ok, e = run()
	require.False(t, ok)
	require.Contains(t, e.Head, "2 bytes")
	require.Contains(t, e.Head, "not as the check says")
	require.NoError(t, os.WriteFile(filepath.Join(second, "notes"), []byte("v2.1"), 0o600))
	ok, e = run()
	require.True(t, ok, "the one that passes counts")
	require.Contains(t, e.Head, "4 bytes")

	_, _, err := Run(t.Context(), Env{}, c, time.Time{})
	require.ErrorIs(t, err, ErrOff)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = Run(ctx, env, schemas.Check{Kind: schemas.CheckFile, Path: "notes"}, time.Time{})
	require.ErrorIs(t, err, context.Canceled)
}

// A fresh file in one folder counts, though there is a stale one in another.
func TestTheFreshFileCounts(t *testing.T) {
	old, young := t.TempDir(), t.TempDir()
	for _, dir := range []string{old, young} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "out"), nil, 0o600))
	}
	require.NoError(t, os.Chtimes(filepath.Join(old, "out"), time.Time{}, time.Now().Add(-time.Hour)))
	c := schemas.Check{Kind: schemas.CheckFile, Path: "out"}
	ok, e, err := Run(t.Context(), Env{Roots: []string{old, young}}, c, time.Now().Add(-time.Minute))
	require.NoError(t, err)
	require.True(t, ok, e)
	ok, e, err = Run(t.Context(), Env{Roots: []string{old}}, c, time.Now().Add(-time.Minute))
	require.NoError(t, err)
	require.False(t, ok, e)
}

func TestTheHashOfALargeFileIsOfItsBeginning(t *testing.T) {
	root := t.TempDir()
	f, err := os.Create(filepath.Join(root, "large"))
	require.NoError(t, err)
	require.NoError(t, f.Truncate(maxHash+1)) // a hole
	require.NoError(t, f.Close())
	ok, e, err := Run(t.Context(), Env{Roots: []string{root}}, schemas.Check{Kind: schemas.CheckFile, Path: "large"},
		time.Time{})
	require.NoError(t, err)
	require.True(t, ok)
	require.Contains(t, e.Head, fmt.Sprintf("%d bytes, SHA-256 of its first %d bytes %x", maxHash+1, maxHash,
		sha256.Sum256(bytes.Repeat([]byte{0}, maxHash))))
}

// The date is the node's, not the machine's.
func TestRunOfDates(t *testing.T) {
	env := Env{Now: func() time.Time { return time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC) }}
	for day, want := range map[string]bool{"2026-11-20": true, "2026-11-21": false} {
		ok, e, err := Run(t.Context(), env, schemas.Check{Kind: schemas.CheckDate,
			Equals: json.RawMessage(`"` + day + `"`)}, time.Now())
		require.NoError(t, err)
		require.Equal(t, want, ok)
		require.Equal(t, exitOf(want), e.Exit)
		require.Contains(t, e.Head, "2026-11-20")
	}
}
