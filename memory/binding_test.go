package memory

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFoldersAbove(t *testing.T) {
	for dir, want := range map[string][]string{
		"/":              {"/"},
		"/a":             {"/a", "/"},
		"/a/bc/d":        {"/a/bc/d", "/a/bc", "/a", "/"},
		"c:/":            {"c:/"},
		"c:/src/p":       {"c:/src/p", "c:/src", "c:/"},
		"//host/share/p": {"//host/share/p", "//host/share", "//host", "/"},
	} {
		require.Equal(t, want, above(dir), dir)
	}
}
