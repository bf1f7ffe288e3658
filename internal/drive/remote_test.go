package drive

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Where nobody listens there is no answer, whatever the address looks like.
func TestNobodyListens(t *testing.T) {
	a, err := NewRemote("http://127.0.0.1:1/401", "token").Call(t.Context(), "task_claim", []byte(`{}`))
	require.ErrorContains(t, err, "401", "the address is in the error")
	require.Empty(t, a.Code, "and is not taken for a refusal")
}
