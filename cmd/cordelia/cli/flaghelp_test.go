package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/ops"
)

// No help is of an argument that is not there any more.
func TestFlagHelp(t *testing.T) {
	for _, list := range []map[string]string{agentHelp(), memoryHelp(), taskHelp(), swarmHelp(),
		roleHelp()} {
		for of := range list {
			op, arg, _ := strings.Cut(of, " ")
			o := ops.Find(op)
			require.NotNil(t, o, of)
			require.Contains(t, argumentsOf(o), arg, of)
		}
	}
}
