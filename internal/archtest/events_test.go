package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What docs/events.md promises comes: code outside schemas uses each event type.
func TestEachEventIsEmitted(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, "schemas", "event.go"))
	require.NoError(t, err)
	var code strings.Builder
	for _, f := range parsed(t) {
		if f.test || strings.HasPrefix(f.path, "internal/proof/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, f.path))
		require.NoError(t, err)
		code.Write(text)
	}
	found := regexp.MustCompile(`(?m)^\t(Event\w+) +EventType = "`).FindAllSubmatch(raw, -1)
	require.NotEmpty(t, found)
	for _, m := range found {
		assert.True(t, strings.Contains(code.String(), "schemas."+string(m[1])), "no code emits %s", m[1])
	}
}
