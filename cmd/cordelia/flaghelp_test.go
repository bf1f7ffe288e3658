package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordelia/ops"
)

// Every argument that is a flag says what it is for, and no help is of one that is not
// there any more.
func TestFlagHelp(t *testing.T) {
	a := &app{}
	a.rootCommand(nil)
	for _, s := range a.opCommands {
		for name, arg := range s.known {
			if s.free(name) {
				require.NotEmpty(t, arg.help, "%s: --%s", s.cmd.CommandPath(), s.flagName(name))
			}
		}
	}
	for _, list := range []map[string]string{agentHelp(), memoryHelp(), taskHelp(), swarmHelp()} {
		for of := range list {
			op, arg, _ := strings.Cut(of, " ")
			o := ops.Find(op)
			require.NotNil(t, o, of)
			require.Contains(t, argumentsOf(o), arg, of)
		}
	}
}
