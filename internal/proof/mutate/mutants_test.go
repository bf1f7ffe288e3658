package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A mutant fits the tree, and every invariant has one.
func TestEveryInvariantHasAMutantThatFits(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", ".."))
	rules := map[string]bool{}
	for _, m := range mutants() {
		changed, err := m.apply()
		require.NoError(t, err, m.rule)
		original, err := os.ReadFile(m.file)
		require.NoError(t, err)
		require.NotEqual(t, string(original), string(changed), m.rule)
		require.NotEmpty(t, m.tests, m.rule)
		rules[m.rule] = true
	}
	raw, err := os.ReadFile(filepath.Join("docs", "invariants.md"))
	require.NoError(t, err)
	list := regexp.MustCompile(`(?m)^\| (INV-[A-Z0-9-]+) \|`).FindAllStringSubmatch(string(raw), -1)
	require.Greater(t, len(list), 50)
	for _, found := range list {
		require.True(t, rules[found[1]], "no mutant breaks %s", found[1])
	}
}

// The first failing test is named, and a text that stands twice is refused.
func TestAMutantIsOnePlace(t *testing.T) {
	require.Equal(t, "`TestX`", firstFailure([]byte("=== RUN TestX\n--- FAIL: TestX (0.00s)\n--- FAIL: TestY (0.00s)\n")))
	file := filepath.Join(t.TempDir(), "a.go")
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("x", 2)), 0o600))
	_, err := mutant{file: file, old: "x", new: "y"}.apply()
	require.ErrorContains(t, err, "2 times")
}
