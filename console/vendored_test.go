package console

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What others wrote is as its package has it.
func TestVendoredFilesAreWhole(t *testing.T) {
	raw, err := os.ReadFile("assets/htmx.min.js")
	require.NoError(t, err)
	sum := sha256.Sum256(raw)
	require.Equal(t, "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130", hex.EncodeToString(sum[:]))
}

// The pages' own script stays one that is read in a sitting, and makes no code of text.
func TestTheScriptIsSmall(t *testing.T) {
	raw, err := os.ReadFile("assets/console.js")
	require.NoError(t, err)
	require.LessOrEqual(t, strings.Count(string(raw), "\n"), 200)
	for _, word := range []string{"eval(", "new Function", "innerHTML", "document.write"} {
		require.NotContains(t, string(raw), word)
	}
}
