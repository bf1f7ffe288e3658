package main

import (
	"cordelia/cmd/cordelia/cli"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// The manual page has every command, in requests that the man macros know, and
// nothing of the machine it was printed on.
func TestManual(t *testing.T) {
	t.Setenv("CORDELIA_HOME", "/somewhere/of/mine")
	root := rootCommand((&cli.App{}), nil)
	page := manual(root)
	require.NotContains(t, page, "somewhere")
	require.Contains(t, page, "~/.cordelia")
	known := regexp.MustCompile(`^\.(TH|SH|SS|PP|TP|B|I|BR|nf|fi)( |$)`)
	for line := range strings.SplitSeq(page, "\n") {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			require.Regexp(t, known, line)
		}
		require.NotRegexp(t, `(^|[^\\])-`, strings.TrimPrefix(line, `\&`), "a hyphen that cannot be copied")
	}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			switch {
			case !c.IsAvailableCommand():
			case c.HasAvailableSubCommands():
				walk(c)
			default:
				require.Contains(t, page, ".SS "+troff(c.CommandPath()), c.CommandPath())
			}
		}
	}
	walk(root)
	require.Equal(t, `\&.x \e \- \[u2026]`, troff(`.x \ - …`))
}
