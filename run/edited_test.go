package run

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/schemas"
)

// A judge is told of tests that were changed, where a criterion has a command.
func TestChangedTestsAreNamed(t *testing.T) {
	tests := []string{"check.sh", "pkg/keep_test.go", "tests/a.py", "src/a.spec.ts", "test_b.py", "verify-all.sh"}
	files := append([]string{"keep.sh", "src/attest.go", "README.md", "src/checkout/cart.go"}, tests...)
	require.Equal(t, tests, checking(files, []schemas.Criterion{{Criterion: "x", Command: "make test"}}))
	require.Empty(t, checking(files, []schemas.Criterion{{Criterion: "it reads well"}}))
}
